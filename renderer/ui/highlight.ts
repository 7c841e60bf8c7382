import type { HighlightAnswer, HighlightRequest, Token } from './highlight-theme.ts';

/** Longer code stays plain. */
const MAX_CHARS = 20_000;
const KEPT = 400;

export type HighlightedLines = readonly (readonly Token[])[];

/**
 * Colours code in a worker, so that grammars never hold up the page. Answers are kept, so that code which is scrolled back into view
 * has its colours at once.
 */
export class Highlights {
  readonly #makeWorker: () => Worker;
  readonly #kept = new Map<string, HighlightedLines | null>();
  readonly #waiting = new Map<number, { key: string; done: (lines: HighlightedLines | null) => void }[]>();
  readonly #asked = new Map<string, number>();
  #worker: Worker | null = null;
  #broken = false;
  #nextId = 1;

  constructor(makeWorker: () => Worker) {
    this.#makeWorker = makeWorker;
  }

  /** What is known already; undefined when it must be asked for. Null: it stays plain. */
  known(code: string, lang: string): HighlightedLines | null | undefined {
    if (lang === '' || code.length > MAX_CHARS || this.#broken) return null;
    return this.#kept.get(keyOf(code, lang));
  }

  /** Never rejects. */
  ask(code: string, lang: string): Promise<HighlightedLines | null> {
    const known = this.known(code, lang);
    if (known !== undefined) return Promise.resolve(known);
    const key = keyOf(code, lang);
    return new Promise((done) => {
      const id = this.#asked.get(key) ?? this.#nextId++;
      const waiting = this.#waiting.get(id);
      if (waiting) {
        waiting.push({ key, done });
        return;
      }
      this.#asked.set(key, id);
      this.#waiting.set(id, [{ key, done }]);
      this.#start().postMessage({ id, code, lang } satisfies HighlightRequest);
    });
  }

  #start(): Worker {
    if (this.#worker) return this.#worker;
    const worker = this.#makeWorker();
    worker.onmessage = ({ data }: MessageEvent<HighlightAnswer>) => this.#answered(data);
    worker.onerror = () => {
      this.#broken = true;
      for (const id of [...this.#waiting.keys()]) this.#answered({ id, lines: null });
    };
    this.#worker = worker;
    return worker;
  }

  #answered({ id, lines }: HighlightAnswer): void {
    const waiting = this.#waiting.get(id) ?? [];
    this.#waiting.delete(id);
    const key = waiting[0]?.key;
    if (key !== undefined) {
      this.#asked.delete(key);
      this.#kept.set(key, lines);
      const oldest = this.#kept.keys().next().value;
      if (this.#kept.size > KEPT && oldest !== undefined) this.#kept.delete(oldest);
    }
    for (const { done } of waiting) done(lines);
  }
}

const keyOf = (code: string, lang: string): string => `${lang}\n${code}`;

let shared: Highlights | null = null;

/** The one of this page; its worker starts with the first code that has a language. */
export function pageHighlights(): Highlights {
  shared ??= new Highlights(() => new Worker(new URL('./highlight.worker.ts', import.meta.url), { type: 'module' }));
  return shared;
}
