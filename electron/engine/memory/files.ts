import { join } from 'node:path';
import { MEMORY_TARGETS, type MemoryChange, type MemoryEntry, type MemoryOperation, type MemorySettings, type MemoryStore, type MemoryTarget } from '#shared/contract/memory.ts';
import type { Author } from '#shared/contract/skills.ts';
import type { ChatExtension } from '../chat/extensions.ts';
import type { ConfigFile } from '../store/config.ts';
import type { Database } from '../store/database.ts';
import type { Logger } from '../store/types.ts';
import type { MemoryTools } from '../tools/types.ts';
import { memoryTools } from './agent-tools.ts';
import { changeEntries, type Changed, FILE_NAMES } from './change.ts';
import { type FileState, readMemoryFile, removeParts, stampOfFile, writeMemoryFile } from './disk.ts';
import { MemoryError } from './errors.ts';
import { MemoryFeed } from './feed.ts';
import { placeEntries, renderBlock } from './render.ts';
import { memoryInChats } from './extension.ts';
import { type ChangedBy, MemoryRecords } from './records.ts';
import { scanEntry } from './scan.ts';
import { changesOf, settingsOf } from './settings.ts';
import { countChars, entryId, joinEntries, splitEntries } from './text.ts';
import { undoChange } from './undo.ts';

const WRITE_ATTEMPTS = 5;

export interface MemoryDeps {
  db: Database;
  /** Where MEMORY.md and USER.md are; absolute. */
  folder: string;
  config: Pick<ConfigFile, 'read' | 'change'>;
  now: () => number;
  log: Logger;
}

interface Entries {
  state: FileState;
  entries: string[];
  chars: number;
  limit: number;
}

export interface Applied {
  /** Null when nothing was to be changed. */
  changeId: number | null;
  store: MemoryStore;
}

/**
 * MEMORY.md and USER.md. The files are the truth and may be edited by other programs at any time: each call looks at them as they are, each
 * write starts from that and keeps what it does not change. What is known of entries besides their text is in the database. Expected
 * failures are MemoryErrors.
 */
export class MemoryFiles {
  readonly #deps: MemoryDeps;
  readonly #records: MemoryRecords;
  readonly #feed: MemoryFeed;
  /** One write at a time for each file. */
  readonly #lock: Record<MemoryTarget, Promise<unknown>> = { memory: Promise.resolve(), user: Promise.resolve() };

  /** Mends what a kill left. */
  constructor(deps: MemoryDeps) {
    this.#deps = deps;
    this.#records = new MemoryRecords(deps.db, deps.now);
    this.#feed = new MemoryFeed(() => JSON.stringify([...MEMORY_TARGETS.map((target) => stampOfFile(this.#file(target))), deps.config.read().memory]));
    this.#recover();
  }

  /** memory.enabled of config.yaml. */
  get enabled(): boolean {
    return this.#deps.config.read().memory.enabled;
  }

  get(): { enabled: boolean; stores: MemoryStore[] } {
    return { enabled: this.enabled, stores: MEMORY_TARGETS.map((target) => this.read(target)) };
  }

  settings(): MemorySettings {
    return settingsOf(this.#deps.config.read());
  }

  /** Throws ConfigError or HomeError when config.yaml cannot be written. */
  configure(chosen: { [K in keyof MemorySettings]?: MemorySettings[K] | undefined }): MemorySettings {
    this.#deps.config.change(changesOf(chosen));
    return this.settings();
  }

  /** Never throws: a file that cannot be used says why. */
  read(target: MemoryTarget): MemoryStore {
    const { state, entries, chars, limit } = this.#load(target);
    const records = this.#records.of(target, entries.map(entryId));
    const placed = placeEntries(entries, limit);
    return {
      target,
      file: this.#file(target),
      chars,
      limit,
      problem: state.problem,
      entries: placed.map(({ text, inPrompt }): MemoryEntry => {
        const id = entryId(text);
        return { id, text, ...records.get(id)!, ...scanEntry(text), inPrompt };
      }),
    };
  }

  /** Does all operations, or none. Throws MemoryError: invalid when one cannot be done, conflict when the file cannot be used, unavailable when the disk does not take it. */
  async apply(target: MemoryTarget, operations: readonly MemoryOperation[], by: ChangedBy): Promise<Applied> {
    const { changeId, store } = await this.#change(target, operations, by);
    return { changeId, store };
  }

  applyByPerson({ target, operations, reason }: { target: MemoryTarget; operations: readonly MemoryOperation[]; reason: string }): Promise<Applied> {
    return this.apply(target, operations, { author: 'person', reason });
  }

  /** What `apply` would make of the file now; writes nothing. Throws as `apply` does. */
  plan(target: MemoryTarget, operations: readonly MemoryOperation[]): { before: string; after: string; warnings: string[] } {
    const loaded = this.#usable(target);
    const { entries, warnings } = changeEntries(target, loaded.entries, operations, loaded.limit);
    return { before: loaded.state.raw, after: joinEntries(entries), warnings };
  }

  history({ target, limit }: { target?: MemoryTarget | undefined; limit: number }): { items: MemoryChange[] } {
    return { items: this.#records.history(target, limit) };
  }

  /** Takes back what a change did, and nothing else. Throws MemoryError: not_found, or conflict when it was taken back before or later changes stand in the way. */
  undo(changeId: number): Promise<MemoryStore> {
    const change = this.#records.change(changeId);
    if (!change) return Promise.reject(new MemoryError('not_found', 'This change of the memory is not in the history.'));
    const { target } = change;
    return this.#alone(target, async () => {
      if (this.#records.change(changeId)?.undone) throw new MemoryError('conflict', 'This change was taken back already.');
      await this.#write(target, ({ entries, limit }) => undoChange(target, { before: splitEntries(change.before), after: splitEntries(change.after) }, entries, limit));
      this.#records.undone(changeId);
      this.#feed.changed();
      return this.read(target);
    });
  }

  /** Ticks at once, and then whenever the files, what is known of them, or their limits changed. */
  changes(signal?: AbortSignal): AsyncGenerator<{ generation: number }> {
    return this.#feed.changes(signal);
  }

  /** The memory for one agent. What it changes is noted as changed by this author, from the trajectory that is current then. */
  toolsFor({ author, trajectoryId, reviewId }: { author: Author; trajectoryId: () => string | null; reviewId?: string | null }): MemoryTools {
    return memoryTools({
      entries: (target) => this.#usable(target),
      change: (target, operations) => this.#change(target, operations, { author, trajectoryId: trajectoryId(), reviewId: reviewId ?? null }),
    });
  }

  /** The blocks of a system prompt as the files are now; null where there is nothing, and when the memory is off. */
  promptBlocks(): { memory: string | null; user: string | null } {
    const block = (target: MemoryTarget): string | null => {
      const { entries, chars, limit } = this.#load(target);
      return renderBlock(target, entries, chars, limit);
    };
    return this.enabled ? { memory: block('memory'), user: block('user') } : { memory: null, user: null };
  }

  /** A session begins with what `promptBlocks` gave. */
  used(): void {
    for (const target of MEMORY_TARGETS) {
      const { entries, limit } = this.#load(target);
      const held = placeEntries(entries, limit).filter((entry) => entry.inPrompt !== 'none');
      if (held.length > 0) this.#records.used(target, held.map((entry) => entryId(entry.text)));
    }
    this.#feed.changed();
  }

  extension(): ChatExtension {
    return memoryInChats(this, () => this.#deps.config.read().memory.refresh_idle_minutes);
  }

  #change(target: MemoryTarget, operations: readonly MemoryOperation[], by: ChangedBy): Promise<Applied & { done: Changed['done']; warnings: string[] }> {
    return this.#alone(target, async () => {
      let changed: Changed | null = null;
      let id: number | null = null;
      try {
        const written = await this.#write(
          target,
          ({ entries, limit }) => (changed = changeEntries(target, entries, operations, limit)).entries,
          (before, after) => {
            if (id !== null) this.#records.forget(id);
            id = this.#records.begin(target, operations, before, after, by);
          },
        );
        if (id !== null && written) this.#records.written(id, target, written.added.map(entryId), by);
      } catch (error) {
        if (id !== null) this.#records.forget(id);
        throw error;
      }
      if (id !== null) this.#feed.changed();
      const { done, warnings } = changed as unknown as Changed;
      return { changeId: id, store: this.read(target), done, warnings };
    });
  }

  /** Writes what `make` makes of the entries. Another program's edit in between is looked at anew. Null when they stay as they are. */
  async #write(target: MemoryTarget, make: (now: Entries) => string[], begin?: (before: string, after: string) => void): Promise<{ added: string[] } | null> {
    for (let attempt = 1; attempt <= WRITE_ATTEMPTS; attempt++) {
      const loaded = this.#usable(target);
      const entries = make(loaded);
      if (entries.length === loaded.entries.length && entries.every((entry, index) => entry === loaded.entries[index])) return null;
      const raw = joinEntries(entries);
      begin?.(loaded.state.raw, raw);
      if (await writeMemoryFile(this.#file(target), raw, loaded.state)) return { added: entries.filter((entry) => !loaded.entries.includes(entry)) };
    }
    throw new MemoryError('unavailable', `Another program keeps writing ${FILE_NAMES[target]}. Nothing was changed; try again in a moment.`);
  }

  #load(target: MemoryTarget): Entries {
    const { memory_char_limit, user_char_limit } = this.#deps.config.read().memory;
    const state = readMemoryFile(this.#file(target));
    const entries = splitEntries(state.raw);
    return { state, entries, chars: countChars(joinEntries(entries)), limit: target === 'memory' ? memory_char_limit : user_char_limit };
  }

  #usable(target: MemoryTarget): Entries {
    const loaded = this.#load(target);
    if (loaded.state.problem !== null) throw new MemoryError('conflict', `${loaded.state.problem} Nothing was changed.`);
    return loaded;
  }

  #file(target: MemoryTarget): string {
    return join(this.#deps.folder, FILE_NAMES[target]);
  }

  #alone<T>(target: MemoryTarget, work: () => Promise<T>): Promise<T> {
    const result = this.#lock[target].then(work);
    this.#lock[target] = result.catch(() => undefined);
    return result;
  }

  #recover(): void {
    removeParts(this.#deps.folder);
    for (const change of this.#records.pending()) {
      const { target, author, trajectoryId, reviewId } = change;
      if (readMemoryFile(this.#file(target)).raw === change.after) this.#records.written(change.id, target, change.added.map(entryId), { author, trajectoryId, reviewId });
      else this.#records.forget(change.id);
    }
  }
}
