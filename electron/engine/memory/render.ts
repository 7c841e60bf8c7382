import type { MemoryEntry, MemoryTarget } from '#shared/contract/memory.ts';
import { scanEntry } from './scan.ts';
import { countChars, cutChars, joinEntries, usageOf } from './text.ts';

const LINE = '═'.repeat(46);
/** Hermes Agent's. */
const HEADERS: Readonly<Record<MemoryTarget, string>> = { memory: 'MEMORY (your personal notes)', user: 'USER PROFILE (who the user is)' };
const DELIMITER_CHARS = 3;

export interface Placed {
  text: string;
  inPrompt: MemoryEntry['inPrompt'];
  /** What prompts hold of it. */
  shown: string;
}

/**
 * Which of the entries prompts hold: in their order as many characters as the limit allows, the one on the border cut there. Blocked ones
 * never, and not a part of them.
 */
export function placeEntries(entries: readonly string[], limit: number): Placed[] {
  let room = limit;
  return entries.map((text) => {
    if (room <= 0 || scanEntry(text).blocked) return { text, inPrompt: 'none', shown: '' };
    const chars = countChars(joinEntries([text]));
    if (chars <= room) {
      room -= chars + DELIMITER_CHARS;
      return { text, inPrompt: 'whole', shown: text };
    }
    const shown = cutChars(text, room).trim();
    room = 0;
    return { text, inPrompt: 'cut', shown };
  });
}

/** The block of one file in a system prompt; null when there is nothing to say. */
export function renderBlock(target: MemoryTarget, entries: readonly string[], chars: number, limit: number): string | null {
  if (entries.length === 0) return null;
  const placed = placeEntries(entries, limit);
  const notes = notesOf(placed);
  const held = placed.filter((entry) => entry.inPrompt !== 'none').map((entry) => entry.shown);
  if (held.length === 0 && notes.length === 0) return null;
  return [LINE, `${HEADERS[target]} [${usageOf(chars, limit)}]`, LINE, ...(held.length > 0 ? [joinEntries(held)] : []), ...(notes.length > 0 ? ['', ...notes] : [])].join('\n');
}

/** Whether a system prompt holds a block of that file, whatever it says. */
export function hasBlock(target: MemoryTarget, systemPrompt: string): boolean {
  return systemPrompt.includes(`${LINE}\n${HEADERS[target]} [`);
}

/** What a model should know of entries that it does not see. */
export function notesOf(placed: readonly Placed[]): string[] {
  const blocked = placed.filter((entry) => scanEntry(entry.text).blocked).length;
  const over = placed.filter((entry) => entry.inPrompt === 'none').length - blocked;
  const cut = placed.some((entry) => entry.inPrompt === 'cut');
  return [
    ...(cut || over > 0 ? [`[The memory is over its limit: ${[...(cut ? ['the last entry is cut'] : []), ...(over > 0 ? [`${over} more ${over === 1 ? 'is' : 'are'} left out`] : [])].join(' and ')}.]`] : []),
    ...(blocked > 0 ? [`[${blocked} ${blocked === 1 ? 'entry is' : 'entries are'} left out for safety; the person sees why.]`] : []),
  ];
}
