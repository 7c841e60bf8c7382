import { ModelError } from '../types.ts';
import type { Scenario, ScenarioStep } from './scenario.ts';
import { offeredCall, type PlannedCall } from './substitute.ts';
import type { Turn } from './turns.ts';

/** What the scripted teacher answers next. */
export interface Plan {
  think: string | null;
  say: string;
  calls: PlannedCall[];
}

/** A scenario that loops is ended here, whatever number of turns is allowed. */
const MAX_SCRIPTED_TURNS = 60;

/** The same reason in both languages. */
interface Reason {
  en: string;
  zh: string;
}

const UNREADABLE: Reason = {
  en: 'a result was not what I had expected, and I cannot read the figures from it',
  zh: '有一步的结果和预期不同，我读不出需要的数据',
};

/**
 * The next answer of a scenario: replays it over the turns so far, each result choosing the way, and plays the step it comes
 * to. Depends on nothing but its arguments. Where a tool or a program is missing, or a result is not what the scenario
 * can go on with, the answer says so and ends. Throws the ModelError of a step that fails on purpose.
 */
export function playScenario(scenario: Scenario, turns: readonly Turn[], offered: ReadonlySet<string>): Plan {
  const { steps, language, outOfTurns } = scenario;
  const taken = new Map<string, string>();
  const visits = new Map<string, number>();
  let step = steps[0];
  for (const turn of turns) {
    if (step === undefined || isFinal(step)) break;
    visits.set(step.id, (visits.get(step.id) ?? 0) + 1);
    for (const [name, pattern] of Object.entries(step.take ?? {})) {
      const found = new RegExp(pattern, 'm').exec(turn.results)?.[1];
      if (found !== undefined) taken.set(name, found.trim());
    }
    const branch = step.next?.find((entry) => entry.if === undefined || new RegExp(entry.if, 'm').test(turn.results));
    const missing = branch?.if === undefined ? missingProgram(turn.results) : null;
    if (missing !== null) {
      return stopped(language, { en: `the program \`${missing}\` is not installed here`, zh: `这台机器上没有安装 \`${missing}\`` }, turns);
    }
    const target: string | undefined = branch?.to;
    step = target === undefined ? steps[steps.indexOf(step) + 1] : steps.find((one) => one.id === target);
  }
  if (step === undefined || turns.length >= MAX_SCRIPTED_TURNS) {
    return stopped(language, { en: 'I made no progress any more', zh: '再试下去也没有进展' }, turns);
  }
  if (outOfTurns !== null && turns.length > 0 && offered.size === 0) return { ...outOfTurns, calls: [] };
  if (step.fault !== undefined) throw new ModelError('server', step.fault.message);
  return planOf(step, visits.get(step.id) ?? 0, { language, taken, turns, offered });
}

interface PlayState {
  language: Scenario['language'];
  taken: ReadonlyMap<string, string>;
  turns: readonly Turn[];
  offered: ReadonlySet<string>;
}

function planOf(step: ScenarioStep, visit: number, { language, taken, turns, offered }: PlayState): Plan {
  const calls: PlannedCall[] = [];
  for (const call of step.calls ?? []) {
    const planned = offeredCall(call.tool, call.args, offered);
    if (planned === null) return stopped(language, missingTool(call.tool, offered, turns), turns);
    calls.push(planned);
  }
  const think = fill(nth(step.think, visit), taken);
  const say = fill(nth(step.say, visit) ?? '', taken);
  if (say === null || think === null) return stopped(language, UNREADABLE, turns);
  return { think: think === '' ? null : think, say, calls };
}

function isFinal(step: ScenarioStep): boolean {
  return step.calls === undefined || step.calls.length === 0;
}

function nth(texts: string | string[] | undefined, at: number): string | undefined {
  return Array.isArray(texts) ? texts[Math.min(at, texts.length - 1)] : texts;
}

/** Puts taken values in; null when one is missing. */
function fill(text: string | undefined, taken: ReadonlyMap<string, string>): string | null {
  if (text === undefined) return '';
  let complete = true;
  const filled = text.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => {
    const value = taken.get(name);
    if (value === undefined) complete = false;
    return value ?? '';
  });
  return complete ? filled.trim() : null;
}

function missingProgram(results: string): string | null {
  if (!/^exit_code=127$/m.test(results)) return null;
  // bash and dash name the program before the words, zsh after them.
  return /command not found: (\S+)/.exec(results)?.[1] ?? /(?:^|[\s:])([\w.+-]+): (?:command )?not found/m.exec(results)?.[1] ?? null;
}

function missingTool(tool: string, offered: ReadonlySet<string>, turns: readonly Turn[]): Reason {
  if (offered.size === 0 && turns.length > 0) return { en: 'I have used up the steps that I was given', zh: '允许的步数已经用完' };
  if (offered.size === 0) return { en: 'no tools are offered for this answer', zh: '这一步没有可用的工具' };
  return { en: `the tool \`${tool}\` is not offered in this session`, zh: `本次会话没有提供 \`${tool}\` 工具` };
}

/** An honest end: why it goes no further, and what was done until then. */
function stopped(language: 'en' | 'zh', reason: Reason, turns: readonly Turn[]): Plan {
  const done = turns.flatMap((turn) => turn.calls.map((call) => `- \`${call.name}\` ${short(call.arguments)}`));
  if (language === 'zh') {
    const list = done.length === 0 ? '还没有执行任何操作。' : `到目前为止执行过：\n\n${done.join('\n')}`;
    return { think: `${reason.zh}，只能到此为止，应当如实说明。`, say: `我只能停在这里：${reason.zh}。任务没有完成。\n\n${list}`, calls: [] };
  }
  const list = done.length === 0 ? 'Nothing has been done yet.' : `Done until now:\n\n${done.join('\n')}`;
  const think = `I cannot go on: ${reason.en}. Better to say so than to guess.`;
  return { think, say: `I have to stop here: ${reason.en}. The task is not finished.\n\n${list}`, calls: [] };
}

function short(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ');
  return line.length > 90 ? `${line.slice(0, 89).toWellFormed()}…` : line;
}
