import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import type { SKILL_ROOTS } from '#shared/contract/skills.ts';
import { statOf } from './walk.ts';

/** A folder in which skills are looked for. */
export interface SkillRoot {
  root: (typeof SKILL_ROOTS)[number];
  /** Begins the ids of its skills; the same after a restart. */
  key: string;
  /** Absolute. */
  folder: string;
  readOnly: boolean;
}

/** Below a workspace; the second is where agents of other makers look too. */
const PROJECT_FOLDERS = ['.talaria/skills', '.agents/skills'];

export function projectRoots(workspace: string | null): SkillRoot[] {
  if (workspace === null || !isAbsolute(workspace)) return [];
  return PROJECT_FOLDERS.map((folder) => folderRoot('project', join(workspace, folder))).filter(({ folder }) => statOf(folder)?.isDirectory() ?? false);
}

/** The roots besides those of workspaces, in the order in which they win. */
export function fixedRoots(own: string, config: { external_dirs: readonly string[]; hermes_home?: string | undefined }): SkillRoot[] {
  const hermes = config.hermes_home === undefined ? [] : [{ root: 'hermes' as const, key: 'hermes', folder: join(expanded(config.hermes_home), 'skills'), readOnly: true }];
  return [{ root: 'own', key: 'own', folder: own, readOnly: false }, ...config.external_dirs.filter((dir) => dir.trim() !== '').map((dir) => folderRoot('external', expanded(dir))), ...hermes];
}

/** A sentence when nothing can be found in it. */
export function rootProblem({ folder }: SkillRoot): string | null {
  const stats = statOf(folder);
  if (stats === null) return 'The folder is not there.';
  return stats.isDirectory() || stats.isSymbolicLink() ? null : 'This is not a folder.';
}

function folderRoot(root: 'project' | 'external', folder: string): SkillRoot {
  return { root, key: `${root}:${createHash('sha256').update(folder).digest('hex').slice(0, 8)}`, folder, readOnly: true };
}

function expanded(path: string): string {
  if (path === '~') return homedir();
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : path;
}
