import type { Message } from '#shared/trajectory.ts';
import { type ChatAnswer, type ChatRequest, ModelError, type ModelEvent } from '../model/types.ts';
import { makeRoom, roomAfterRefusal } from './compression.ts';
import { graceAfter } from './grace.ts';
import { type AgentRun, interrupted, type Stop } from './run.ts';
import type { AgentEvent } from './types.ts';

export type Asked = { answer: ChatAnswer; stop?: never } | { stop: Stop; answer?: never };

interface Question {
  /** Whether the tools are offered. */
  tools: boolean;
  /** Sent behind the conversation, for this call only. */
  extra?: readonly Message[];
  /** Whether it counts against the turn's budget. */
  counts: boolean;
}

/**
 * One answer of the model, or why there is none. Makes room in the context before, and after a refusal of its length: a call that is
 * made again for that does not count against the budget. Keeps no message but compactions.
 */
export async function* ask(run: AgentRun, question: Question): AsyncGenerator<AgentEvent, Asked> {
  for (;;) {
    const before = run.halted();
    if (before) return { stop: before };
    const changed = await run.deps.contextLength?.();
    if (changed !== undefined) run.answeredByAnother(changed);
    if (yield* makeRoom(run)) {
      const after = run.halted();
      if (after) return { stop: after };
    }
    yield { type: 'context', meter: run.meter() };
    if (question.counts) run.turnCalls++;
    const asked = yield* callModel(run, question);
    const refused = asked.stop?.modelError;
    if (!refused || !(yield* roomAfterRefusal(run, refused))) return refused && run.signal.aborted ? { stop: interrupted(null) } : asked;
    if (question.counts) run.turnCalls--;
  }
}

/** One call: deltas, retries and usage are passed on as events. Ends within a second of the signal. */
async function* callModel(run: AgentRun, { tools, extra = [] }: Question): AsyncGenerator<AgentEvent, Asked> {
  const { spec, deps, signal } = run;
  const request: ChatRequest = {
    messages: [...run.request, ...extra],
    tools: tools ? deps.tools.specs : [],
    ...(spec.reasoningEffort ? { reasoningEffort: spec.reasoningEffort } : {}),
    ...(spec.maxTokens !== undefined ? { maxTokens: spec.maxTokens } : {}),
    ...(spec.temperature !== undefined ? { temperature: spec.temperature } : {}),
    ...(spec.seed !== undefined ? { seed: spec.seed } : {}),
    ...(spec.topP !== undefined ? { topP: spec.topP } : {}),
    ...(deps.attachment ? { attachment: deps.attachment } : {}),
  };
  run.apiCalls++;
  const heard = { content: '', reasoning: '', tool: '' };
  const grace = graceAfter(signal);
  const events: AsyncIterator<ModelEvent> = deps.model.stream(request, signal)[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await grace.wait(events.next());
      if (next === null) return { stop: interrupted(partialOf(heard)) };
      if (next.done) return { stop: { exitReason: 'provider_error', error: 'The model ended without an answer.', modelError: null, partial: null } };
      const event = next.value;
      if (event.type === 'answer') {
        yield run.paid(event.answer);
        return { answer: event.answer };
      }
      if (event.type === 'delta') {
        heard[event.channel] += event.text;
        run.streamed = true;
      } else {
        heard.content = heard.reasoning = heard.tool = '';
        yield* run.discard();
      }
      yield event;
    }
  } catch (error) {
    return { stop: stopOf(error, signal, partialOf(heard)) };
  } finally {
    grace.dispose();
    // not awaited: a model that hangs must not hold up the run
    void events.return?.()?.catch(() => undefined);
  }
}

/** What is worth keeping of an answer that was interrupted: visible text that no tool call was part of. */
function partialOf(heard: { content: string; reasoning: string; tool: string }): Stop['partial'] {
  return heard.content.trim() !== '' && heard.tool === '' ? { content: heard.content, reasoning: heard.reasoning } : null;
}

function stopOf(error: unknown, signal: AbortSignal, partial: Stop['partial']): Stop {
  if (signal.aborted || (error instanceof ModelError && error.code === 'aborted')) return interrupted(partial);
  if (!(error instanceof ModelError)) throw error;
  const exitReason = error.code === 'context_overflow' ? 'context_overflow' : 'provider_error';
  return { exitReason, error: error.message, modelError: error, partial: null };
}
