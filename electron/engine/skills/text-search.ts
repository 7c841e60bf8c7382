import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { SkillSummary } from '#shared/contract/skills.ts';
import { MAIN_FILE } from './names.ts';

/** What lies behind is not searched, bytes. */
const MAX_BYTES = 1_000_000;
/** Texts that are kept for the next word, characters of all. */
const KEPT_CHARS = 64_000_000;
const AT_ONCE = 25;

interface Kept {
  mark: string;
  text: string;
}

/** Finds words in the texts of skills. What was read once is kept until the file changes. */
export class SkillTextSearch {
  readonly #library: { list(): Promise<readonly Pick<SkillSummary, 'id' | 'folder'>[]> };
  #kept = new Map<string, Kept>();

  constructor(library: { list(): Promise<readonly Pick<SkillSummary, 'id' | 'folder'>[]> }) {
    this.#library = library;
  }

  async find(query: string): Promise<{ ids: string[] }> {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    if (words.length === 0) return { ids: [] };
    const skills = await this.#library.list();
    const next = new Map<string, Kept>();
    const found = new Set<string>();
    let chars = 0;
    for (const [i, { id, folder }] of skills.entries()) {
      // Small files are read at once: handing each to another thread takes longer. Others get their turn in between.
      if (i % AT_ONCE === AT_ONCE - 1) await setImmediate();
      const file = join(folder, MAIN_FILE);
      const kept = this.#text(file);
      if (kept === null) continue;
      chars += kept.text.length;
      if (chars <= KEPT_CHARS) next.set(file, kept);
      if (words.every((word) => kept.text.includes(word))) found.add(id);
    }
    this.#kept = next;
    return { ids: skills.filter(({ id }) => found.has(id)).map(({ id }) => id) };
  }

  /** In lower case; null when it cannot be read. */
  #text(file: string): Kept | null {
    try {
      const { mtimeMs, size, ino } = statSync(file);
      const mark = `${mtimeMs} ${size} ${ino}`;
      const known = this.#kept.get(file);
      if (known?.mark === mark) return known;
      return { mark, text: headOf(file).toLowerCase() };
    } catch {
      return null;
    }
  }
}

function headOf(file: string): string {
  const handle = openSync(file, 'r');
  try {
    const buffer = Buffer.alloc(Math.min(MAX_BYTES, fstatSync(handle).size));
    return buffer.toString('utf8', 0, readSync(handle, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(handle);
  }
}
