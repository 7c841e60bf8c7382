import { ask } from './ask.ts';
import { continued } from './continuation.ts';
import { assistantMessage, LOST_RESULT, missingResults, partialMessage } from './messages.ts';
import { AgentRun, interrupted, type Stop } from './run.ts';
import { pressure, summarise } from './budget.ts';
import { ToolTurns } from './tool-turn.ts';
import type { AgentDeps, AgentEvent, AgentInput, AgentSpec } from './types.ts';

const MAX_EMPTY = 3;
const MAX_UNCLOSED = 3;

const EMPTY_NOTE = 'Your last answer was empty. Answer the task, or call a tool.';

/**
 * Runs one user turn to its end: model calls and tool calls in turns, events out. Knows nothing of storage or UI. Never throws: a
 * failed tool is a tool result with an error, a failed model call ends with an exit reason. The last event is exactly one `end`.
 * A system message is put in front of a new conversation; calls that a killed program left without a result get one first.
 * When the consumer leaves early, the model call and the tools that run are stopped.
 */
export async function* runAgent(spec: AgentSpec, input: AgentInput, deps: AgentDeps, signal: AbortSignal): AsyncGenerator<AgentEvent, void> {
  const run = new AgentRun(spec, deps, signal);
  let end: AgentEvent;
  try {
    end = yield* userTurn(run, input);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    yield* run.discard();
    for (const result of missingResults(run.messages, `The agent failed before this call had ended: ${reason}`, Date.now())) yield run.keep(result);
    end = run.end('error', `The agent failed unexpectedly: ${reason}`);
  }
  yield end;
}

async function* userTurn(run: AgentRun, { history, input }: AgentInput): AsyncGenerator<AgentEvent, AgentEvent> {
  const { spec, deps } = run;
  run.resume(history);
  if (history.length === 0) yield run.keep({ role: 'system', content: spec.systemPrompt, createdAt: deps.now() });
  for (const result of missingResults(history, LOST_RESULT, deps.now())) yield run.keep(result);
  for (const message of input) yield run.keep(message);

  const toolTurns = new ToolTurns(run);
  const note = pressure(run);
  let empty = 0;
  let unclosed = 0;
  /** Visible text of the last turn with tool calls. */
  let saidBefore: string | null = null;

  while (run.turnCalls < spec.maxTurns) {
    if (run.signal.aborted) return yield* stopped(run, interrupted(null));
    yield* steered(run);
    yield* note();
    yield { type: 'turn', turn: run.turnCalls + 1 };
    const asked = yield* ask(run, { tools: true, counts: true });
    if (asked.stop) return yield* stopped(run, asked.stop);
    let answer = asked.answer;

    if (answer.finishReason === 'length') {
      const whole = yield* continued(run, answer);
      if (whole.stop) return yield* stopped(run, whole.stop, whole.finalAnswer);
      answer = whole.answer;
    }
    if (answer.unclosedReasoning) {
      yield* run.discard();
      if (++unclosed < MAX_UNCLOSED) continue;
      return run.end('truncated', 'The model opened a reasoning block and never closed it, three times.');
    }
    unclosed = 0;
    if (answer.toolCalls.length > 0) {
      empty = 0;
      const stop = yield* toolTurns.take(answer);
      if (stop) return yield* stopped(run, stop);
      saidBefore = answer.content.trim() || saidBefore;
      continue;
    }
    if (answer.content.trim() === '') {
      yield* run.discard();
      // reasoning is never given out as the answer; what was said beside the last calls may have been it
      if (++empty > MAX_EMPTY) return run.end('empty_response', 'The model kept answering with nothing.', { finalAnswer: saidBefore });
      if (empty === 2) yield run.keep(run.note('empty', EMPTY_NOTE));
      continue;
    }
    empty = 0;
    yield run.keep(assistantMessage(run, answer));
    // said while the answer was streamed: it must not stay unread while there are calls left
    if (run.turnCalls < spec.maxTurns && !run.signal.aborted && (yield* steered(run))) continue;
    return run.end('completed', null, { finalAnswer: answer.content });
  }
  const { stop, finalAnswer } = yield* summarise(run);
  return yield* stopped(run, stop, finalAnswer);
}

/** Takes what the person said meanwhile. Answers whether there was anything. */
async function* steered(run: AgentRun): AsyncGenerator<AgentEvent, boolean> {
  const messages = run.deps.steering?.() ?? [];
  for (const message of messages) yield run.keep(message);
  return messages.length > 0;
}

/** The end of a run that could not go on: what was heard of an answer is kept when the person interrupted it, else it is void. */
async function* stopped(run: AgentRun, stop: Stop, finalAnswer: string | null = null): AsyncGenerator<AgentEvent, AgentEvent> {
  if (stop.partial) yield run.keep(partialMessage(run, stop.partial));
  yield* run.discard();
  return run.end(stop.exitReason, stop.error, { finalAnswer, modelError: stop.modelError });
}
