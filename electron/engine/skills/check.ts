import { basename, dirname, join, resolve } from 'node:path';
import { Catalogue } from './catalogue.ts';
import { MAIN_FILE } from './names.ts';
import type { SkillRoot } from './roots.ts';
import { loadSkill, type Skill } from './skill.ts';
import { statOf } from './walk.ts';

/** Reads a skill, or all skills of a folder, without a home: for looking at them before they are anywhere. Empty when there are none. */
export function skillsAt(folder: string): Skill[] {
  const path = resolve(folder);
  const root = (at: string): SkillRoot => ({ root: 'external', key: 'check', folder: at, readOnly: true });
  if (statOf(join(path, MAIN_FILE)) !== null) return [loadSkill(root(dirname(path)), basename(path), false)];
  const catalogue = new Catalogue(() => undefined);
  for (const _ of catalogue.look(root(path), true));
  return catalogue.skills(root(path));
}
