import { addUsage } from '#shared/trajectory.ts';
import type { ChatAnswer } from '../model/types.ts';
import { ask } from './ask.ts';
import { assistantMessage } from './messages.ts';
import type { AgentRun, Stop } from './run.ts';
import type { AgentEvent } from './types.ts';

const MAX_CONTINUATIONS = 3;
const CONTINUE_NOTE = 'Your last answer was cut off by the length limit. Go on exactly where it stopped, without repeating anything.';

/** The answer as a whole, or why there is none; what can be kept of it has been kept then. */
export type Continued = { answer: ChatAnswer; stop?: never } | { stop: Stop; finalAnswer: string | null; answer?: never };

/**
 * An answer that the length limit cut off: text is continued up to three times and becomes one answer with its reasoning; the pieces
 * and the requests to go on are never stored. A cut tool call is taken back, and thinking that left no room for an answer is said so.
 */
export async function* continued(run: AgentRun, first: ChatAnswer): AsyncGenerator<AgentEvent, Continued> {
  if (first.toolCalls.length > 0) {
    return { stop: truncated('A tool call was cut off by the length limit; it was taken back. Allow more output tokens.'), finalAnswer: null };
  }
  if (first.content.trim() === '') {
    return { stop: truncated('The model used its whole output for reasoning and gave no answer. Allow more output tokens or lower the reasoning effort.'), finalAnswer: null };
  }
  let joined = first;
  for (let i = 0; i < MAX_CONTINUATIONS && run.turnCalls < run.spec.maxTurns; i++) {
    const extra = [assistantMessage(run, joined), run.note('continue', CONTINUE_NOTE)];
    const more = yield* ask(run, { tools: true, counts: true, extra });
    if (more.stop) {
      const { partial } = more.stop;
      if (partial) joined = { ...joined, content: joined.content + partial.content, reasoning: join(joined.reasoning, partial.reasoning) };
      const interrupted = more.stop.exitReason === 'interrupted';
      yield run.keep(assistantMessage(run, interrupted ? { ...joined, finishReason: 'interrupted' } : joined));
      return { stop: { ...more.stop, partial: null }, finalAnswer: null };
    }
    joined = joinAnswers(joined, more.answer);
    if (more.answer.finishReason !== 'length') return { answer: joined };
    if (joined.toolCalls.length > 0) break;
  }
  yield run.keep(assistantMessage(run, { ...joined, toolCalls: [] }));
  return { stop: truncated('The answer was cut off by the length limit, also after being continued.'), finalAnswer: joined.content };
}

function joinAnswers(a: ChatAnswer, b: ChatAnswer): ChatAnswer {
  const details = [...(a.reasoningDetails ?? []), ...(b.reasoningDetails ?? [])];
  return {
    ...b,
    content: a.content + b.content,
    reasoning: join(a.reasoning, b.reasoning),
    reasoningDetails: details.length > 0 ? details : null,
    // the prompt of the last call holds the earlier pieces already
    usage: a.usage && b.usage ? { ...addUsage(a.usage, b.usage), promptTokens: b.usage.promptTokens, cachedTokens: b.usage.cachedTokens } : (b.usage ?? a.usage),
    durationMs: a.durationMs + b.durationMs,
  };
}

function join(a: string | null, b: string | null): string | null {
  return [a, b].filter(Boolean).join('\n\n') || null;
}

function truncated(error: string): Stop {
  return { exitReason: 'truncated', error, modelError: null, partial: null };
}
