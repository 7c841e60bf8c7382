import type { MemoryOperation, MemoryTarget } from '#shared/contract/memory.ts';
import { MemoryError } from './errors.ts';
import { scanEntry } from './scan.ts';
import { charsOf, countChars, preview, usageOf } from './text.ts';

export const FILE_NAMES: Readonly<Record<MemoryTarget, string>> = { memory: 'MEMORY.md', user: 'USER.md' };

/** What is said of an entry that must not be quoted to a model. */
const UNQUOTED = '(an entry that is blocked)';
const LISTED = 5;
const QUOTED_CHARS = 80;

/** What one operation did. */
export interface Done {
  op: MemoryOperation['op'];
  /** The entry as it is now; null when it was removed. */
  entry: string | null;
  /** The entry as it was; null when it is new. */
  was: string | null;
  /** Why nothing was changed; null when something was. */
  note: string | null;
}

export interface Changed {
  entries: string[];
  done: Done[];
  warnings: string[];
}

/**
 * All operations, one after the other, on these entries; what they would make counts against the limit as a whole, so that one call can
 * free space and use it. Throws MemoryError invalid, with nothing to be changed, when one of them cannot be done. Nothing that is thrown
 * holds more than a few short quotes.
 */
export function changeEntries(target: MemoryTarget, before: readonly string[], operations: readonly MemoryOperation[], limit: number): Changed {
  const entries = [...before];
  const done: Done[] = [];
  const warnings = new Set<string>();
  for (const [index, operation] of operations.entries()) {
    try {
      done.push(doOne(target, entries, operation, limit, warnings));
    } catch (error) {
      if (!(error instanceof MemoryError) || operations.length === 1) throw error;
      throw new MemoryError(error.code, `Operation ${index + 1} of ${operations.length} (${operation.op}): ${error.message}`, error.details);
    }
  }
  checkRoom(target, before, entries, limit);
  return { entries, done, warnings: [...warnings] };
}

function doOne(target: MemoryTarget, entries: string[], operation: MemoryOperation, limit: number, warnings: Set<string>): Done {
  const { op } = operation;
  if (op === 'remove') {
    const at = find(target, entries, operation.old);
    const [was] = entries.splice(at, 1);
    return { op, entry: null, was: was!, note: null };
  }
  const text = cleaned(operation.text, op, limit);
  if (op === 'add') {
    if (entries.includes(text)) return { op, entry: text, was: null, note: 'It is there already; nothing was changed.' };
    for (const warning of allowed(text)) warnings.add(warning);
    entries.push(text);
    return { op, entry: text, was: null, note: null };
  }
  const at = find(target, entries, operation.old);
  const was = entries[at]!;
  if (was === text) return { op, entry: text, was, note: 'It says that already; nothing was changed.' };
  for (const warning of allowed(text)) warnings.add(warning);
  // what another entry says already needs no second one
  if (entries.includes(text)) entries.splice(at, 1);
  else entries[at] = text;
  return { op, entry: text, was, note: null };
}

/** The text as it is kept. Throws MemoryError for what cannot be an entry. */
function cleaned(given: string, op: 'add' | 'replace', limit: number): string {
  // before anything looks through it
  if (given.length > 4 * limit) throw new MemoryError('invalid', `The text has ${given.length} characters, and a whole memory has at most ${limit}. Write only what is worth keeping. Nothing was changed.`);
  const text = given.toWellFormed().replace(/\r\n?/g, '\n').trim();
  if (text === '') throw new MemoryError('invalid', op === 'add' ? 'The text is empty. Say what is to be remembered. Nothing was changed.' : 'The new text is empty. Use remove to take an entry out. Nothing was changed.');
  if (/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(text)) throw new MemoryError('invalid', 'The text holds control characters. Write it as plain text. Nothing was changed.');
  return text;
}

/** Warnings about a text that may be kept. Throws MemoryError for one that must not become part of prompts. */
function allowed(text: string): string[] {
  const { blocked, warnings } = scanEntry(text);
  if (!blocked) return warnings;
  throw new MemoryError('invalid', `It was not kept, because the memory becomes part of later system prompts and this text looks as if it were to take over the agent: it ${warnings.join(', ')}. Write down the fact alone, in other words. Nothing was changed.`);
}

/** Index of the entry that `old` is, or is a part of. */
function find(target: MemoryTarget, entries: readonly string[], old: string): number {
  const wanted = old.toWellFormed().replace(/\r\n?/g, '\n').trim();
  const file = FILE_NAMES[target];
  if (wanted === '') throw new MemoryError('invalid', 'Say which entry is meant: a part of its text that no other entry has. Nothing was changed.');
  const exact = entries.indexOf(wanted);
  if (exact >= 0) return exact;
  let hits = indexesOf(entries, (entry) => entry.includes(wanted));
  // models quote over line breaks
  if (hits.length === 0) hits = indexesOf(entries, (entry) => flat(entry).includes(flat(wanted)));
  if (hits.length === 1) return hits[0]!;
  if (hits.length === 0) {
    throw new MemoryError('invalid', `No entry of ${file} has the text "${preview(wanted, QUOTED_CHARS)}". ${entries.length === 0 ? 'It is empty.' : 'Look at the entries as they are now (action read), and quote a part of one.'} Nothing was changed.`);
  }
  throw new MemoryError('invalid', `${hits.length} entries of ${file} have the text "${preview(wanted, QUOTED_CHARS)}". Quote more of the one that is meant. Nothing was changed.`, {
    matches: hits.slice(0, LISTED).map((index) => quote(entries[index]!)),
    ...(hits.length > LISTED ? { more_matches: hits.length - LISTED } : {}),
  });
}

/** Throws MemoryError when the change makes the memory larger than it may be. What only makes a full one smaller is always allowed. */
export function checkRoom(target: MemoryTarget, before: readonly string[], after: readonly string[], limit: number): void {
  const chars = charsOf(after);
  const had = charsOf(before);
  if (chars <= limit || chars <= had) return;
  const free = chars - limit;
  throw new MemoryError(
    'invalid',
    `${FILE_NAMES[target]} has room for ${limit} characters, has ${had}, and would have ${chars}. Free at least ${free} characters: remove or shorten entries that are old, long or no longer true, in the same call, or write this shorter. The same call again would fail again. Nothing was changed.`,
    {
      chars_to_free: free,
      usage: usageOf(had, limit),
      longest_entries: before
        .map((entry) => ({ chars: countChars(entry), text: quote(entry) }))
        .sort((a, b) => b.chars - a.chars)
        .slice(0, LISTED),
    },
  );
}

/** The beginning of an entry for a model to know it by. */
export function quote(entry: string): string {
  return scanEntry(entry).blocked ? UNQUOTED : preview(entry, QUOTED_CHARS);
}

function indexesOf(entries: readonly string[], fits: (entry: string) => boolean): number[] {
  return entries.flatMap((entry, index) => (fits(entry) ? [index] : []));
}

function flat(text: string): string {
  return text.replace(/\s+/g, ' ');
}
