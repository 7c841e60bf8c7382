import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Finding, Verdict } from '#shared/contract/skills.ts';
import { injectionSigns } from '../agent/prompt/injection.ts';
import { parseSkill } from './frontmatter.ts';
import { GUARD_RULES, type Severity, SIGN_SEVERITY } from './guard-rules.ts';
import { MAIN_FILE } from './names.ts';
import { linkTarget, MAX_WALKED, type Walked, walkSkill } from './walk.ts';

export const MAX_FILES = 50;
export const MAX_TOTAL_BYTES = 1 << 20;
export const MAX_FILE_BYTES = 256 << 10;
/** As many as the longest SKILL.md that is offered can have: what is longer by its letters alone must not go unseen. */
const MAX_MAIN_SCANNED = 400_000;
/** Nobody's skill: a trap for whatever reads it. */
export const ABSURD_BYTES = 10 << 20;
/** Of all texts together; looking through more would keep everything else waiting. */
const MAX_TEXT_BYTES = 4 << 20;
const MAX_FINDINGS = 60;
const MAX_OF_ONE_RULE = 3;
const MAX_EXCERPT_CHARS = 160;
const MAX_VALUES = 2_000;
const SEVERITIES: readonly Severity[] = ['critical', 'high', 'medium', 'low'];

/** A file to be looked at; `bytes` null for one that is not read: too large, or no file. */
export interface ScannedFile {
  path: string;
  size: number;
  bytes: Buffer | null;
  /** As in `WalkedFile`; `file` when left out. */
  kind?: 'file' | 'outside' | 'special';
  executable?: boolean;
}

export interface Scan {
  verdict: Verdict;
  findings: Finding[];
}

/**
 * What is dangerous about a skill's files: patterns in their text, hidden characters, orders for the agent, and what a skill never needs
 * (links out of it, programs, files too large or too many). A filter for the careless attack, not a proof of harmlessness.
 * @param more.folder of the skill, below its root
 */
export function scanFiles(files: readonly ScannedFile[], more: { truncated?: boolean; folder?: string } = {}): Scan {
  const findings = structure(files, more.truncated ?? false, more.folder ?? '');
  let textBytes = 0;
  for (const file of files) {
    // however much was found: what comes behind it may be worse
    if (findings.length >= MAX_FINDINGS && verdictOf(findings) === 'dangerous') break;
    if (file.bytes === null || (file.kind ?? 'file') !== 'file') continue;
    const text = textOf(file.bytes);
    if (text !== null && (textBytes += file.bytes.length) > MAX_TEXT_BYTES) {
      findings.push({ severity: 'critical', category: 'structure', file: file.path, line: null, excerpt: '', message: `More than ${mib(MAX_TEXT_BYTES)} of text: what follows was not looked through.` });
      break;
    }
    findings.push(...(text === null ? binary(file) : file.path === MAIN_FILE ? mainFindings(text) : textFindings(file.path, text)));
  }
  return { verdict: verdictOf(findings), findings: worst(findings) };
}

/** The most bytes of a file that are looked through. */
export function mostScanned(path: string): number {
  return path === MAIN_FILE ? MAX_MAIN_SCANNED : MAX_FILE_BYTES;
}

/** As they were found where they are few; else the most severe ones. */
function worst(findings: Finding[]): Finding[] {
  return findings.length <= MAX_FINDINGS ? findings : findings.toSorted((a, b) => SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity)).slice(0, MAX_FINDINGS);
}

/** Scans a folder on the disk; what is too large is not read. */
export function scanFolder(folder: string, walked: Walked = walkSkill(folder)): Scan {
  const files = walked.files.map((file): ScannedFile => ({ ...file, size: file.bytes, bytes: file.kind === 'file' && file.bytes <= mostScanned(file.path) ? readSafely(join(folder, file.path)) : null }));
  const scan = scanFiles(files, walked);
  for (const finding of scan.findings) if (finding.category === 'symlink') finding.excerpt = linkTarget(join(folder, finding.file));
  return scan;
}

export function verdictOf(findings: readonly Finding[]): Verdict {
  if (findings.some(({ severity }) => severity === 'critical')) return 'dangerous';
  return findings.some(({ severity }) => severity === 'high') ? 'caution' : 'safe';
}

/** Null for what is no text. */
export function textOf(bytes: Buffer): string | null {
  if (bytes.includes(0)) return null;
  const text = bytes.toString('utf8');
  return text.includes('\ufffd') && !bytes.equals(Buffer.from(text)) ? null : text;
}

function structure(files: readonly ScannedFile[], truncated: boolean, folder: string): Finding[] {
  const found: Finding[] = [];
  const add = (severity: Severity, category: string, file: string, message: string, excerpt = ''): void => void found.push({ severity, category, file, line: null, excerpt, message });
  const total = files.reduce((sum, { size }) => sum + size, 0);
  if (files.length > MAX_FILES || truncated) add('high', 'structure', '', `The skill has ${truncated ? `more than ${MAX_WALKED}` : files.length} files; more than ${MAX_FILES} are hard to look through.`);
  if (total > ABSURD_BYTES) add('critical', 'structure', '', `The skill has ${mib(total)}; one of more than ${mib(ABSURD_BYTES)} is no set of instructions.`);
  else if (total > MAX_TOTAL_BYTES) add('high', 'structure', '', `The skill has ${mib(total)}; more than ${mib(MAX_TOTAL_BYTES)} is hard to look through.`);
  // agents are shown where a skill lies, and the names of its files
  const named = (what: 'folder' | 'file', path: string): void => {
    const [sign] = injectionSigns(path);
    if (sign !== undefined) add('critical', sign === HIDDEN_SIGN ? 'hidden_characters' : 'injection', what === 'file' ? path : '', `The name of the ${what} ${sign}.`, excerptOf(path, 0, 0));
  };
  named('folder', folder);
  for (const { path, size, bytes, kind = 'file' } of files) {
    named('file', path);
    if (kind === 'outside') add('critical', 'symlink', path, 'A link that leads out of the skill: it could show an agent any file of this machine.');
    else if (kind === 'special') add('critical', 'structure', path, 'Neither a file nor a folder.');
    else if (size > ABSURD_BYTES) add('critical', 'structure', path, `A file of ${mib(size)}; it is not read.`);
    else if (size > MAX_FILE_BYTES) add('high', 'structure', path, `A file of more than ${MAX_FILE_BYTES >> 10} KiB (${mib(size)})${bytes === null ? '; it was not looked through' : ''}.`);
  }
  return found;
}

const PROGRAMS: readonly (readonly [what: string, magic: readonly number[]])[] = [
  ['Linux', [0x7f, 0x45, 0x4c, 0x46]],
  ['Windows', [0x4d, 0x5a]],
  ['macOS', [0xcf, 0xfa, 0xed, 0xfe]],
  ['macOS', [0xca, 0xfe, 0xba, 0xbe]],
  ['WebAssembly', [0x00, 0x61, 0x73, 0x6d]],
];
const KNOWN_BINARY = /\.(?:png|jpe?g|gif|webp|ico|bmp|pdf|docx|xlsx|pptx|woff2?|ttf|otf|mp3|wav|ogg|mp4|webm)$/i;

function binary({ path, bytes, executable }: ScannedFile): Finding[] {
  const of = (severity: Severity, message: string): Finding[] => [{ severity, category: 'binary', file: path, line: null, excerpt: '', message }];
  const program = PROGRAMS.find(([, magic]) => magic.every((byte, i) => bytes![i] === byte));
  if (program) return of('critical', `A program for ${program[0]}: nobody can read what it does.`);
  if (/\.(?:zip|tar|gz|tgz|7z|rar|xz|bz2|jar|whl|pyc|node|so|dll|dylib|exe)$/i.test(path)) return of('high', 'An archive or library: what is in it was not looked through.');
  if (executable && !KNOWN_BINARY.test(path)) return of('high', 'A file that can be run and cannot be read.');
  return KNOWN_BINARY.test(path) ? [] : of('medium', 'No text: it was not looked through.');
}

/** What is dangerous about a SKILL.md: also what its frontmatter only says once its escapes and folds are undone, which is what models are shown. */
export function mainFindings(text: string): Finding[] {
  const found = textFindings(MAIN_FILE, text);
  const parsed = parseSkill(text);
  for (const [key, value] of Object.entries(parsed.data ?? {})) {
    for (const said of textsIn(value)) {
      if (!text.includes(said)) found.push(...textFindings(MAIN_FILE, said).map((finding) => ({ ...finding, line: parsed.lineOf(key) })));
    }
  }
  return found;
}

/** All texts of a value, keys too. */
function textsIn(value: unknown): string[] {
  const texts: string[] = [];
  const pending: unknown[] = [value];
  for (let n = 0; pending.length > 0 && n < MAX_VALUES; n++) {
    const next = pending.pop();
    if (typeof next === 'string') texts.push(next);
    else if (typeof next === 'object' && next !== null) pending.push(...Object.keys(next), ...(Object.values(next) as unknown[]));
  }
  return texts;
}

/** What is dangerous about one text. */
export function textFindings(file: string, text: string): Finding[] {
  const lineAt = lineFinder(text);
  const found: Finding[] = [...hidden(file, text, lineAt), ...orders(file, text)];
  for (const [severity, category, message, pattern] of GUARD_RULES) {
    let n = 0;
    let last = -1;
    for (const match of text.matchAll(pattern)) {
      const line = lineAt(match.index);
      if (line === last) continue;
      last = line;
      found.push({ severity, category, file, line, excerpt: category === 'credential_exposure' ? masked(match[0]) : excerptOf(text, match.index, match[0].length), message });
      if (++n === MAX_OF_ONE_RULE) break;
    }
  }
  return found;
}

/** Letters that a model reads and a person does not see: bidi controls, tags (but for flags), variation selectors that select nothing, zero-width signs (but for the joiners that scripts and emoji need). */
const HIDDEN = /[\u00ad\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufff9-\ufffb]|(?<!^)\ufeff|(?<!\u{1f3f4}[\u{e0020}-\u{e007f}]{0,40})[\u{e0000}-\u{e007f}]|(?<!\p{sc=Han})[\u{e0100}-\u{e01ef}]|(?<=[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]/gu;
/** What honest texts may have: soft hyphens, and the marks of scripts that run from right to left. */
const MILD = /^[\u00ad\u200e\u200f]$/;

function hidden(file: string, text: string, lineAt: (index: number) => number): Finding[] {
  const lines = new Map<number, { severity: Severity; index: number }>();
  let critical = 0;
  for (const match of text.matchAll(HIDDEN)) {
    const line = lineAt(match.index);
    const severity = MILD.test(match[0]) ? 'high' : 'critical';
    const known = lines.get(line);
    // marks that honest texts have, however many, must not stand before worse ones
    if (known ? known.severity !== 'critical' : severity === 'critical' || lines.size <= MAX_OF_ONE_RULE) lines.set(line, { severity, index: match.index });
    if (severity === 'critical' && ++critical > MAX_OF_ONE_RULE) break;
  }
  return [...lines].map(([line, { severity, index }]) => ({ severity, category: 'hidden_characters', file, line, excerpt: excerptOf(text, index, 1), message: 'Characters that a model reads and a person does not see.' }));
}

const HIDDEN_SIGN = 'holds invisible characters';

/** Orders for the agent; each kind on the first line that has it by itself. */
function orders(file: string, text: string): Finding[] {
  const signs = injectionSigns(text).filter((sign) => sign !== HIDDEN_SIGN);
  if (signs.length === 0) return [];
  const places = new Map<string, { line: number; excerpt: string }>();
  const lines = text.split('\n');
  for (const [i, line] of lines.entries()) {
    if (places.size === signs.length) break;
    for (const sign of injectionSigns(line)) if (!places.has(sign)) places.set(sign, { line: i + 1, excerpt: excerptOf(line, 0, 0) });
  }
  // spread over lines
  for (let i = 0; i + 1 < lines.length && places.size < signs.length; i++) {
    const piece = lines.slice(i, i + 3).join(' ');
    for (const sign of injectionSigns(piece)) if (!places.has(sign)) places.set(sign, { line: i + 1, excerpt: excerptOf(piece, 0, 0) });
  }
  return signs.map((sign) => ({ severity: SIGN_SEVERITY[sign] ?? 'critical', category: 'injection', file, line: places.get(sign)?.line ?? null, excerpt: places.get(sign)?.excerpt ?? '', message: `The text ${sign}.` }));
}

function lineFinder(text: string): (index: number) => number {
  let starts: number[] | null = null;
  return (index) => {
    if (starts === null) {
      starts = [0];
      for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
    }
    let [low, high] = [0, starts.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= index) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
}

/** The line around a place, short, with hidden characters spelt out. */
function excerptOf(text: string, index: number, length: number): string {
  const from = Math.max(text.lastIndexOf('\n', index - 1) + 1, index - 40);
  const end = text.indexOf('\n', index + length);
  const piece = text.slice(index === 0 ? 0 : from, Math.min(end === -1 ? text.length : end, from + MAX_EXCERPT_CHARS));
  return piece.replace(HIDDEN, (c) => `\\u{${c.codePointAt(0)!.toString(16)}}`).replace(/[\u0000-\u001f\u007f]/g, ' ').toWellFormed().trim();
}

function masked(match: string): string {
  const secret = /[A-Za-z0-9_-]{20,}/.exec(match)?.[0];
  return (secret === undefined ? match : match.replace(secret, `${secret.slice(0, 6)}…`)).slice(0, MAX_EXCERPT_CHARS).toWellFormed();
}

function mib(bytes: number): string {
  return bytes < 1 << 20 ? `${Math.ceil(bytes / 1024)} KiB` : `${(bytes / (1 << 20)).toFixed(1)} MiB`;
}

function readSafely(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}
