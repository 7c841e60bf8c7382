import type { ChatAnswer, ChatModel } from '../../model/types.ts';
import { ModelError } from '../../model/types.ts';
import { roleOf, type Turn } from './plan.ts';
import type { RowDeps } from './row.ts';

/** Of a turn longer than MAX_TURN_CHARS only these are shown to the model. */
const MAX_TURN_CHARS = 3_000;
const HEAD_CHARS = 1_500;
const TAIL_CHARS = 500;
const ATTEMPTS = 3;

const INSTRUCTIONS = [
  'You shorten records of AI agents at work. You are shown turns from the middle of one; your text will stand in their place, and another',
  'model will learn from the shortened record. Write what was done and what came of it, in order: the aims, the calls that mattered with',
  'their important arguments, results that later steps may rest on (names, paths, numbers, errors), decisions and open ends. Quote exact',
  'values. Neither judge nor advise, and say nothing of the turns as turns. Answer with the text alone.',
].join(' ');

export interface SummariserDeps {
  model: ChatModel;
  temperature: number;
  targetTokens: number;
  /** Called for each answer that was paid for. */
  onAnswer: (answer: ChatAnswer) => void;
}

/** Asks a model for summaries of turns, each at most three times for answers that cannot be used. Throws what no row would be spared: a refused key. */
export function createSummariser({ model, temperature, targetTokens, onAnswer }: SummariserDeps): RowDeps['summarise'] {
  return async (turns, signal) => {
    let error = '';
    let calls = 0;
    for (; calls < ATTEMPTS; ) {
      calls += 1;
      try {
        const answer = await answerOf(model, { turns, temperature, targetTokens }, signal);
        onAnswer(answer);
        const text = answer.content.trim();
        if (text !== '' && answer.finishReason !== 'length') return { text, calls };
        error = text === '' ? 'the model wrote nothing' : 'the summary was cut off';
      } catch (thrown) {
        if (signal.aborted || !(thrown instanceof ModelError) || thrown.stopsRun) throw thrown;
        // the model has tried again by itself where that could help
        return { error: thrown.message, calls };
      }
    }
    return { error, calls };
  };
}

async function answerOf(model: ChatModel, { turns, temperature, targetTokens }: { turns: readonly Turn[]; temperature: number; targetTokens: number }, signal: AbortSignal): Promise<ChatAnswer> {
  const record = turns.map((turn) => `[${roleOf(turn)}]\n${shown(turn.value)}`).join('\n\n');
  const content = `${INSTRUCTIONS}\nUse about ${targetTokens} tokens.\n\n--- turns ---\n${record}\n--- end of the turns ---`;
  const request = { messages: [{ role: 'user' as const, content, createdAt: 0 }], tools: [], temperature, maxTokens: 2 * targetTokens };
  for await (const event of model.stream(request, signal)) if (event.type === 'answer') return event.answer;
  throw new ModelError('bad_response', 'The model ended without an answer.');
}

function shown(value: string): string {
  if (value.length <= MAX_TURN_CHARS) return value;
  return `${value.slice(0, HEAD_CHARS)}\n… ${value.length - HEAD_CHARS - TAIL_CHARS} characters left out …\n${value.slice(-TAIL_CHARS)}`.toWellFormed();
}
