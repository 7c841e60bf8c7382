import type { Client } from '#shared/contract/index.ts';
import type { PromptItem, PromptState } from '#shared/contract/runs.ts';

export const PAGE_SIZE = 100;
/** Pages kept; the least recently asked goes first. Nothing holds the whole list. */
const KEPT_PAGES = 40;

interface Page {
  items: Map<number, PromptItem>;
  /** True while being asked again because a state in it changed. */
  loading: boolean;
}

/** Prompts of one run by index, read in pages on demand. Emits when a page arrived. */
export class PromptPages {
  private readonly client: Client;
  private readonly runId: string;
  private readonly onChange: () => void;
  private readonly pages = new Map<number, Page>();

  constructor(client: Client, runId: string, onChange: () => void) {
    this.client = client;
    this.runId = runId;
    this.onChange = onChange;
  }

  /** What is known of a prompt; asks for its page when it is missing, or older than `state`. */
  get(index: number, state: PromptState | undefined): PromptItem | undefined {
    const number = Math.floor(index / PAGE_SIZE);
    const page = this.pages.get(number);
    const item = page?.items.get(index);
    if (!page || (item && state !== undefined && item.state !== state)) void this.load(number);
    return item;
  }

  /** The prompt as the engine has it now. */
  async fetch(index: number): Promise<PromptItem | undefined> {
    const { items } = await this.client.runs.prompts({ id: this.runId, after: index - 1, limit: 1 });
    return items[0]?.index === index ? items[0] : undefined;
  }

  private async load(number: number): Promise<void> {
    const before = this.pages.get(number);
    if (before?.loading) return;
    this.pages.delete(number);
    const page: Page = { items: before?.items ?? new Map<number, PromptItem>(), loading: true };
    this.pages.set(number, page);
    if (this.pages.size > KEPT_PAGES) {
      const oldest = this.pages.keys().next().value;
      if (oldest !== undefined) this.pages.delete(oldest);
    }
    try {
      const { items } = await this.client.runs.prompts({ id: this.runId, after: number * PAGE_SIZE - 1, limit: PAGE_SIZE });
      page.items = new Map(items.map((item) => [item.index, item]));
    } catch {
      // The row keeps its skeleton; the next look asks again.
      this.pages.delete(number);
    } finally {
      page.loading = false;
      this.onChange();
    }
  }
}
