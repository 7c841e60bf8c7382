import { Feed } from '../feed.ts';

const STATE_MS = 100;
const LIST_MS = 250;

/** Who watches which session, and who watches the list. */
export class SessionFeed {
  readonly #sessions = new Feed<string>(STATE_MS);
  readonly #list = new Feed<string>(LIST_MS);

  /** Something that is shown of the session changed; `list` also in its summary. */
  changed(id: string, { list = true }: { list?: boolean } = {}): void {
    this.#sessions.changed(id);
    if (list) this.#list.changed(id);
  }

  /** The session is gone: its watchers end. */
  ended(id: string): void {
    this.#sessions.ended(id);
  }

  watched(id: string): boolean {
    return this.#sessions.watched(id);
  }

  /** `state()` now and after changes, at most 10 times a second, until it is null, the session is gone or `signal` ends it. */
  async *watch<T>(id: string, state: () => T | null, signal?: AbortSignal): AsyncGenerator<T> {
    for await (const now of this.#sessions.watch(state, { concerns: (changed) => changed === id, signal })) {
      if (now === null) return;
      yield now;
    }
  }

  /** Ids of sessions that changed, none at first, at most 4 times a second. */
  changes(signal?: AbortSignal): AsyncGenerator<string[]> {
    return this.#list.watch((ids) => ids, { signal });
  }
}
