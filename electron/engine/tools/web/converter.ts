import { Readers } from '../../store/readers.ts';
import { ToolError } from '../define.ts';
import type { PageText } from './page.ts';

const TIMEOUT_MS = 20_000;

/**
 * Turns pages into Markdown in a worker of its own, one after another. A page that takes too long costs its worker, and nothing
 * else: the next page gets a new one.
 */
export class PageConverter {
  readonly #open: () => Readers;
  readonly #timeoutMs: number;
  #readers: Readers | null = null;
  #tail: Promise<unknown> = Promise.resolve();
  #closed = false;

  constructor(reader: string, databaseFile: string, timeoutMs = TIMEOUT_MS) {
    this.#open = () => new Readers(reader, databaseFile, 1);
    this.#timeoutMs = timeoutMs;
  }

  /** Rejects with a ToolError after the time allowed, with the signal's reason on abort. */
  convert(page: { html: string; url: string }, signal: AbortSignal): Promise<PageText> {
    const turn = this.#tail.then(() => this.#one(page, signal));
    this.#tail = turn.catch(() => undefined);
    return turn;
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#drop();
  }

  async #one(page: { html: string; url: string }, signal: AbortSignal): Promise<PageText> {
    signal.throwIfAborted();
    if (this.#closed) throw new Error('The store is closed');
    const readers = (this.#readers ??= this.#open());
    const clock = AbortSignal.timeout(this.#timeoutMs);
    const stop = AbortSignal.any([signal, clock]);
    let off = (): void => {};
    const stopped = new Promise<never>((_, reject) => {
      const onAbort = (): void => reject(new Error('stopped'));
      stop.addEventListener('abort', onAbort, { once: true });
      off = () => stop.removeEventListener('abort', onAbort);
    });
    const work = readers.run('page', page);
    work.catch(() => undefined);
    try {
      return await Promise.race([work, stopped]);
    } catch (error) {
      if (!stop.aborted) throw error;
      await this.#drop();
      signal.throwIfAborted();
      throw new ToolError(`${page.url} could not be turned into text within ${this.#timeoutMs / 1000} seconds.`);
    } finally {
      off();
    }
  }

  async #drop(): Promise<void> {
    const readers = this.#readers;
    this.#readers = null;
    await readers?.close();
  }
}
