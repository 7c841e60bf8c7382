import type { Database } from '../../store/database.ts';
import { isStoreFailure } from '../errors.ts';

/** Each of them goes on with its rollout at once: the event loop must get its turn before all have. */
const MOST_AT_ONCE = 16;

interface Waiting {
  /** Runs in the transaction. Returns what its caller is told after it. */
  run: () => () => void;
  reject: (error: unknown) => void;
}

/**
 * Puts what many rollouts write in the same turn of the event loop into one transaction: each commit by itself costs more than what it
 * stores. Work that throws is rolled back alone; when the store itself fails, all of it is.
 */
export class GroupCommit {
  readonly #db: Database;
  readonly #waiting: Waiting[] = [];

  constructor(db: Database) {
    this.#db = db;
  }

  /** Resolves when what `work` wrote is committed. Rejects with what it or the store throws; then nothing of it is stored. */
  write<T>(work: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const run = () => {
        const value = this.#db.transaction(work);
        return () => resolve(value);
      };
      if (this.#waiting.push({ run, reject }) === 1) setImmediate(() => this.#commit());
    });
  }

  #commit(): void {
    const group = this.#waiting.splice(0, MOST_AT_ONCE);
    if (this.#waiting.length > 0) setImmediate(() => this.#commit());
    const told: (() => void)[] = [];
    try {
      this.#db.transaction(() => {
        for (const { run, reject } of group) {
          try {
            told.push(run());
          } catch (error) {
            if (isStoreFailure(error)) throw error;
            told.push(() => reject(error));
          }
        }
      });
    } catch (error) {
      for (const { reject } of group) reject(error);
      return;
    }
    for (const tell of told) tell();
  }
}
