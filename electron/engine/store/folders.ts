import { mkdirSync, statSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';

/**
 * Makes a folder and those above it that are missing, like `mkdir -p`. For every path that a person or a model chose: Node's own
 * `recursive` never returns, and keeps its thread busy, where the system says ENOENT although the parent is there, as in /proc.
 * Throws the system's error, also when something that is no folder has the name.
 */
export async function makeFolders(path: string): Promise<void> {
  const folder = resolve(path);
  try {
    await mkdir(folder);
  } catch (error) {
    if (parentMissing(error, folder)) {
      await makeFolders(dirname(folder));
      await mkdir(folder).catch(async (again: unknown) => unlessFolder(await stat(folder).catch(() => null), again));
    } else {
      unlessFolder(await stat(folder).catch(() => null), error);
    }
  }
}

/** `makeFolders` at once, for what starts before anything else. */
export function makeFoldersSync(path: string, mode?: number): void {
  const folder = resolve(path);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    if (!parentMissing(error, folder)) return unlessFolder(statSync(folder, { throwIfNoEntry: false }), error);
    makeFoldersSync(dirname(folder), mode);
    try {
      mkdirSync(folder, { mode });
    } catch (again) {
      unlessFolder(statSync(folder, { throwIfNoEntry: false }), again);
    }
  }
}

function parentMissing(error: unknown, folder: string): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT' && dirname(folder) !== folder;
}

/** Somebody else may have made it in the meantime. */
function unlessFolder(found: { isDirectory(): boolean } | null | undefined, error: unknown): void {
  if (!found?.isDirectory()) throw error;
}
