import { addUsage, type Message, type ToolCall, type Usage, ZERO_USAGE } from '#shared/trajectory.ts';
import { type ChatAnswer, ModelError, type ModelEvent } from '../model/types.ts';
import { type CheckedCall, checkCalls } from './calls.ts';
import { executeCalls, refusal } from './execute.ts';
import type { AgentDeps, AgentEvent, AgentResult, AgentSpec } from './types.ts';

const MAX_INVALID_NAMES = 3;
const MAX_BAD_JSON = 3;
const MAX_EMPTY = 3;
const MAX_CONTINUATIONS = 3;
const MAX_UNCLOSED = 3;

const CONTINUE_NOTE = 'Your last answer was cut off by the length limit. Go on exactly where it stopped, without repeating anything.';
const EMPTY_NOTE = 'Your last answer was empty. Answer the task, or call a tool.';
const CAP_NOTE =
  'You have reached the limit of steps for this task. Do not call tools. Say in a few sentences what was done, what the result is, and what is left.';

/**
 * Runs one user turn to its end: model calls and tool calls in turns, events out. Knows nothing of storage or UI. Never throws: a
 * failed tool is a tool result with an error, a failed model call ends with an exit reason. The last event is exactly one `end`.
 * @param messages what was said so far, ending with the person's message; a system message is put in front when there is none.
 */
export async function* runAgent(
  spec: AgentSpec,
  messages: readonly Message[],
  deps: AgentDeps,
  signal: AbortSignal,
): AsyncGenerator<AgentEvent, void> {
  const run = new AgentRun(spec, deps, signal);
  try {
    yield* run.go(messages);
  } catch (error) {
    yield run.end('error', `The agent failed unexpectedly: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** The state of one user turn. */
class AgentRun {
  readonly #spec: AgentSpec;
  readonly #deps: AgentDeps;
  readonly #signal: AbortSignal;
  readonly #toolState = new Map<string, unknown>();
  #history: Message[] = [];
  #usage: Usage = ZERO_USAGE;
  #apiCalls = 0;
  #invalidNames = 0;
  #badJson = 0;
  #empty = 0;
  #unclosed = 0;

  constructor(spec: AgentSpec, deps: AgentDeps, signal: AbortSignal) {
    this.#spec = spec;
    this.#deps = deps;
    this.#signal = signal;
  }

  async *go(messages: readonly Message[]): AsyncGenerator<AgentEvent, void> {
    const system: Message = { role: 'system', content: this.#spec.systemPrompt, createdAt: this.#deps.now() };
    for (const m of messages[0]?.role === 'system' ? messages : [system, ...messages]) yield this.#keep(m);

    while (this.#apiCalls < this.#spec.maxTurns) {
      if (this.#signal.aborted) return yield this.end('interrupted', 'The run was interrupted.');
      yield { type: 'turn', turn: this.#apiCalls + 1 };
      const call = yield* this.#ask(this.#history, true);
      if (call.failed) return yield call.failed;
      const answer = call.answer;

      if (answer.unclosedReasoning) {
        if (++this.#unclosed >= MAX_UNCLOSED) return yield this.end('truncated', 'The model opened a reasoning block and never closed it, three times.');
        yield { type: 'discard_deltas' };
        continue;
      }
      if (answer.finishReason === 'length') {
        const done = yield* this.#truncated(answer);
        if (done) return yield done;
        continue;
      }
      if (answer.toolCalls.length > 0) {
        const done = yield* this.#toolTurn(answer);
        if (done) return yield done;
        continue;
      }
      if (answer.content.trim() === '') {
        if (++this.#empty > MAX_EMPTY) return yield this.end('empty_response', 'The model kept answering with nothing.');
        yield { type: 'discard_deltas' };
        if (this.#empty > 1) yield this.#keep(this.#note(EMPTY_NOTE));
        continue;
      }
      yield this.#keep(this.#assistant(answer, []));
      return yield this.end('completed', null, answer.content);
    }
    yield* this.#summarise();
  }

  /** One model call; usage is counted, deltas and retries are passed on. */
  async *#ask(history: readonly Message[], withTools: boolean): AsyncGenerator<AgentEvent, { answer: ChatAnswer; failed?: never } | { failed: AgentEvent; answer?: never }> {
    this.#apiCalls++;
    try {
      const request = {
        messages: history,
        tools: withTools ? this.#deps.tools.specs : [],
        ...(this.#spec.reasoningEffort ? { reasoningEffort: this.#spec.reasoningEffort } : {}),
        ...(this.#spec.maxTokens !== undefined ? { maxTokens: this.#spec.maxTokens } : {}),
        ...(this.#spec.temperature !== undefined ? { temperature: this.#spec.temperature } : {}),
      };
      for await (const event of this.#deps.model.stream(request, this.#signal) as AsyncIterable<ModelEvent>) {
        if (event.type === 'delta') yield event;
        else if (event.type === 'retry') {
          yield { type: 'discard_deltas' };
          yield event;
        } else {
          if (event.answer.usage) this.#usage = addUsage(this.#usage, event.answer.usage);
          return { answer: event.answer };
        }
      }
      return { failed: this.end('provider_error', 'The model ended without an answer.') };
    } catch (error) {
      return { failed: this.#failed(error) };
    }
  }

  #failed(error: unknown): AgentEvent {
    if (this.#signal.aborted || (error instanceof ModelError && error.code === 'aborted')) return this.end('interrupted', 'The run was interrupted.');
    if (!(error instanceof ModelError)) throw error;
    const reason = error.code === 'context_overflow' ? 'context_overflow' : 'provider_error';
    return this.end(reason, error.message, null, error);
  }

  /** A turn with tool calls. Answers with the end event when the run is over. */
  async *#toolTurn(answer: ChatAnswer): AsyncGenerator<AgentEvent, AgentEvent | null> {
    const checked = checkCalls(answer.toolCalls, this.#deps.tools);
    const now = this.#deps.now;

    if (checked.some((c) => c.problem === 'unknown_tool')) {
      if (++this.#invalidNames >= MAX_INVALID_NAMES) {
        const name = checked.find((c) => c.problem === 'unknown_tool')?.call.name ?? '';
        return this.end('invalid_tool_calls', `The model called tools that do not exist, three times in a row (last: ${name}).`);
      }
      yield this.#keep(this.#assistant(answer, checked));
      for (const c of checked) {
        const text = c.problem === 'unknown_tool' ? c.message! : 'Skipped: another call of this turn named a tool that does not exist. Repeat this call if it is still needed.';
        yield this.#keep(refusal(c, text, now()));
      }
      return null;
    }
    this.#invalidNames = 0;

    if (checked.some((c) => c.problem === 'bad_arguments')) {
      if (++this.#badJson < MAX_BAD_JSON) {
        yield { type: 'discard_deltas' };
        return null;
      }
      this.#badJson = 0;
      yield this.#keep(this.#assistant(answer, checked));
      for (const c of checked) {
        const text = c.problem === 'bad_arguments' ? c.message! : 'Skipped: another call of this turn had invalid arguments. Repeat this call if it is still needed.';
        yield this.#keep(refusal(c, text, now()));
      }
      return null;
    }
    this.#badJson = 0;
    this.#empty = 0;

    yield this.#keep(this.#assistant(answer, checked));
    for (const c of checked) yield { type: 'tool_start', callId: c.call.id, name: c.call.name, summary: summaryOf(c) };
    const context = { sandbox: this.#deps.sandbox, signal: this.#signal, state: this.#toolState, onOutput: () => {} };
    const { redact = (text: string) => text } = this.#deps;
    for await (const result of executeCalls(checked, this.#deps.tools, context, now)) yield this.#keep({ ...result, content: redact(result.content) });
    return this.#signal.aborted ? this.end('interrupted', 'The run was interrupted.') : null;
  }

  /** An answer cut by the length limit: text is continued and joined, a cut tool call is taken back. */
  async *#truncated(first: ChatAnswer): AsyncGenerator<AgentEvent, AgentEvent | null> {
    if (first.toolCalls.length > 0) {
      yield { type: 'discard_deltas' };
      return this.end('truncated', 'A tool call was cut off by the length limit; it was taken back. Allow more output tokens.');
    }
    if (first.content.trim() === '') {
      return this.end('truncated', 'The model used its whole output for reasoning and gave no answer. Allow more output tokens or lower the reasoning effort.');
    }
    let joined = first;
    for (let i = 0; i < MAX_CONTINUATIONS && this.#apiCalls < this.#spec.maxTurns; i++) {
      const more = yield* this.#ask([...this.#history, this.#assistant(joined, []), this.#note(CONTINUE_NOTE)], false);
      if (more.failed) {
        yield this.#keep(this.#assistant(joined, []));
        return more.failed;
      }
      joined = { ...more.answer, content: joined.content + more.answer.content, reasoning: joined.reasoning ?? more.answer.reasoning, toolCalls: [] };
      if (more.answer.finishReason !== 'length') {
        yield this.#keep(this.#assistant(joined, []));
        return this.end('completed', null, joined.content);
      }
    }
    yield this.#keep(this.#assistant(joined, []));
    return this.end('truncated', 'The answer was cut off by the length limit, also after being continued.', joined.content);
  }

  /** At the cap: one call without tools for a summary, so that the work is not left without words. */
  async *#summarise(): AsyncGenerator<AgentEvent, void> {
    const error = `The limit of ${this.#spec.maxTurns} model calls was reached.`;
    if (this.#signal.aborted) return yield this.end('interrupted', 'The run was interrupted.');
    const note = this.#note(CAP_NOTE);
    yield this.#keep(note);
    const call = yield* this.#ask(this.#history, false);
    if (call.failed) {
      const failed = call.failed;
      // the limit stays the reason, unless the key or the person stopped it
      const stops = failed.type === 'end' && (failed.result.modelError?.stopsRun || failed.result.exitReason === 'interrupted');
      return yield stops ? failed : this.end('max_turns', error);
    }
    const text = call.answer.content.trim();
    if (text !== '') yield this.#keep(this.#assistant(call.answer, []));
    yield this.end('max_turns', error, text || null);
  }

  #assistant(answer: ChatAnswer, checked: readonly CheckedCall[]): Message {
    const toolCalls: ToolCall[] = checked.map((c) => c.call);
    return {
      role: 'assistant',
      content: answer.content,
      ...(answer.reasoning ? { reasoning: answer.reasoning } : {}),
      ...(answer.reasoningDetails ? { reasoningDetails: answer.reasoningDetails } : {}),
      ...(toolCalls.length > 0 ? { toolCalls } : {}),
      ...(answer.finishReason ? { finishReason: answer.finishReason } : {}),
      ...(answer.usage ? { usage: answer.usage } : {}),
      createdAt: this.#deps.now(),
      durationMs: answer.durationMs,
    };
  }

  #note(content: string): Message {
    return { role: 'user', content, synthetic: true, createdAt: this.#deps.now() };
  }

  #keep(message: Message): AgentEvent {
    this.#history.push(message);
    return { type: 'message', message };
  }

  end(exitReason: AgentResult['exitReason'], error: string | null, finalAnswer: string | null = null, modelError: ModelError | null = null): AgentEvent {
    return { type: 'end', result: { exitReason, error, modelError, finalAnswer, apiCalls: this.#apiCalls, usage: this.#usage } };
  }
}

/** One line that says what a call is about: its command, path or pattern. */
function summaryOf(c: CheckedCall): string {
  const a = c.args ?? {};
  const main = a['command'] ?? a['path'] ?? a['pattern'] ?? '';
  return `${c.call.name} ${typeof main === 'string' ? main.split('\n', 1)[0]!.slice(0, 120) : ''}`.trim();
}
