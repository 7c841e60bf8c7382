import type { PromptState, RunEvent, RunState } from '#shared/contract/runs.ts';
import { Feed } from '../feed.ts';

/** Progress crosses at most this often per watcher. */
const PROGRESS_MS = 250;

interface ChangedPrompt {
  index: number;
  state: PromptState;
}

interface Change {
  runId: string;
  prompt?: ChangedPrompt | undefined;
}

/** Who watches which run, and what each has not been told yet. A slow watcher costs one entry per prompt, never more. */
export class RunWatchers {
  readonly #feed = new Feed<Change>(PROGRESS_MS, ({ prompt }) => prompt?.index);
  readonly #stateOf: (runId: string) => RunState | undefined;

  /** @param stateOf of a run that is going on; what changes in others is rare, and told at once */
  constructor(stateOf: (runId: string) => RunState | undefined) {
    this.#stateOf = stateOf;
  }

  /** Something about the run changed; with `prompt`, that prompt's state. */
  changed(runId: string, prompt?: ChangedPrompt): void {
    this.#feed.changed({ runId, prompt });
  }

  /** The run is gone: its watchers end. */
  ended(runId: string): void {
    this.#feed.ended({ runId });
  }

  /** `snapshot` at once, then `progress` with the changed prompts, until the run is removed or `signal` ends it. A new state of the run does not wait. */
  watch(runId: string, snapshot: () => RunEvent, progress: (changed: ChangedPrompt[]) => RunEvent, signal?: AbortSignal): AsyncGenerator<RunEvent> {
    let told: RunState | null = null;
    const read = (changes: Change[]): RunEvent => {
      const event = told === null ? snapshot() : progress(changes.flatMap(({ prompt }) => prompt ?? []));
      told = event.run.state;
      return event;
    };
    return this.#feed.watch(read, { concerns: (change) => change.runId === runId, urgent: ({ prompt }) => prompt === undefined && this.#stateOf(runId) !== told, signal });
  }
}
