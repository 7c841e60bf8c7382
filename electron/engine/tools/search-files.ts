import { stat } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { z } from 'zod';
import { defineTool, ToolError } from './define.ts';
import { shownPath } from './files.ts';
import { pathsOf } from './paths.ts';
import { ripgrep } from './ripgrep.ts';

const DEFAULT_LIMIT = 50;
const MAX_LIMIT = 1000;
const MAX_CONTEXT = 20;
const MAX_COLUMNS = 500;
/** Results are ended before the cap of all results would cut the JSON in two. */
const MAX_RESULT_CHARS = 80_000;
/** File names that are looked at to sort them by time. */
const MAX_LISTED = 20_000;
const STAT_AT_ONCE = 64;

interface Match {
  path: string;
  line: number;
  text: string;
  before?: string[];
  after?: string[];
}

interface Search {
  pattern: string;
  fileGlob: string | undefined;
  limit: number;
  offset: number;
  context: number;
  /** Workspace root. */
  cwd: string;
  /** Search start, relative to `cwd`, or absolute when outside. */
  start: string;
  signal: AbortSignal;
}

/**
 * `search_files`: what is in files, or where files are. Results by mode: `{matches: [{path, line, text, before?, after?}], …}`,
 * `{files: […], …}` or `{counts: [{path, count}], …}`, each with `returned`, `truncated` and, when there is more, `hint`.
 */
export const searchFilesTool = defineTool({
  name: 'search_files',
  toolset: 'file',
  parallel: 'safe',
  description:
    'Search the workspace. target "content" finds lines that match a regular expression; target "files" finds files by name with a glob, newest first. ' +
    'Files named in .gitignore and the .git folder are left out. Use this rather than grep, find or ls.',
  parameters: z.object({
    pattern: z.string().min(1).describe('content: a regular expression (Rust syntax, no look-around). files: a glob such as "*.py" or "src/**/*.ts", or a part of the name.'),
    target: z.enum(['content', 'files']).default('content').describe('What to search.'),
    path: z.string().default('.').describe('Folder or file to search, relative to the workspace root.'),
    file_glob: z.string().optional().describe('Only files whose name matches this glob, for example "*.md".'),
    limit: z.int().min(1).max(MAX_LIMIT).default(DEFAULT_LIMIT).describe('Most results.'),
    offset: z.int().min(0).default(0).describe('Results to skip, for the next page.'),
    output_mode: z.enum(['content', 'files_only', 'count']).default('content').describe('content: matching lines; files_only: paths; count: matching lines per file.'),
    context: z.int().min(0).max(MAX_CONTEXT).default(0).describe('Lines to show around each match.'),
  }),
  async run(input, context) {
    const { sandbox, signal } = context;
    const real = await pathsOf(context, 'search_files')(input.path, 'read');
    const facts = await stat(real).catch(() => null);
    if (!facts) throw new ToolError(`There is no folder or file "${input.path}". Leave path out to search the whole workspace.`);
    const start = shownPath(sandbox, real);
    const search: Search = {
      pattern: input.pattern,
      fileGlob: input.file_glob,
      limit: input.limit,
      offset: input.offset,
      context: input.context,
      cwd: sandbox.root,
      start: start === '.' || isAbsolute(start) ? start : `./${start}`,
      signal,
    };
    if (input.target === 'files') return findFiles(search);
    if (input.output_mode === 'content') return findLines(search);
    return findMatchingFiles(search, input.output_mode);
  },
});

async function findFiles(search: Search): Promise<Record<string, unknown>> {
  const glob = /[*?[{]/.test(search.pattern) ? search.pattern.replace(/^\.\//, '') : `*${search.pattern.replace(/[\]}]/g, '\\$&')}*`;
  const named = await listFiles(search, glob);
  const filter = search.fileGlob === undefined ? null : await listFiles(search, search.fileGlob);
  const wanted = filter && new Set(filter.paths);
  const paths = wanted ? named.paths.filter((path) => wanted.has(path)) : named.paths;
  const stopped = named.stopped || filter?.stopped === true;
  const dated: { path: string; time: number }[] = [];
  for (let i = 0; i < paths.length; i += STAT_AT_ONCE) {
    const batch = paths.slice(i, i + STAT_AT_ONCE);
    dated.push(...(await Promise.all(batch.map(async (path) => ({ path, time: await modified(resolve(search.cwd, path)) })))));
  }
  dated.sort((a, b) => b.time - a.time || (a.path < b.path ? -1 : 1));
  const page = dated.slice(search.offset, search.offset + search.limit).map(({ path }) => path);
  const files = withinSize(page);
  const more = stopped || search.offset + files.length < dated.length;
  return { files, total_count: dated.length, ...pageOf(search, files.length, more, stopped ? 'Only a part of the files was looked at: search a smaller folder or use a narrower glob.' : undefined) };
}

async function listFiles(search: Search, glob: string): Promise<{ paths: string[]; stopped: boolean }> {
  const paths: string[] = [];
  const run = await ripgrep({
    args: ['--files', '--null', '--glob', glob, '--glob', '!.git', '--', search.start],
    cwd: search.cwd,
    separator: '\0',
    signal: search.signal,
    onRecord: (path) => paths.push(clean(path)) < MAX_LISTED,
  });
  if (run.exitCode === 2 && run.stderr !== '') throw badPattern('glob', glob, run.stderr);
  return { paths, stopped: run.stopped };
}

async function modified(path: string): Promise<number> {
  return (await stat(path).catch(() => null))?.mtimeMs ?? 0;
}

async function findMatchingFiles(search: Search, mode: 'files_only' | 'count'): Promise<Record<string, unknown>> {
  const rows: { path: string; count: number }[] = [];
  const last = search.offset + search.limit;
  const run = await ripgrep({
    args: [...(mode === 'count' ? ['--count'] : ['--files-with-matches']), '--null', ...contentArgs(search)],
    cwd: search.cwd,
    separator: mode === 'count' ? '\n' : '\0',
    signal: search.signal,
    onRecord: (record) => {
      const cut = mode === 'count' ? record.lastIndexOf('\0') : record.length;
      return rows.push({ path: clean(record.slice(0, cut)), count: Number(record.slice(cut + 1)) }) <= last;
    },
  });
  if (run.exitCode === 2 && run.stderr !== '') throw badPattern('regular expression', search.pattern, run.stderr);
  const page = withinSize(rows.slice(search.offset, last));
  const more = rows.length > search.offset + page.length;
  const list = mode === 'count' ? { counts: page } : { files: page.map((row) => row.path) };
  return { ...list, ...pageOf(search, page.length, more) };
}

async function findLines(search: Search): Promise<Record<string, unknown>> {
  const reader = new LineReader(search);
  const run = await ripgrep({
    args: [
      '--null', '--with-filename', '--line-number', '--no-heading', '--no-context-separator', `--max-columns=${MAX_COLUMNS}`, '--max-columns-preview',
      `--context=${search.context}`, ...contentArgs(search),
    ],
    cwd: search.cwd,
    separator: '\n',
    signal: search.signal,
    onRecord: (record) => reader.take(record),
  });
  if (run.exitCode === 2 && run.stderr !== '') throw badPattern('regular expression', search.pattern, run.stderr);
  return { matches: reader.matches, ...pageOf(search, reader.matches.length, reader.more) };
}

function contentArgs(search: Search): string[] {
  const glob = search.fileGlob === undefined ? [] : ['--glob', search.fileGlob];
  // Sorting by path makes pages follow on each other; unsorted, ripgrep's threads decide.
  return ['--sort=path', ...glob, '--glob', '!.git', '--regexp', search.pattern, '--', search.start];
}

/** Turns ripgrep's lines (`path NUL number : text` for matches, `-` for context) into one page of matches. */
class LineReader {
  readonly matches: Match[] = [];
  more = false;
  private readonly search: Search;
  private seen = 0;
  private chars = 0;
  private before: { path: string; line: number; text: string }[] = [];

  constructor(search: Search) {
    this.search = search;
  }

  /** False when the page is complete. */
  take(record: string): boolean {
    const parts = /^([^\0]*)\0(\d+)([:-])([^]*)$/.exec(record);
    if (!parts) return true;
    const [, rawPath = '', number = '', kind, rawText = ''] = parts;
    const entry = { path: clean(rawPath), line: Number(number), text: rawText.replace(/\r$/, '') };
    this.giveAfter(entry);
    const going = kind === ':' ? this.match(entry) : true;
    if (this.search.context > 0) this.before = [...this.before, entry].slice(-this.search.context);
    return going || this.wantsAfter(entry);
  }

  private match(entry: { path: string; line: number; text: string }): boolean {
    if (this.more) return false;
    this.seen += 1;
    if (this.seen <= this.search.offset) return true;
    const around = this.search.context > 0 ? { before: this.before.filter((b) => isNear(b, entry, this.search.context)).map((b) => b.text), after: [] } : {};
    const match: Match = { ...entry, ...around };
    this.chars += JSON.stringify(match).length;
    if (this.matches.length >= this.search.limit || (this.matches.length > 0 && this.chars > MAX_RESULT_CHARS)) {
      this.more = true;
      return false;
    }
    this.matches.push(match);
    return true;
  }

  private giveAfter(entry: { path: string; line: number; text: string }): void {
    if (this.search.context === 0) return;
    for (const match of this.matches.slice(-this.search.context)) {
      if (!match.after || match.path !== entry.path || entry.line <= match.line || entry.line > match.line + this.search.context) continue;
      match.after.push(entry.text);
      this.chars += entry.text.length;
    }
  }

  private wantsAfter(entry: { path: string; line: number }): boolean {
    const last = this.matches.at(-1);
    return last?.after !== undefined && last.path === entry.path && entry.line < last.line + this.search.context;
  }
}

function isNear(a: { path: string; line: number }, b: { path: string; line: number }, context: number): boolean {
  return a.path === b.path && a.line < b.line && a.line >= b.line - context;
}

function clean(path: string): string {
  return path.startsWith('./') ? path.slice(2) : path;
}

function withinSize<T>(rows: readonly T[]): T[] {
  let chars = 0;
  const fit = rows.findIndex((row) => (chars += JSON.stringify(row).length + 1) > MAX_RESULT_CHARS);
  return fit === -1 ? [...rows] : rows.slice(0, Math.max(1, fit));
}

function pageOf(search: Search, returned: number, truncated: boolean, note?: string): Record<string, unknown> {
  const next = truncated && returned > 0 ? `There is more: go on with offset=${search.offset + returned}, or narrow the search.` : undefined;
  const none = returned === 0 ? (search.offset > 0 ? 'Nothing at this offset.' : 'Nothing found. Check the pattern, the path and file_glob.') : undefined;
  const hint = note ?? next ?? none;
  return { returned, truncated, ...(hint !== undefined && { hint }) };
}

function badPattern(kind: string, pattern: string, stderr: string): ToolError {
  const reason = stderr.replace(/^rg: /, '').trim().slice(0, 600);
  return new ToolError(`"${pattern}" is not a valid ${kind}: ${reason}. To search for the text itself, put a backslash before special characters.`);
}
