import { type Stats, statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { errorCode, isInside } from '../sandbox/confine.ts';
import type { Sandbox } from '../sandbox/types.ts';
import { ToolError } from './define.ts';
import { similarity } from './similarity.ts';

/** Larger text files are not held in memory to be edited. */
export const MAX_EDIT_BYTES = 4 * 1024 * 1024;
const SNIFF_BYTES = 8192;

/** How a real path is shown to the model: relative to the workspace, with forward slashes; outside of it whole. */
export function shownPath(sandbox: Sandbox, real: string): string {
  if (!isInside(sandbox.root, real)) return real.split(sep).join('/');
  return relative(sandbox.root, real).split(sep).join('/') || '.';
}

/** How commands see a real path. */
export function seenByCommands({ root, commandRoot }: Sandbox, real: string): string {
  return isInside(root, real) ? join(commandRoot, relative(root, real)) : real;
}

/** Where the next command starts, as `shownPath` shows it. */
export function shownFolder({ commandRoot, cwd }: Sandbox): string {
  if (!isInside(commandRoot, cwd)) return cwd.split(sep).join('/');
  return relative(commandRoot, cwd).split(sep).join('/') || '.';
}

/**
 * What `by_path` tools say they touch: the path as written, normalised; null for what only the sandbox can resolve, so that two
 * spellings of one file never run side by side.
 */
export function relativePathOf(args: Record<string, unknown>): string | null {
  const path = args['path'];
  if (typeof path !== 'string' || path === '' || /^[/~\\]|^[A-Za-z]:/.test(path)) return null;
  const normal = posix.normalize(path);
  return normal.startsWith('..') ? null : normal;
}

/** Other tools make a repeated read reasonable again. */
export function forgetReads(state: Map<string, unknown>): void {
  state.delete('read_file');
}

/** The facts of a regular file. @throws ToolError for everything else, with names that are close when nothing is there. */
export async function statFile(sandbox: Sandbox, path: string, real: string): Promise<Stats> {
  const facts = factsOf(path, real);
  if (!facts) throw await notFound(sandbox, path, real);
  if (facts.isDirectory()) throw new ToolError(`"${path}" is a folder. List it with search_files (target "files", path "${path}").`);
  if (!facts.isFile()) throw new ToolError(`"${path}" is not a regular file and cannot be read or edited.`);
  return facts;
}

function factsOf(path: string, real: string): Stats | null {
  try {
    return statSync(real, { throwIfNoEntry: false }) ?? null;
  } catch (error) {
    if (errorCode(error) === 'ENOENT' || errorCode(error) === 'ENOTDIR') return null;
    throw fileError(path, error);
  }
}

/** A failed file operation as a sentence for the model. */
export function fileError(path: string, error: unknown): ToolError {
  const code = errorCode(error);
  const reasons: Record<string, string> = {
    EACCES: 'permission was denied',
    EPERM: 'the operation is not permitted',
    ENOSPC: 'the disk is full',
    EISDIR: 'it is a folder',
    ENOTDIR: 'a part of the path is a file, not a folder',
    EEXIST: 'a part of the path is a file, not a folder',
    EROFS: 'the file system is read-only',
    ENAMETOOLONG: 'the name is too long',
    EMFILE: 'too many files are open; try again',
  };
  return new ToolError(`"${path}" could not be used: ${reasons[code ?? ''] ?? code ?? String(error)}.`);
}

async function notFound(sandbox: Sandbox, path: string, real: string): Promise<ToolError> {
  const folder = dirname(real);
  const wanted = basename(real).toLowerCase();
  const names = await readdir(folder).catch(() => [] as string[]);
  const close = names
    .slice(0, 2_000)
    .map((name) => ({ name, score: similarity(wanted, name.toLowerCase()) }))
    .filter(({ score }) => score >= 0.5)
    .sort((a, b) => b.score - a.score)
    .slice(0, 5)
    .map(({ name }) => shownPath(sandbox, join(folder, name)));
  const advice = close.length > 0 ? `Did you mean ${close.map((name) => `"${name}"`).join(', ')}?` : 'Find files with search_files (target "files").';
  return new ToolError(`There is no file "${path}". ${advice}`, close.length > 0 ? { similar_files: close } : {});
}

/** True when the first bytes of a file are not text: they hold a NUL and no UTF-16 mark. */
export function looksBinary(head: Buffer): boolean {
  return encodingOf(head) === 'utf-8' && head.subarray(0, SNIFF_BYTES).includes(0);
}

/** The encoding that a byte-order mark announces, else UTF-8. */
export function encodingOf(head: Buffer): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (head[0] === 0xff && head[1] === 0xfe) return 'utf-16le';
  if (head[0] === 0xfe && head[1] === 0xff) return 'utf-16be';
  return 'utf-8';
}

/**
 * The whole text of a file to be edited, with its byte-order mark if it has one.
 * @throws ToolError when it is missing, too large, binary, or not UTF-8 (writing it back would change bytes nobody asked to change).
 */
export async function readForEdit(sandbox: Sandbox, path: string, real: string): Promise<string> {
  const facts = await statFile(sandbox, path, real);
  if (facts.size > MAX_EDIT_BYTES) {
    throw new ToolError(`"${path}" is too large to patch (${facts.size.toLocaleString('en-US')} bytes). Change it with a script in the terminal, for example sed or python.`);
  }
  const bytes = await readFile(real).catch((error: unknown) => {
    throw fileError(path, error);
  });
  if (looksBinary(bytes)) throw new ToolError(`"${path}" is a binary file and cannot be patched as text.`);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new ToolError(`"${path}" is not UTF-8 text. Convert it first, for example with iconv in the terminal.`);
  }
}
