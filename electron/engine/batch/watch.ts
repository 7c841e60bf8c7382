import type { PromptState } from '#shared/contract/runs.ts';

/** Progress crosses at most this often per watcher. */
const PROGRESS_MS = 250;

interface Watcher {
  changed: Map<number, PromptState>;
  dirty: boolean;
  ended: boolean;
  wake: () => void;
}

/** Who watches which run, and what each has not been told yet. A slow watcher costs one entry per prompt, never more. */
export class RunWatchers {
  readonly #byRun = new Map<string, Set<Watcher>>();

  /** Something about the run changed; with `prompt`, that prompt's state. */
  changed(runId: string, prompt?: { index: number; state: PromptState }): void {
    for (const w of this.#byRun.get(runId) ?? []) {
      if (prompt) w.changed.set(prompt.index, prompt.state);
      w.dirty = true;
      w.wake();
    }
  }

  /** The run is gone: its watchers end. */
  ended(runId: string): void {
    for (const w of this.#byRun.get(runId) ?? []) {
      w.ended = true;
      w.wake();
    }
  }

  /** `snapshot` at once, then `progress` with the changed prompts, until the run is removed or `signal` ends it. */
  async *watch<T>(
    runId: string,
    snapshot: () => T,
    progress: (changed: { index: number; state: PromptState }[]) => T,
    signal?: AbortSignal,
  ): AsyncGenerator<T> {
    const me: Watcher = { changed: new Map(), dirty: false, ended: false, wake: () => {} };
    const watchers = this.#byRun.get(runId) ?? new Set();
    this.#byRun.set(runId, watchers);
    watchers.add(me);
    const onAbort = (): void => {
      me.ended = true;
      me.wake();
    };
    signal?.addEventListener('abort', onAbort);
    if (signal?.aborted) onAbort();
    try {
      yield snapshot();
      while (!me.ended) {
        if (!me.dirty) {
          await new Promise<void>((resolve) => {
            me.wake = resolve;
          });
          continue;
        }
        me.dirty = false;
        const changed = [...me.changed].map(([index, state]) => ({ index, state }));
        me.changed.clear();
        yield progress(changed);
        await pause(PROGRESS_MS, me);
      }
    } finally {
      signal?.removeEventListener('abort', onAbort);
      watchers.delete(me);
      if (watchers.size === 0) this.#byRun.delete(runId);
    }
  }
}

/** Waits, but not once the watcher has ended. */
async function pause(ms: number, me: Watcher): Promise<void> {
  if (me.ended) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  me.wake = () => {
    if (me.ended) resolve();
  };
  await promise;
  clearTimeout(timer);
}
