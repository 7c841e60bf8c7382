/** One keyset page as the engine answers it. */
export interface KeysetPage<T> {
  items: readonly T[];
  nextBefore: number | null;
}

export type FetchPage<T> = (before: number | undefined, limit: number) => Promise<KeysetPage<T>>;

export interface PageWindowOptions {
  /** Rows per kept page. */
  pageSize?: number;
  /** Pages kept; the least recently wanted are let go. */
  maxPages?: number;
  /** Pages covered by one request while walking to a far place of the list. */
  walkPages?: number;
  /** Pages fetched ahead and behind of what is visible. */
  prefetchPages?: number;
}

/**
 * Random access by index to a list that can only be read by keyset: it remembers the cursor of every page it has passed,
 * keeps a bounded number of pages, and walks on from the nearest known cursor when an index further down is wanted.
 * The newest row at the first load is the top for good: rows that arrive later stay out until a new window is made.
 */
export class PageWindow<T extends { n: number }> {
  readonly pageSize: number;
  private readonly fetchPage: FetchPage<T>;
  private readonly maxPages: number;
  private readonly walkPages: number;
  private readonly prefetchPages: number;
  private readonly pages = new Map<number, readonly T[]>();
  /** cursors[p] = exclusive upper bound of `n` on page p. */
  private readonly cursors: (number | undefined)[] = [undefined];
  private readonly inFlight = new Set<number>();
  private readonly listeners = new Set<() => void>();
  private walking = false;
  private wanted: [number, number] = [0, 0];
  private end: number | null = null;
  private changes = 0;
  private failure: unknown = null;
  private disposed = false;

  constructor(fetchPage: FetchPage<T>, options: PageWindowOptions = {}) {
    this.fetchPage = fetchPage;
    this.pageSize = options.pageSize ?? 100;
    this.maxPages = Math.max(options.maxPages ?? 12, 4);
    this.walkPages = options.walkPages ?? 5;
    this.prefetchPages = options.prefetchPages ?? 2;
  }

  /** Grows with every visible change; a snapshot for useSyncExternalStore. */
  get version(): number {
    return this.changes;
  }

  /** The exact number of rows once the end was seen, else null. */
  get knownTotal(): number | null {
    return this.end;
  }

  /** What the last request failed with, until `retry`. */
  get error(): unknown {
    return this.failure;
  }

  /** True once the first page has arrived. */
  get ready(): boolean {
    return this.changes > 0 && this.failure === null;
  }

  get loadedPages(): number {
    return this.pages.size;
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** The row at `index`, or undefined while it is not here. */
  get(index: number): T | undefined {
    return this.pages.get(Math.floor(index / this.pageSize))?.[index % this.pageSize];
  }

  /** Index of the first held row that matches, or -1. Looks only at what is held. */
  find(match: (row: T) => boolean): number {
    for (const [page, rows] of this.pages) {
      const at = rows.findIndex(match);
      if (at >= 0) return page * this.pageSize + at;
    }
    return -1;
  }

  /** Says which rows are on screen (inclusive indexes); they and their neighbours are fetched. */
  want(from: number, to: number): void {
    this.wanted = [Math.max(0, Math.floor(from / this.pageSize)), Math.max(0, Math.floor(to / this.pageSize))];
    for (let p = this.wanted[0]; p <= this.wanted[1]; p++) {
      const rows = this.pages.get(p);
      if (!rows) continue;
      this.pages.delete(p);
      this.pages.set(p, rows);
    }
    this.pump();
  }

  /**
   * Says that the list is known to have no gaps: every row from the newest down to n = 1 is in it. Then the cursor of any page can
   * be reckoned, and a jump needs no walk. Should rows have gone meanwhile, the borders that are read correct it.
   */
  assumeDense(): void {
    const top = this.cursors[0];
    if (top === undefined) return;
    for (let p = this.cursors.length; top - p * this.pageSize > 1; p++) this.cursors[p] = top - p * this.pageSize;
  }

  /** Waits until the row at `index` is held; undefined when the list ends before it or the request fails. */
  async load(index: number): Promise<T | undefined> {
    this.want(index, index);
    while (this.get(index) === undefined && this.failure === null && !this.disposed && (this.end === null || index < this.end)) {
      await new Promise<void>((resolve) => {
        const stop = this.subscribe(() => {
          stop();
          resolve();
        });
      });
    }
    return this.get(index);
  }

  /** Fetches the visible pages anew, for rows that changed. Does nothing before the first load. */
  async refresh(): Promise<void> {
    const [from, to] = this.wanted;
    for (let p = from; p <= to; p++) {
      if (!this.pages.has(p) || this.inFlight.has(p)) continue;
      await this.fetchKnown(p);
    }
  }

  /** Tries again after an error. */
  retry(): void {
    this.failure = null;
    this.pump();
  }

  dispose(): void {
    this.disposed = true;
    this.listeners.clear();
  }

  private pump(): void {
    if (this.failure !== null || this.disposed) return;
    for (const p of this.order()) {
      if (this.pages.has(p) || this.inFlight.has(p) || this.isPastEnd(p)) continue;
      if (p < this.cursors.length) void this.fetchKnown(p);
      else if (!this.walking && !this.inFlight.has(this.cursors.length - 1)) void this.walk(p);
    }
  }

  /** Visible pages first, then those ahead and behind. */
  private order(): number[] {
    const [from, to] = this.wanted;
    const pages: number[] = [];
    for (let p = from; p <= to; p++) pages.push(p);
    for (let d = 1; d <= this.prefetchPages; d++) {
      pages.push(to + d);
      if (from - d >= 0) pages.push(from - d);
    }
    return pages;
  }

  private isPastEnd(page: number): boolean {
    return this.end !== null && page * this.pageSize >= Math.max(this.end, 1);
  }

  private async fetchKnown(page: number): Promise<void> {
    this.inFlight.add(page);
    try {
      this.place(page, await this.fetchPage(this.cursors[page], this.pageSize));
    } catch (error) {
      this.failure = error;
    } finally {
      this.inFlight.delete(page);
    }
    this.changed();
  }

  private async walk(target: number): Promise<void> {
    this.walking = true;
    const page = this.cursors.length - 1;
    const span = Math.min(this.walkPages, target - page + 1);
    this.inFlight.add(page);
    try {
      this.place(page, await this.fetchPage(this.cursors[page], span * this.pageSize));
    } catch (error) {
      this.failure = error;
    } finally {
      this.walking = false;
      this.inFlight.delete(page);
    }
    this.changed();
  }

  /** Takes over one answer that may span several pages. */
  private place(first: number, answer: KeysetPage<T>): void {
    const { items, nextBefore } = answer;
    const top = items[0];
    if (first === 0 && this.cursors[0] === undefined && top) this.cursors[0] = top.n + 1;
    const count = Math.max(1, Math.ceil(items.length / this.pageSize));
    for (let i = 0; i < count; i++) {
      const rows = items.slice(i * this.pageSize, (i + 1) * this.pageSize);
      const page = first + i;
      this.pages.delete(page);
      this.pages.set(page, rows);
      const last = rows.at(-1);
      const next = i < count - 1 ? last?.n : (nextBefore ?? undefined);
      this.setCursor(page + 1, next);
    }
    if (nextBefore === null) this.end = (first + count - 1) * this.pageSize + (items.length - (count - 1) * this.pageSize);
    else if (this.end !== null && this.end <= (first + count) * this.pageSize) this.end = null;
    this.evict();
  }

  /** A border that moved (rows left the filter, or were removed) makes all that follows it void. */
  private setCursor(page: number, before: number | undefined): void {
    if (page < this.cursors.length && this.cursors[page] === before) return;
    this.cursors.length = page;
    for (const p of [...this.pages.keys()]) if (p >= page) this.pages.delete(p);
    if (before !== undefined) this.cursors[page] = before;
  }

  private evict(): void {
    const [from, to] = this.wanted;
    for (const p of [...this.pages.keys()]) {
      if (this.pages.size <= this.maxPages) return;
      if (p < from - this.prefetchPages || p > to + this.prefetchPages) this.pages.delete(p);
    }
  }

  private changed(): void {
    if (this.disposed) return;
    this.changes++;
    for (const listener of [...this.listeners]) listener();
    this.pump();
  }
}
