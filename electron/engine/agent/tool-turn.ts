import type { Message } from '#shared/trajectory.ts';
import type { ChatAnswer } from '../model/types.ts';
import { type CheckedCall, checkCalls } from './calls.ts';
import { executeCalls, refusal } from './execute.ts';
import { assistantMessage } from './messages.ts';
import { RepeatGuard } from './repeat.ts';
import { type AgentRun, interrupted, type Stop } from './run.ts';
import type { AgentEvent, Redaction } from './types.ts';

const MAX_INVALID_NAMES = 3;
const MAX_BAD_JSON = 3;

const REPEAT_NOTE =
  'You have made the same call with the same arguments several times in a row, and the result was the same each time. It will not change by being repeated. ' +
  'Use what you have, try something else, or answer. If you wait for something, wait longer in one call.';
const REPEAT_REFUSAL = 'Not run: this same call has given the same result five times in a row. Do something else, or answer with what you have.';

/** The turns with tool calls of one user turn; counts what goes wrong in a row. */
export class ToolTurns {
  readonly #run: AgentRun;
  readonly #repeats = new RepeatGuard();
  #invalidNames = 0;
  #badJson = 0;

  constructor(run: AgentRun) {
    this.#run = run;
  }

  /** Keeps the answer and one result for each of its calls, in call order. Answers with a stop when the run is over. */
  async *take(answer: ChatAnswer): AsyncGenerator<AgentEvent, Stop | null> {
    const run = this.#run;
    const checked = checkCalls(answer.toolCalls, run.deps.tools, run.callIds);

    const unknown = checked.find((c) => c.problem === 'unknown_tool');
    if (unknown) {
      if (++this.#invalidNames >= MAX_INVALID_NAMES) {
        return partial(`The model called tools that do not exist, three times in a row (last: ${unknown.call.name}).`);
      }
      yield* this.#refuse(answer, checked, (c) => (c.problem === 'unknown_tool' ? c.message! : skipped('named a tool that does not exist')));
      return null;
    }
    this.#invalidNames = 0;

    if (checked.some((c) => c.problem === 'bad_arguments')) {
      if (++this.#badJson < MAX_BAD_JSON) {
        yield* run.discard();
        return null;
      }
      this.#badJson = 0;
      yield* this.#refuse(answer, checked, (c) => (c.problem === 'bad_arguments' ? c.message! : skipped('had invalid arguments')));
      return null;
    }
    this.#badJson = 0;

    const verdict = this.#repeats.verdict(checked);
    if (verdict === 'end') {
      return partial(`The model made the same call ${this.#repeats.times + 1} times in a row, although it was told that its result does not change (${summaryOf(checked[0]!)}).`);
    }
    if (verdict === 'refuse') {
      this.#repeats.refused();
      yield run.keep(assistantMessage(run, answer, checked));
      for (const c of checked) yield run.keep(refusal(c.call, REPEAT_REFUSAL, run.deps.now()));
      return null;
    }

    yield run.keep(assistantMessage(run, answer, checked));
    const results = yield* this.#execute(checked);
    if (run.signal.aborted) return interrupted(null);
    if (this.#repeats.ran(checked, results)) yield run.keep(run.note('repeat', REPEAT_NOTE));
    return null;
  }

  async *#refuse(answer: ChatAnswer, checked: readonly CheckedCall[], textOf: (c: CheckedCall) => string): AsyncGenerator<AgentEvent, void> {
    const run = this.#run;
    this.#repeats.forget();
    yield run.keep(assistantMessage(run, answer, checked));
    for (const c of checked) yield run.keep(refusal(c.call, textOf(c), run.deps.now()));
  }

  async *#execute(checked: readonly CheckedCall[]): AsyncGenerator<AgentEvent, Message[]> {
    const run = this.#run;
    const { sandbox, tools, toolServices = {}, approve, now } = run.deps;
    const context = { sandbox, services: toolServices, signal: run.signal, state: run.toolState, ...(approve ? { approve } : {}) };
    const redact: Redaction = run.deps.redact ?? ((text) => text);
    /** The end of a call's output that may be the first half of a key, by call. */
    const held = new Map<string, string>();
    const results: Message[] = [];
    for await (const event of executeCalls(checked, tools, context, now)) {
      if (event.type === 'start') yield { type: 'tool_start', callId: event.checked.call.id, name: event.checked.call.name, summary: summaryOf(event.checked) };
      else if (event.type === 'output') {
        const text = redact((held.get(event.callId) ?? '') + event.text);
        const end = text.length - (redact.openEnd?.(text) ?? 0);
        held.set(event.callId, text.slice(end));
        if (end > 0) yield { type: 'tool_output', callId: event.callId, text: text.slice(0, end) };
      } else {
        const result = { ...event.message, content: redact(event.message.content) };
        results.push(result);
        yield run.keep(result);
      }
    }
    return results;
  }
}

function partial(error: string): Stop {
  return { exitReason: 'invalid_tool_calls', error, modelError: null, partial: null };
}

function skipped(why: string): string {
  return `Skipped: another call of this turn ${why}. Repeat this call if it is still needed.`;
}

const TELLING = ['command', 'path', 'pattern', 'query', 'question', 'url', 'urls', 'image_url', 'action', 'prompt', 'goal'];

/** One line that says what a call is about: its command, path, pattern or the like. */
function summaryOf({ call, args }: CheckedCall): string {
  const value = TELLING.map((key) => args?.[key]).find((found) => found !== undefined);
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return `${call.name} ${typeof first === 'string' ? first.split('\n', 1)[0]!.slice(0, 120).toWellFormed() : ''}`.trim();
}
