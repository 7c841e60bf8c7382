import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Lint } from '#shared/contract/skills.ts';
import { isInside } from '../sandbox/confine.ts';
import { parseSkill } from './frontmatter.ts';
import { ABSURD_BYTES, mostScanned, type Scan, scanFiles, type ScannedFile, textOf, verdictOf } from './guard.ts';
import { lintSkill } from './lint.ts';
import { metaOf, type SkillMeta } from './meta.ts';
import { MAIN_FILE } from './names.ts';
import type { SkillRoot } from './roots.ts';
import { linkTarget, stampOf, statOf, type Walked, walkSkill } from './walk.ts';

/** A SKILL.md beyond this is not read at all; the contract carries no more either. */
export const MAX_MAIN_BYTES = 1 << 20;
/** Times on the disk are this coarse: a file written so shortly before it was read may have been written again since. */
const RACY_MS = 60;

/** A skill as it was read from the disk. */
export interface Skill {
  id: string;
  root: SkillRoot;
  /** Folder below the root, with forward slashes. */
  path: string;
  /** Absolute. */
  folder: string;
  name: string;
  category: string | null;
  description: string;
  meta: SkillMeta;
  chars: number;
  /** Newest change of a file, epoch ms. */
  updatedAt: number;
  /** Of the text alone; what depends on this machine and on other skills is added when somebody looks. */
  lint: readonly Lint[];
  scan: Scan;
  walked: Walked;
  /** SHA-256 of each file, by path; of what is too large to be read its size. Own skills only. */
  tree: ReadonlyMap<string, string>;
  /** Of SKILL.md and of the folder. */
  facts: { main: Stats | null; folder: Stats | null };
  /** Must be read again, however it looks. */
  racy: boolean;
}

export function idOf(root: SkillRoot, path: string): string {
  return `${root.key}/${path}`;
}

/** Reads a skill. `linked`: its folder is a link out of the root, of which nothing is read. */
export function loadSkill(root: SkillRoot, path: string, linked: boolean): Skill {
  const folder = join(root.folder, path);
  const readAt = Date.now();
  const walked: Walked = linked ? { files: [], folders: [], truncated: false } : walkSkill(folder);
  // what is too much to be a skill is not read to its end
  let room = ABSURD_BYTES;
  const fits = ({ kind, path: at, bytes }: Walked['files'][number]): boolean => kind === 'file' && bytes <= MAX_MAIN_BYTES && (at === MAIN_FILE || (room -= bytes) >= 0);
  const files = walked.files.map((file): ScannedFile => ({ ...file, size: file.bytes, bytes: fits(file) ? readInside(folder, file.path) : null }));
  const main = files.find((file) => file.path === MAIN_FILE);
  const text = mainText(main);
  const parsed = parseSkill(text ?? '');
  const meta = metaOf(parsed);
  const called = basename(path);
  const scan: Scan = linked ? linkedScan(folder) : scanFiles(files.map((file) => (file.bytes !== null && file.size > mostScanned(file.path) ? { ...file, bytes: null } : file)), { truncated: walked.truncated, folder: path });
  for (const finding of scan.findings) if (finding.category === 'symlink' && finding.file !== '') finding.excerpt = linkTarget(join(folder, finding.file));
  const newest = walked.files.reduce((latest, { stamp }) => Math.max(latest, ...stamp.split(/[:>]/).slice(0, 2).map(Number)), 0);
  return {
    id: idOf(root, path),
    root,
    path,
    folder,
    name: meta.name ?? called,
    category: dirname(path) === '.' ? null : dirname(path),
    description: meta.description ?? '',
    meta,
    chars: text?.length ?? 0,
    updatedAt: Math.max(0, ...walked.files.map(({ stamp }) => Number(stamp.split(':')[0]))),
    lint: text === null ? [tooLarge(main?.size ?? 0, linked)] : lintSkill(text, parsed, { folder: called, files: walked.files.map((file) => file.path) }),
    scan,
    walked,
    tree: root.root === 'own' ? treeOf(files) : new Map(),
    facts: { main: statOf(`${folder}/${MAIN_FILE}`), folder: statOf(folder) },
    racy: readAt - newest < RACY_MS,
  };
}

/** Whether the files may have changed since. `deep`: also those that are changed in place. */
export function isStale(skill: Skill, deep: boolean, main: Stats | null): boolean {
  return skill.racy || changedSince(skill, deep, main);
}

/** Whether the times and sizes of files are others than when it was read. */
export function changedSince(skill: Skill, deep: boolean, main: Stats | null = statOf(`${skill.folder}/${MAIN_FILE}`)): boolean {
  if (!sameFile(main, skill.facts.main) || !sameFile(statOf(skill.folder), skill.facts.folder)) return true;
  if (!deep) return false;
  for (const { path, stamp } of skill.walked.folders) if (stampAt(join(skill.folder, path)) !== stamp) return true;
  // a link's own stamp stands before its target's
  for (const { path, stamp } of skill.walked.files) if (stampAt(join(skill.folder, path)) !== stamp.split('>')[0]) return true;
  return skill.walked.files.some(({ stamp }) => stamp.includes('>'));
}

/** The text of a file of a skill; null for what is no text, too large, or a link out of it. */
export function readText(folder: string, path: string, max = MAX_MAIN_BYTES): string | null {
  const bytes = readInside(folder, path, max);
  return bytes === null ? null : textOf(bytes);
}

/** Bytes of a file, if it lies inside of the folder in truth. */
export function readInside(folder: string, path: string, max = MAX_MAIN_BYTES): Buffer | null {
  try {
    const real = realpathSync(join(folder, path));
    const stats = statOf(real);
    if (!isInside(realpathSync(folder), real) || !stats?.isFile() || stats.size > max) return null;
    return readFileSync(real);
  } catch {
    return null;
  }
}

export function hashOf(bytes: Buffer | string): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Hash of each file as it would be on the disk. */
export function treeOf(files: readonly ScannedFile[]): Map<string, string> {
  return new Map(files.filter(({ kind }) => (kind ?? 'file') === 'file').map(({ path, bytes, size }) => [path, bytes === null ? `size:${size}` : hashOf(bytes)]));
}


function mainText(main: ScannedFile | undefined): string | null {
  return main?.bytes == null ? null : main.bytes.toString('utf8').replaceAll('\0', '\ufffd');
}

function tooLarge(size: number, linked: boolean): Lint {
  const message = linked ? 'The folder is a link to another place, so nothing of it is read.' : size > MAX_MAIN_BYTES ? `SKILL.md has ${(size / (1 << 20)).toFixed(1)} MiB; it is not read.` : 'SKILL.md cannot be read.';
  return { severity: 'error', code: 'file_too_large', line: null, field: null, message };
}

function linkedScan(folder: string): Scan {
  const findings: Scan['findings'] = [{ severity: 'critical', category: 'symlink', file: '', line: null, excerpt: linkTarget(folder), message: 'The skill is a link out of its folder, which could be changed unseen. Add the place to skills.external_dirs in config.yaml instead, or import it.' }];
  return { verdict: verdictOf(findings), findings };
}

function sameFile(a: Stats | null, b: Stats | null): boolean {
  return a === null || b === null ? a === b : a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.size === b.size && a.ino === b.ino;
}

function stampAt(path: string): string {
  const stats = statOf(path);
  return stats === null ? '' : stampOf(stats);
}
