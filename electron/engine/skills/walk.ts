import { lstatSync, readdirSync, readlinkSync, realpathSync, type Stats } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isInside } from '../sandbox/confine.ts';

/** More than any honest skill; what lies beyond is told as a finding. */
export const MAX_WALKED = 1_000;
const MAX_DEPTH = 12;

export interface WalkedFile {
  /** With forward slashes, relative to the skill's folder. */
  path: string;
  bytes: number;
  /** Differs when the file may have changed. */
  stamp: string;
  /** `outside`: a link that leads out of the skill, also one to nowhere; `special`: a pipe, socket or device. Neither is ever read. */
  kind: 'file' | 'outside' | 'special';
  executable: boolean;
}

export interface Walked {
  files: WalkedFile[];
  /** There are more than are walked. */
  truncated: boolean;
  /** Folders, with their stamps: what must be the same for the list of files to be. */
  folders: { path: string; stamp: string }[];
}

export function stampOf(stats: Stats): string {
  return `${stats.mtimeMs}:${stats.ctimeMs}:${stats.size}:${stats.ino}`;
}

/** Lists the files of a skill, sorted by path, without reading them. A folder that is not there is empty. */
export function walkSkill(folder: string): Walked {
  const walked: Walked = { files: [], truncated: false, folders: [] };
  const pending: { path: string; depth: number }[] = [{ path: '', depth: 0 }];
  const real = realOf(folder);
  for (const { path, depth } of pending) {
    const absolute = join(folder, path);
    const stats = statOf(absolute);
    if (stats === null) continue;
    walked.folders.push({ path, stamp: stampOf(stats) });
    for (const name of namesIn(absolute)) {
      if (walked.files.length + pending.length >= MAX_WALKED || depth > MAX_DEPTH) {
        walked.truncated = true;
        break;
      }
      const child = path === '' ? name : `${path}/${name}`;
      const facts = statOf(join(folder, child));
      if (facts === null || (path === '' && name === '.git')) continue;
      if (facts.isDirectory()) pending.push({ path: child, depth: depth + 1 });
      else walked.files.push(fileOf(folder, real, child, facts));
    }
  }
  walked.files.sort((a, b) => (a.path < b.path ? -1 : 1));
  return walked;
}

function fileOf(folder: string, real: string, path: string, facts: Stats): WalkedFile {
  const file = { path, bytes: facts.size, stamp: stampOf(facts), executable: (facts.mode & 0o111) !== 0 };
  if (facts.isFile()) return { ...file, kind: 'file' };
  if (!facts.isSymbolicLink()) return { ...file, kind: 'special' };
  const at = join(folder, path);
  try {
    const target = realpathSync(at);
    const stats = lstatSync(target);
    if (!isInside(real, target) || stats.isDirectory()) return { ...file, kind: 'outside' };
    return { ...file, bytes: stats.size, stamp: `${file.stamp}>${stampOf(stats)}`, kind: stats.isFile() ? 'file' : 'special' };
  } catch {
    return { ...file, kind: 'outside' };
  }
}

/** Where a link says that it leads, for a person. */
export function linkTarget(path: string): string {
  try {
    return resolve(dirname(path), readlinkSync(path));
  } catch {
    return path;
  }
}

export function statOf(path: string): Stats | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

export function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).sort();
  } catch {
    return [];
  }
}

function realOf(folder: string): string {
  try {
    return realpathSync(folder);
  } catch {
    return resolve(folder);
  }
}
