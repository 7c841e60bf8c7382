import { lstat, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type ContextFile, readContextFile } from './context-file.ts';

/** Looked for in this order; the first that can be used is the only one. */
const UPWARDS = '.hermes.md';
const IN_WORKSPACE = ['AGENTS.md', 'CLAUDE.md', '.cursorrules'] as const;
const IDENTITY_FILE = 'SOUL.md';
const MAX_LEVELS = 64;

/**
 * What a project tells agents: `.hermes.md` in the workspace or above it up to the root of its git repository, else AGENTS.md,
 * CLAUDE.md or .cursorrules in the workspace. Links must not lead out of the repository (of the workspace, where there is none).
 * Null when there is nothing.
 */
export async function readProjectContext(workspace: string): Promise<ContextFile | null> {
  let root: string;
  try {
    root = await realpath(workspace);
  } catch {
    return null;
  }
  const folders = await upToGitRoot(root);
  const within = folders.at(-1)!;
  for (const folder of folders) {
    const found = await readContextFile(join(folder, UPWARDS), within);
    if (found) return found;
  }
  for (const name of IN_WORKSPACE) {
    const found = await readContextFile(join(root, name), within);
    if (found) return found;
  }
  return null;
}

/** The identity that a person wrote in SOUL.md of the home; null when there is none. */
export async function readIdentity(home: string): Promise<ContextFile | null> {
  const root = await realpath(home).catch(() => null);
  return root === null ? null : readContextFile(join(root, IDENTITY_FILE), root);
}

/** The folder itself and those above it up to the one with `.git`; the folder alone when no such one is found. */
async function upToGitRoot(start: string): Promise<string[]> {
  const folders: string[] = [];
  for (let folder = start; folders.length < MAX_LEVELS; folder = dirname(folder)) {
    folders.push(folder);
    // a worktree and a submodule have a file of that name
    if (await lstat(join(folder, '.git')).catch(() => null)) return folders;
    if (dirname(folder) === folder) break;
  }
  return [start];
}
