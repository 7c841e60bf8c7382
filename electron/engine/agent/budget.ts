import type { ChatAnswer } from '../model/types.ts';
import { ask } from './ask.ts';
import { assistantMessage } from './messages.ts';
import type { AgentRun, Stop } from './run.ts';
import type { AgentEvent } from './types.ts';

/** Parts of the turn's budget at which the model is told, and how. */
const PRESSURE = [
  { at: 0.7, text: 'Begin to bring the work to its end.' },
  { at: 0.9, text: 'Finish now: answer with what you have.' },
] as const;
/** With fewer calls there is nothing to plan. */
const MIN_TURNS = 5;

const CAP_NOTE =
  'You have reached the limit of steps for this task. Do not call tools. Say in a few sentences what was done, what the result is, and what is left.';

/** A call that a model writes out although no tools are offered. */
const CALL_AS_TEXT = /<tool_call>[\s\S]*?(?:<\/tool_call>|$)/g;

/** Gives the note on the budget that is due before the next call, each once in a user turn. */
export function pressure(run: AgentRun): () => AsyncGenerator<AgentEvent, void> {
  const { maxTurns } = run.spec;
  let told = 0;
  return async function* () {
    if (maxTurns < MIN_TURNS) return;
    let due = told;
    while (due < PRESSURE.length && run.turnCalls >= PRESSURE[due]!.at * maxTurns) due++;
    if (due === told) return;
    told = due;
    const left = maxTurns - run.turnCalls;
    yield run.keep(run.note('budget', `${run.turnCalls} of ${maxTurns} steps are used, ${left === 1 ? 'one is' : `${left} are`} left. ${PRESSURE[due - 1]!.text}`));
  };
}

/**
 * At the cap: one call without tools, so that the work is not left without words. Whatever comes of it, the limit stays the reason:
 * calls in it are dropped, and only a key without use or the person end the run otherwise.
 */
export async function* summarise(run: AgentRun): AsyncGenerator<AgentEvent, { stop: Stop; finalAnswer: string | null }> {
  const limit: Stop = { exitReason: 'max_turns', error: `The limit of ${run.spec.maxTurns} model calls was reached.`, modelError: null, partial: null };
  const before = run.halted();
  if (before) return { stop: before.exitReason === 'interrupted' ? before : limit, finalAnswer: null };
  yield run.keep(run.note('cap', CAP_NOTE));
  const asked = yield* ask(run, { tools: false, counts: false });
  if (asked.stop) {
    const stands = asked.stop.modelError?.stopsRun || asked.stop.exitReason === 'interrupted';
    return { stop: stands ? asked.stop : limit, finalAnswer: null };
  }
  const text = asked.answer.content.replace(CALL_AS_TEXT, '').trim();
  const summary: ChatAnswer = { ...asked.answer, content: text, toolCalls: [] };
  if (text !== '') yield run.keep(assistantMessage(run, summary));
  return { stop: limit, finalAnswer: text || null };
}
