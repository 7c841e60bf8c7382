import type { Client } from '#shared/contract/index.ts';
import type { PromptItem, PromptState } from '#shared/contract/runs.ts';

export const PAGE_SIZE = 100;
/** Pages kept; the least recently loaded goes first. Nothing holds the whole list. */
const KEPT_PAGES = 40;
/** A page is asked again at most this often: states may run ahead of the rows for a moment, ms. */
export const REFRESH_MS = 1_000;

interface Page {
  items: ReadonlyMap<number, PromptItem>;
  state: 'loading' | 'ready' | 'failed';
  /** When it was last asked, epoch ms. */
  askedAt: number;
}

/** Prompts of one run by index, read in pages on demand. `onChange` is called when a page arrived. */
export class PromptPages {
  private readonly runs: Pick<Client['runs'], 'prompts'>;
  private readonly runId: string;
  private readonly onChange: () => void;
  private readonly now: () => number;
  private readonly pages = new Map<number, Page>();

  constructor(runs: Pick<Client['runs'], 'prompts'>, runId: string, onChange: () => void, now: () => number = Date.now) {
    this.runs = runs;
    this.runId = runId;
    this.onChange = onChange;
    this.now = now;
  }

  /** What is known of a prompt; asks for its page when it is missing, failed, or older than `state`. */
  get(index: number, state: PromptState | undefined): PromptItem | undefined {
    const number = Math.floor(index / PAGE_SIZE);
    const page = this.pages.get(number);
    const item = page?.items.get(index);
    if (!page) void this.load(number);
    else if (
      page.state !== 'loading' &&
      (page.state === 'failed' || (item && item.state !== state)) &&
      this.now() - page.askedAt >= REFRESH_MS
    )
      void this.load(number);
    return item;
  }

  /** The prompt as the engine has it now. */
  async fetch(index: number): Promise<PromptItem | undefined> {
    const { items } = await this.runs.prompts({ id: this.runId, after: index - 1, limit: 1 });
    return items[0]?.index === index ? items[0] : undefined;
  }

  private async load(number: number): Promise<void> {
    const page: Page = { items: this.pages.get(number)?.items ?? new Map<number, PromptItem>(), state: 'loading', askedAt: this.now() };
    this.pages.delete(number);
    this.pages.set(number, page);
    if (this.pages.size > KEPT_PAGES) {
      const oldest = this.pages.keys().next().value;
      if (oldest !== undefined) this.pages.delete(oldest);
    }
    try {
      const { items } = await this.runs.prompts({ id: this.runId, after: number * PAGE_SIZE - 1, limit: PAGE_SIZE });
      page.items = new Map(items.map((item) => [item.index, item]));
      page.state = 'ready';
    } catch {
      page.state = 'failed';
    }
    page.askedAt = this.now();
    this.onChange();
  }
}
