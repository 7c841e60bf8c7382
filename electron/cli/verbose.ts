import type { Client } from '#shared/contract/index.ts';
import { PROMPT_STATE_CODES, type PromptState, type RunEvent } from '#shared/contract/runs.ts';
import { plain } from './terminal.ts';

const ENDED: readonly PromptState[] = ['completed', 'partial', 'failed', 'discarded'];
const CODES = ENDED.map((state) => PROMPT_STATE_CODES[state]);
const PAGE = 500;

/** One line per rollout that has ended since the last event: `17.2 failed  The prompt. The reason` (row and attempt when there are several). */
export class EndedLines {
  readonly #id: string;
  readonly #client: Pick<Client, 'runs'>;
  readonly #chars: number;
  #told = new Set<number>();

  /** @param chars of a line at most */
  constructor(id: string, client: Pick<Client, 'runs'>, chars: number) {
    this.#id = id;
    this.#client = client;
    this.#chars = chars;
  }

  async of(event: RunEvent): Promise<string[]> {
    if (event.type === 'snapshot') {
      // what ended before this call is no news
      [...event.codes].forEach((code, index) => CODES.includes(code) && this.#told.add(index));
      return [];
    }
    const news = event.changed.filter(({ index, state }) => ENDED.includes(state) && !this.#told.has(index)).map(({ index }) => index).sort((a, b) => a - b);
    const lines: string[] = [];
    for (let at = 0; at < news.length; ) {
      const { items } = await this.#client.runs.prompts({ id: this.#id, after: news[at]! - 1, limit: Math.min(PAGE, news.at(-1)! - news[at]! + 1) });
      const last = items.at(-1)?.index ?? news[at]!;
      for (const item of items) {
        if (!news.includes(item.index) || this.#told.has(item.index) || !ENDED.includes(item.state)) continue;
        this.#told.add(item.index);
        const place = event.run.spec.rollouts > 1 ? `${item.promptIndex}.${item.rollout}` : String(item.promptIndex);
        lines.push(cut(`${place} ${item.state}  ${plain(item.prompt)}${item.reason ? `: ${plain(item.reason)}` : ''}`, this.#chars));
      }
      while (at < news.length && news[at]! <= last) at += 1;
    }
    return lines;
  }
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1).toWellFormed()}…`;
}
