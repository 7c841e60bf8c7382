import type { Remark } from './format.ts';

/** Counts remarks by reason, each with the first trajectory it was said of. */
export class Tally {
  readonly #items = new Map<string, { reason: string; count: number; exampleId: string }>();

  add({ reason, id, count = 1 }: Remark): void {
    const item = this.#items.get(reason);
    if (item) item.count += count;
    else this.#items.set(reason, { reason, count, exampleId: id });
  }

  /** The most frequent first. */
  list(): { reason: string; count: number; exampleId: string }[] {
    return [...this.#items.values()].sort((a, b) => b.count - a.count);
  }
}
