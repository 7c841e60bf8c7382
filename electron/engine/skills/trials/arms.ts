import { cp, lstat, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { TrialArm } from '#shared/contract/trials.ts';
import type { Message, ToolSpec } from '#shared/trajectory.ts';
import type { SkillTools } from '../../tools/types.ts';
import { skillTools } from '../agent-tools.ts';
import { skillIndex } from '../index-block.ts';
import type { SkillLibrary } from '../library.ts';
import { MAIN_FILE } from '../names.ts';
import { readText } from '../skill.ts';
import type { Shown } from '../types.ts';
import { TrialError } from './errors.ts';

/** The skill that is tried, and the copy of its files that the trial reads. */
export interface Tried {
  id: string;
  /** Absolute. */
  copy: string;
}

/** Copies the skill's files as they are now, so that all attempts read the same. Links are left out: they could show anything. */
export async function copySkill(folder: string, copy: string): Promise<void> {
  await mkdir(dirname(copy), { recursive: true, mode: 0o700 });
  await cp(folder, copy, { recursive: true, verbatimSymlinks: true, filter: async (path) => !(await lstat(path)).isSymbolicLink() });
}

/** The skills that an arm sees: those of a real session, with or without the one that is tried. */
function seenBy(arm: TrialArm, { id, copy }: Tried): (all: Shown[]) => Shown[] {
  if (arm === 'without') return (all) => all.filter(({ summary }) => summary.id !== id);
  return (all) => {
    const tried = all.find(({ summary }) => summary.id === id);
    if (!tried) return all;
    const offered: Shown = { skill: { ...tried.skill, folder: copy }, summary: { ...tried.summary, folder: copy, enabled: true, offered: true, notOffered: null, shadowedBy: null } };
    // of one name there is one
    return all.flatMap((one) => (one === tried ? [offered] : one.summary.name === tried.summary.name ? [] : [one]));
  };
}

/** The library with another answer to what is there; all else is its own. */
function libraryOf(library: SkillLibrary, seen: (all: Shown[]) => Shown[]): SkillLibrary {
  return new Proxy(library, {
    get(target, key) {
      if (key === 'shown') return (...args: Parameters<SkillLibrary['shown']>) => seen(target.shown(...args));
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

export interface Arm {
  tools: SkillTools;
  /** The index of skills for the system prompt. */
  index: (tools: readonly Pick<ToolSpec, 'name'>[]) => string | null;
}

/** What one attempt has of skills. It can read them, and change none. */
export function armOf(library: SkillLibrary, arm: TrialArm, tried: Tried, trajectoryId: () => string | null): Arm {
  const seen = libraryOf(library, seenBy(arm, tried));
  return {
    tools: skillTools(seen, { author: 'agent', trajectoryId, workspace: null, apply: false }),
    index: (tools) => skillIndex(seen.shown({}, true), library.categories({}), tools),
  };
}

/** The skill's text as it goes with a prompt when it is run by name; not synthetic, as in a chat. Throws TrialError when it cannot be read. */
export function ranByName(name: string, copy: string, now: number): Message {
  const text = readText(copy, MAIN_FILE);
  if (text === null) throw new TrialError('unavailable', 'The text of the skill cannot be read.');
  return { role: 'user', content: `The person runs the skill "${name}" for this. Follow it.\nIts folder is ${copy}.\n\n${text}`, note: 'skill', createdAt: now };
}
