import type { ListPlace } from '#shared/contract/trajectories.ts';

/** One keyset page as the engine answers it. */
export interface KeysetPage<T> {
  items: readonly T[];
  /** Further ones follow. */
  more: boolean;
  /** The highest `n` there was. */
  newest: number;
}

export type FetchPage<T> = (page: { after?: ListPlace; upTo?: number; limit: number }) => Promise<KeysetPage<T>>;

export interface PageWindowOptions<T> {
  /** A row's place in the order of the list; by `n` alone unless told. */
  placeOf?: (row: T) => ListPlace;
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
 * Rows that arrive after the first load stay out until a new window is made.
 */
export class PageWindow<T extends { n: number }> {
  readonly pageSize: number;
  private readonly fetchPage: FetchPage<T>;
  private readonly placeOf: (row: T) => ListPlace;
  private readonly maxPages: number;
  private readonly walkPages: number;
  private readonly prefetchPages: number;
  private readonly pages = new Map<number, readonly T[]>();
  /** Held pages that may have changed since they were read; read again when they are on screen. */
  private readonly old = new Set<number>();
  /** cursors[p] = the place of the last row before page p; undefined for the first. */
  private readonly cursors: (ListPlace | undefined)[] = [undefined];
  private upTo: number | undefined;
  private readonly inFlight = new Set<number>();
  private readonly listeners = new Set<() => void>();
  private walking = false;
  private wanted: [number, number] = [0, 0];
  private end: number | null = null;
  private changes = 0;
  private failure: unknown = null;
  private disposed = false;

  constructor(fetchPage: FetchPage<T>, options: PageWindowOptions<T> = {}) {
    this.fetchPage = fetchPage;
    this.placeOf = options.placeOf ?? (({ n }) => ({ n, reward: null }));
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
   * Says that the list, by `n`, is known to have no gaps: every row from the newest down to n = 1 is in it. Then the cursor of any page
   * can be reckoned, and a jump needs no walk. Should rows have gone meanwhile, the borders that are read correct it.
   */
  assumeDense(): void {
    const top = this.get(0);
    if (!top) return;
    for (let p = this.cursors.length; top.n - p * this.pageSize > 0; p++) this.cursors[p] = { n: top.n + 1 - p * this.pageSize, reward: null };
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

  /** Fetches the visible pages anew, for rows that changed, and the others once they are visible. Does nothing before the first load. */
  async refresh(): Promise<void> {
    const [from, to] = this.wanted;
    for (const p of this.pages.keys()) if (p < from || p > to) this.old.add(p);
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
      if (this.inFlight.has(p) || this.isPastEnd(p)) continue;
      if (this.pages.has(p) && !(this.old.has(p) && p >= this.wanted[0] && p <= this.wanted[1])) continue;
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
      this.place(page, await this.fetchPage(this.request(page, 1)));
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
      this.place(page, await this.fetchPage(this.request(page, span)));
    } catch (error) {
      this.failure = error;
    } finally {
      this.walking = false;
      this.inFlight.delete(page);
    }
    this.changed();
  }

  private request(page: number, pages: number): Parameters<FetchPage<T>>[0] {
    const after = this.cursors[page];
    return { ...(after && { after }), ...(this.upTo !== undefined && { upTo: this.upTo }), limit: pages * this.pageSize };
  }

  /** Takes over one answer that may span several pages. */
  private place(first: number, { items, more, newest }: KeysetPage<T>): void {
    this.upTo ??= newest;
    const count = Math.max(1, Math.ceil(items.length / this.pageSize));
    for (let i = 0; i < count; i++) {
      const rows = items.slice(i * this.pageSize, (i + 1) * this.pageSize);
      const page = first + i;
      this.pages.delete(page);
      this.pages.set(page, rows);
      this.old.delete(page);
      const last = rows.at(-1);
      this.setCursor(page + 1, last && (more || i < count - 1) ? this.placeOf(last) : undefined);
    }
    if (!more) this.end = (first + count - 1) * this.pageSize + (items.length - (count - 1) * this.pageSize);
    else if (this.end !== null && this.end <= (first + count) * this.pageSize) this.end = null;
    this.evict();
  }

  /** A border that moved (rows left the filter, or were removed) makes all that follows it void. */
  private setCursor(page: number, after: ListPlace | undefined): void {
    const known = this.cursors[page];
    if (known && after && known.n === after.n && known.reward === after.reward) return;
    this.cursors.length = page;
    for (const p of [...this.pages.keys()]) if (p >= page) this.pages.delete(p);
    if (after !== undefined) this.cursors[page] = after;
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
