import { createHash } from 'node:crypto';
import { isUtf8 } from 'node:buffer';
import type { ChangedFile } from '#shared/contract/skills.ts';
import type { SkillFileBytes } from '../types.ts';
import { openFolder } from './folder.ts';

/** Of what a page is shown of one file. */
const MAX_SHOWN_CHARS = 200_000;

/** SHA-256 of each file by its path, as versions keep it. */
export function treeOf(files: readonly SkillFileBytes[]): Record<string, string> {
  return Object.fromEntries(files.map(({ path, bytes }) => [path, createHash('sha256').update(bytes).digest('hex')]));
}

export function sameTree(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const paths = Object.keys(a);
  return paths.length === Object.keys(b).length && paths.every((path) => Object.hasOwn(b, path) && a[path] === b[path]);
}

/** All plain files of a skill's folder, by path; links are left out. */
export async function readSkillFolder(folder: string): Promise<SkillFileBytes[]> {
  const { entries } = await openFolder(folder);
  const files = [];
  for (const { path, kind, executable, read } of entries) if (kind === 'file') files.push({ path, bytes: await read(), executable });
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** What would change from one set of files to another. Binary files are named without their contents. */
export function changesBetween(before: readonly SkillFileBytes[], after: readonly SkillFileBytes[]): ChangedFile[] {
  const old = new Map(before.map(({ path, bytes }) => [path, bytes]));
  const now = new Map(after.map(({ path, bytes }) => [path, bytes]));
  return [...new Set([...old.keys(), ...now.keys()])].sort().flatMap((path) => {
    const [a, b] = [old.get(path), now.get(path)];
    if (a && b && a.equals(b)) return [];
    const binary = [a, b].some((bytes) => bytes !== undefined && !isText(bytes));
    const shown = (bytes: Buffer | undefined): string | null => (bytes === undefined ? null : binary ? '' : bytes.toString('utf8').slice(0, MAX_SHOWN_CHARS).toWellFormed());
    return [{ path, before: shown(a), after: shown(b), binary }];
  });
}

function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0);
}
