import { rm, stat } from 'node:fs/promises';
import { FILE_HEADERS_ONLY, formatPatch, structuredPatch } from 'diff';
import { z } from 'zod';
import type { Sandbox } from '../sandbox/types.ts';
import { alone, StaleError, whileOthersChange } from './changes.ts';
import { defineTool, ToolError } from './define.ts';
import { fileError, forgetReads, readForEdit, relativePathOf, shownPath, statFile } from './files.ts';
import { applyEdits, closestLines, matchText } from './match-text.ts';
import { pathsOf } from './paths.ts';
import type { OpenPath } from './paths.ts';
import { splitLines } from './text-lines.ts';
import { applyHunks } from './v4a-apply.ts';
import { parseV4A } from './v4a-parse.ts';
import type { FileChange } from './v4a-parse.ts';
import type { ToolContext } from './types.ts';
import { writeWhole } from './write-file.ts';

const MAX_DIFF_CHARS = 30_000;
const DIFF_TIMEOUT_MS = 500;
const BOM = '\ufeff';

/** One file before and after; null where it does not exist. */
interface Change {
  real: string;
  path: string;
  before: string | null;
  after: string | null;
  mode?: number;
}

/**
 * `patch`: changes parts of files. Result `{success, diff, files_modified, files_created, files_deleted, matched?, replacements?}`;
 * `matched` names the strategy when the old text was not found exactly. In mode patch either every file is changed or none.
 */
export const patchTool = defineTool({
  name: 'patch',
  toolset: 'file',
  parallel: 'by_path',
  pathOf: (args) => (args['mode'] === 'patch' ? null : relativePathOf(args)),
  description:
    'Change parts of files and get the diff. Mode "replace": give path, old_string (copied from the file, with enough lines around it to be unique) and new_string; ' +
    'small differences in white space are forgiven. Mode "patch": give patch, which may add, update, delete and move several files at once:\n' +
    '*** Begin Patch\n*** Update File: a.py\n@@ def f():\n     x = 1\n-    return x\n+    return x + 1\n*** Add File: b.txt\n+text\n*** Delete File: c.txt\n*** Move File: d.txt -> e.txt\n*** End Patch',
  parameters: z.object({
    mode: z.enum(['replace', 'patch']).default('replace').describe('replace: one text in one file; patch: several changes in V4A format.'),
    path: z.string().optional().describe('replace: the file, relative to the workspace root.'),
    old_string: z.string().optional().describe('replace: the text to replace.'),
    new_string: z.string().optional().describe('replace: what comes instead; empty to delete.'),
    replace_all: z.boolean().default(false).describe('replace: every occurrence instead of exactly one.'),
    patch: z.string().optional().describe('patch: the patch.'),
  }),
  async run(input, context) {
    const { sandbox, state } = context;
    const open = pathsOf(context, 'patch');
    if (input.mode === 'patch' || (input.patch !== undefined && input.old_string === undefined)) {
      if (!input.patch?.trim()) throw new ToolError('Mode "patch" needs the parameter "patch" with the patch text. To replace one text, use mode "replace" with path, old_string and new_string.');
      const files = parseV4A(input.patch);
      return meanwhile(async () => {
        const changes = await planPatch(sandbox, open, files);
        forgetReads(state);
        return report(await commit(changes, context));
      });
    }
    const { path, old_string: oldString, new_string: newString } = input;
    const missing = Object.entries({ path, old_string: oldString, new_string: newString }).flatMap(([name, value]) => (value === undefined ? [name] : []));
    if (path === undefined || oldString === undefined || newString === undefined) {
      throw new ToolError(`Mode "replace" needs path, old_string and new_string; missing: ${missing.join(', ')}. To delete text, send new_string as "".`);
    }
    return meanwhile(async () => {
      const plan = await planReplace(sandbox, open, { path, oldString, newString, all: input.replace_all });
      forgetReads(state);
      return { ...report(await commit([plan.change], context)), replacements: plan.count, ...(plan.strategy !== 'exact' && { matched: plan.strategy }) };
    });
  },
});

/** Other agents may change the same files between the look at them and the change. */
function meanwhile(work: () => Promise<Record<string, unknown>>): Promise<Record<string, unknown>> {
  return whileOthersChange(work).catch((error: unknown) => {
    throw error instanceof StaleError ? new ToolError(error.message) : error;
  });
}

async function planReplace(sandbox: Sandbox, open: OpenPath, input: { path: string; oldString: string; newString: string; all: boolean }): Promise<{ change: Change; count: number; strategy: string }> {
  const { path, oldString, newString, all } = input;
  if (oldString === '') throw new ToolError('old_string is empty. To insert text, take an existing line as old_string and repeat it in new_string; to make a new file, use write_file.');
  if (oldString === newString) throw new ToolError('old_string and new_string are the same, so nothing would change. Send the text as it should become in new_string.');
  const real = await open(path, 'write');
  const whole = await readForEdit(sandbox, path, real);
  const bom = whole.startsWith(BOM) ? BOM : '';
  const before = whole.slice(bom.length);
  const matched = matchText(before, oldString, newString, { all });
  if (!matched) throw notFound(path, before, oldString, newString);
  if (matched.edits.length > 1 && !all) {
    const lines = matched.edits.map((edit) => before.slice(0, edit.start).split('\n').length);
    throw new ToolError(
      `old_string stands ${lines.length} times in "${path}" (lines ${lines.slice(0, 10).join(', ')}${lines.length > 10 ? ', …' : ''}). ` +
        'Add lines around it until it is unique, or set replace_all to true to change every one.',
    );
  }
  const after = applyEdits(before, matched.edits);
  if (after === before) throw new ToolError(`"${path}" already reads as new_string says; nothing was changed.`);
  return { change: { real, path: shownPath(sandbox, real), before: whole, after: bom + after }, count: matched.edits.length, strategy: matched.strategy };
}

function notFound(path: string, content: string, oldString: string, newString: string): ToolError {
  if (newString.trim() !== '' && content.includes(newString)) {
    return new ToolError(`old_string does not stand in "${path}", but new_string does: the change seems to be made already. Read the file to be sure.`);
  }
  const near = closestLines(content, oldString);
  const advice = near === null ? `Nothing in the file is like it (${splitLines(content).length} lines). Check the path, or read the file.` : 'The lines most like it are shown; copy old_string from them exactly, without the line numbers.';
  return new ToolError(`old_string does not stand in "${path}". ${advice}`, near === null ? {} : { closest_lines: near });
}

/** Works every file change out in memory, so that nothing is written unless all of them fit. */
async function planPatch(sandbox: Sandbox, open: OpenPath, files: readonly FileChange[]): Promise<Change[]> {
  const changes = new Map<string, Change>();
  const load = async (path: string): Promise<Change> => {
    const real = await open(path, 'write');
    const known = changes.get(real);
    if (known) return known;
    const facts = await stat(real).catch(() => null);
    const before = facts ? await readForEdit(sandbox, path, real) : null;
    const change: Change = { real, path: shownPath(sandbox, real), before, after: before, ...(facts && { mode: facts.mode & 0o777 }) };
    changes.set(real, change);
    return change;
  };
  const existing = async (path: string): Promise<Change & { after: string }> => {
    const change = await load(path);
    if (change.after === null && change.before === null) await statFile(sandbox, path, change.real);
    if (change.after === null) throw new ToolError(`"${path}" is deleted earlier in this patch. Nothing was changed.`);
    return change as Change & { after: string };
  };
  const free = async (path: string, advice: string): Promise<Change> => {
    const change = await load(path);
    if (change.after !== null) throw new ToolError(`"${path}" exists already. ${advice} Nothing was changed.`);
    return change;
  };
  for (const file of files) {
    if (file.kind === 'add') {
      (await free(file.path, 'Use "*** Update File:" to change it.')).after = file.lines.map((line) => `${line}\n`).join('');
      continue;
    }
    const source = await existing(file.path);
    if (file.kind === 'update' && file.hunks.length > 0) {
      const bom = source.after.startsWith(BOM) ? BOM : '';
      source.after = bom + applyHunks(file.path, source.after.slice(bom.length), file.hunks);
    }
    const to = file.kind === 'delete' ? null : file.to;
    if (to !== null) {
      const target = await free(to, 'Choose another target or delete it first.');
      target.after = source.after;
      if (source.mode !== undefined) target.mode = source.mode;
    }
    if (file.kind === 'delete' || to !== null) (source as Change).after = null;
  }
  return [...changes.values()].filter((change) => change.before !== change.after);
}

/** Writes all changes; when one fails, puts the earlier ones back. */
async function commit(changes: readonly Change[], { services, sandbox }: Pick<ToolContext, 'services' | 'sandbox'>): Promise<readonly Change[]> {
  if (changes.length === 0) throw new ToolError('The patch changes nothing: the files already read as it says.');
  await services.beforeChange?.(`patch ${changes.slice(0, 5).map(({ path }) => path).join(', ')}`);
  return alone(sandbox.root, () => write(changes, sandbox));
}

async function write(changes: readonly Change[], sandbox: Sandbox): Promise<readonly Change[]> {
  for (const change of changes) if ((await contentNow(change, sandbox)) !== change.before) throw new StaleError(change.path);
  const done: Change[] = [];
  try {
    for (const change of changes) {
      await put(change, change.after);
      done.push(change);
    }
  } catch (error) {
    for (const change of done.reverse()) await put(change, change.before).catch(() => undefined);
    if (!(error instanceof ToolError)) throw error;
    throw new ToolError(`${error.message} Nothing was changed.`);
  }
  return changes;
}

async function contentNow({ path, real }: Change, sandbox: Sandbox): Promise<string | null> {
  return (await stat(real).catch(() => null)) ? readForEdit(sandbox, path, real) : null;
}

async function put({ path, real, mode }: Change, content: string | null): Promise<void> {
  if (content !== null) return writeWhole(path, real, content, mode);
  await rm(real, { force: true }).catch((error: unknown) => {
    throw fileError(path, error);
  });
}

function report(changes: readonly Change[]): Record<string, unknown> {
  const named = (wanted: (change: Change) => boolean): string[] => changes.filter(wanted).map((change) => change.path);
  return {
    success: true,
    diff: cut(changes.map(diffOf).join('')),
    files_modified: named((change) => change.before !== null && change.after !== null),
    files_created: named((change) => change.before === null),
    files_deleted: named((change) => change.after === null),
  };
}

function diffOf({ path, before, after }: Change): string {
  const oldName = before === null ? '/dev/null' : `a/${path}`;
  const newName = after === null ? '/dev/null' : `b/${path}`;
  const diff = structuredPatch(oldName, newName, before ?? '', after ?? '', undefined, undefined, { context: 3, timeout: DIFF_TIMEOUT_MS });
  return diff ? formatPatch(diff, FILE_HEADERS_ONLY) : `--- ${oldName}\n+++ ${newName}\n(The files differ too much for a diff to be shown.)\n`;
}

function cut(diff: string): string {
  if (diff.length <= MAX_DIFF_CHARS) return diff;
  return `${diff.slice(0, MAX_DIFF_CHARS)}\n[… diff cut: ${(diff.length - MAX_DIFF_CHARS).toLocaleString('en-US')} more characters. The whole change was made.]\n`;
}
