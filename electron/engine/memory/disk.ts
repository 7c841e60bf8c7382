import { randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, lstatSync, openSync, readdirSync, readSync, rmSync, type BigIntStats } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { MemoryError } from './errors.ts';

/** More is no memory: nothing reads that much of it. */
const MAX_BYTES = 1024 * 1024;
const PART_NAME = /^\.(?:MEMORY|USER)\.md\.[0-9a-f]{8}\.part$/;

/** A memory file as it is on the disk. */
export interface FileState {
  /** The text; empty when there is no file or it cannot be used. */
  raw: string;
  /** Changes whenever the file does; empty when there is none. */
  stamp: string;
  /** Why it cannot be used, a sentence; null when it can. */
  problem: string | null;
  mode: number;
}

/** Looks at the file now. Never throws, never follows a link, never waits for a pipe. */
export function readMemoryFile(file: string): FileState {
  const name = basename(file);
  const bad = (why: string, stamp = ''): FileState => ({ raw: '', stamp, problem: `${name} ${why}`, mode: 0o600 });
  let fd: number | null = null;
  try {
    if (lstatSync(dirname(file), { throwIfNoEntry: false })?.isSymbolicLink()) return bad(`is not read: its folder ${dirname(file)} is a link. Put a real folder there.`);
    const found = lstatSync(file, { bigint: true, throwIfNoEntry: false });
    if (!found) return { raw: '', stamp: '', problem: null, mode: 0o600 };
    if (found.isSymbolicLink()) return bad('is a link, and links are not followed. Put the file itself there.', stampOf(found));
    if (!found.isFile()) return bad('is not a file. Move it away.', stampOf(found));
    // between looking and opening somebody could put a link or a pipe there
    fd = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
    const stat = fstatSync(fd, { bigint: true });
    const stamp = stampOf(stat);
    if (!stat.isFile()) return bad('is not a file. Move it away.', stamp);
    if (stat.size > MAX_BYTES) return bad(`has ${Math.ceil(Number(stat.size) / MAX_BYTES)} MB, and a memory has at most 1. Shorten it, or move it away.`, stamp);
    const bytes = readAll(fd, Number(stat.size));
    if (bytes.includes(0)) return bad('holds NUL bytes, so it is no text. Mend it, or move it away.', stamp);
    return { raw: new TextDecoder('utf-8', { fatal: true }).decode(bytes), stamp, problem: null, mode: Number(stat.mode) & 0o777 };
  } catch (error) {
    if (error instanceof TypeError) return bad('is not UTF-8 text. Save it as UTF-8, or move it away.');
    return bad(`cannot be read (${codeOf(error)}). Correct its permissions.`);
  } finally {
    if (fd !== null) closeSync(fd);
  }
}

/** The stamp alone. */
export function stampOfFile(file: string): string {
  try {
    const found = lstatSync(file, { bigint: true, throwIfNoEntry: false });
    return found ? stampOf(found) : '';
  } catch (error) {
    return codeOf(error);
  }
}

/**
 * Writes the file so that it is the old or the new one, also after a kill. False, with nothing written, when it is no longer the one
 * with `stamp`. Throws MemoryError when the disk does not take it, or when what is read back is not what was written.
 */
export async function writeMemoryFile(file: string, raw: string, { stamp, mode }: FileState): Promise<boolean> {
  const part = join(dirname(file), `.${basename(file)}.${randomBytes(4).toString('hex')}.part`);
  try {
    const handle = await open(part, 'wx', mode);
    try {
      await handle.writeFile(raw);
      await handle.sync();
    } finally {
      await handle.close();
    }
    if (stampOfFile(file) !== stamp) return false;
    await rename(part, file);
  } catch (error) {
    throw new MemoryError('unavailable', `${basename(file)} could not be written (${codeOf(error)}). Nothing was changed. Free some space or correct the permissions of ${dirname(file)}, and try again.`);
  } finally {
    await rm(part, { force: true });
  }
  const now = readMemoryFile(file);
  if (now.problem !== null || now.raw !== raw) throw new MemoryError('unavailable', `${basename(file)} was written, but reading it back gives something else. ${now.problem ?? 'Look at the file, and try again.'}`);
  return true;
}

/** Removes what killed writers left. */
export function removeParts(folder: string): void {
  try {
    for (const name of readdirSync(folder)) if (PART_NAME.test(name)) rmSync(join(folder, name), { force: true });
  } catch {
    // no folder, no leftovers; a folder that cannot be read is told with its files
  }
}

function readAll(fd: number, size: number): Buffer {
  const buffer = Buffer.alloc(size);
  let filled = 0;
  while (filled < size) {
    const count = readSync(fd, buffer, filled, size - filled, filled);
    if (count === 0) break;
    filled += count;
  }
  return buffer.subarray(0, filled);
}

function stampOf(stat: BigIntStats): string {
  return `${stat.ino}:${stat.size}:${stat.mtimeNs}:${stat.ctimeNs}`;
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException).code ?? (error instanceof Error ? error.message : error));
}
