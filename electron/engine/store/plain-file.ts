import { realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';

/**
 * A plain file in `folder` that may be given out, or null: not when it is hidden, outside, reached by a link, or no file.
 * @param segments decoded parts of the path below the folder
 */
export async function plainFileInside(folder: string, segments: readonly string[]): Promise<{ path: string; bytes: number } | null> {
  // A leading dot covers ".." as well as files that nobody meant to give out; a colon, drives and streams on Windows.
  if (segments.length === 0 || segments.some((part) => part === '' || part.startsWith('.') || /[\0/\\:]/.test(part))) return null;
  try {
    const root = await realpath(folder);
    const wanted = join(root, ...segments);
    const real = await realpath(wanted);
    if (real !== wanted || !real.startsWith(root + sep)) return null;
    const found = await stat(real);
    return found.isFile() ? { path: real, bytes: found.size } : null;
  } catch {
    return null;
  }
}
