import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { type Dispatcher, getGlobalDispatcher } from 'undici';
import { ModelError, type Endpoint } from './types.ts';
import { placeOf } from './place.ts';

/** The longest answers of today's models, a few hundred bytes of wire for each token, stay well below it. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;
/** Bytes that may wait here for whoever reads the answer; then the server has to wait. */
const MOST_WAITING_BYTES = 256 * 1024;
/** How long a response whose answer is whole may take to end. */
const END_MS = 5_000;
const DECODERS = { gzip: createGunzip, 'x-gzip': createGunzip, deflate: createInflate, br: createBrotliDecompress };

/** One response as it comes. */
export interface Reply {
  status: number;
  headers: Headers;
  /** The next bytes of the body, null at its end. One at a time. Rejects with what broke it. */
  next(): Promise<Buffer | null>;
}

export interface Posting {
  /** Resolves with the head of the response. Rejects when none came: nobody listens, the name is unknown, it was cancelled. */
  reply: Promise<Reply>;
  /** Breaks the request off, with its connection, unless the response has come whole. */
  cancel(): void;
  /** Nothing more of the body is wanted. The connection is kept for the next request if the response ends soon. */
  finish(): void;
}

/**
 * Sends one `POST <base URL>/chat/completions`. It goes nowhere else: a redirect is answered as what it is, so that a key never reaches a
 * host that it was not given for. Proxy and certificates are those of `fetch`, whose connections it shares; its streams would cost several
 * times of what an answer otherwise takes. A body of more than `maxBytes` fails with ModelError `bad_response`.
 */
export function post(
  endpoint: Endpoint,
  { body, headers, onBytes, maxBytes }: { body: Buffer; headers: Readonly<Record<string, string>>; onBytes: () => void; maxBytes: number },
): Posting {
  const incoming = new Incoming(onBytes, maxBytes, () => tooLong(endpoint.baseUrl, maxBytes));
  try {
    const { origin, pathname, search } = addressOf(endpoint.baseUrl);
    const hasKey = endpoint.apiKey !== null && endpoint.apiKey !== '';
    const sent = {
      'user-agent': 'node', ...lowerCase(headers), accept: 'application/json', 'accept-encoding': 'identity', 'content-type': 'application/json',
      ...(hasKey ? { authorization: `Bearer ${endpoint.apiKey}` } : {}),
    };
    getGlobalDispatcher().dispatch({ origin, path: pathname + search, method: 'POST', headers: sent, body }, incoming);
  } catch (error) {
    incoming.fail(error);
  }
  return { reply: incoming.reply, cancel: () => incoming.cancel(), finish: () => incoming.drop() };
}

function addressOf(baseUrl: string): URL {
  const url = new URL(baseUrl);
  if (url.username !== '' || url.password !== '') throw new TypeError('A base URL has no user name and no password.');
  url.pathname = `${url.pathname.replace(/\/$/, '')}/chat/completions`;
  return url;
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function tooLong(baseUrl: string, maxBytes: number): ModelError {
  const mb = Math.max(1, Math.round(maxBytes / 2 ** 20));
  return new ModelError('bad_response', `${placeOf(baseUrl)} sent an answer of more than ${mb} MB, so it was broken off: no model answers that much.`);
}

/** Takes what the connection brings, and keeps it until it is asked for. */
class Incoming implements Dispatcher.DispatchHandler {
  readonly reply: Promise<Reply>;
  readonly #head = Promise.withResolvers<Reply>();
  readonly #onBytes: () => void;
  readonly #maxBytes: number;
  readonly #tooLong: () => ModelError;
  #controller: Dispatcher.DispatchController | null = null;
  #decoder: ReturnType<typeof createGunzip> | null = null;
  #cancelled = false;
  #dropping = false;
  #patience: NodeJS.Timeout | undefined;
  #total = 0;
  /** Pieces that came and were not asked for yet. */
  #pieces: Buffer[] = [];
  #held = 0;
  /** Null while more may come. */
  #end: { error: unknown } | 'whole' | null = null;
  #asking: { resolve: (bytes: Buffer | null) => void; reject: (error: unknown) => void } | null = null;

  constructor(onBytes: () => void, maxBytes: number, tooLong: () => ModelError) {
    this.#onBytes = onBytes;
    this.#maxBytes = maxBytes;
    this.#tooLong = tooLong;
    this.reply = this.#head.promise;
    this.reply.catch(() => undefined);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#cancelled) controller.abort(CANCELLED);
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Record<string, string | string[] | undefined>): void {
    if (status < 200) return;
    const encoding = String(headers['content-encoding'] ?? '').trim().toLowerCase();
    // nobody was asked to compress
    if (Object.hasOwn(DECODERS, encoding)) this.#decode(DECODERS[encoding as keyof typeof DECODERS](), controller);
    this.#head.resolve({ status, headers: headersOf(headers), next: () => this.#next() });
  }

  onResponseData(controller: Dispatcher.DispatchController, bytes: Buffer): void {
    if (this.#decoder === null) this.#take(bytes, controller);
    else if (!this.#decoder.write(bytes)) controller.pause();
  }

  onResponseEnd(): void {
    if (this.#decoder === null) this.#finish('whole');
    else this.#decoder.end();
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  fail(error: unknown): void {
    this.#head.reject(error);
    this.#finish({ error });
  }

  cancel(): void {
    this.#cancelled = true;
    if (this.#end === null) this.#controller?.abort(CANCELLED);
  }

  drop(): void {
    if (this.#end !== null) return;
    this.#dropping = true;
    this.#pieces = [];
    if (this.#held > MOST_WAITING_BYTES) this.#controller?.resume();
    this.#held = 0;
    this.#patience = setTimeout(() => this.cancel(), END_MS).unref();
  }

  #decode(decoder: ReturnType<typeof createGunzip>, controller: Dispatcher.DispatchController): void {
    this.#decoder = decoder;
    decoder.on('data', (bytes: Buffer) => this.#take(bytes, controller));
    decoder.on('drain', () => controller.resume());
    decoder.on('end', () => this.#finish('whole'));
    decoder.on('error', (error) => {
      this.#finish({ error });
      controller.abort(error);
    });
  }

  #take(bytes: Buffer, controller: Dispatcher.DispatchController): void {
    if (this.#end !== null) return;
    this.#total += bytes.length;
    if (!this.#dropping) this.#onBytes();
    if (this.#total > this.#maxBytes) {
      const error = this.#tooLong();
      this.#finish({ error });
      controller.abort(error);
      return;
    }
    if (this.#dropping) return;
    const asking = this.#asking;
    if (asking !== null) {
      this.#asking = null;
      asking.resolve(bytes);
      return;
    }
    this.#pieces.push(bytes);
    this.#held += bytes.length;
    if (this.#held > MOST_WAITING_BYTES) controller.pause();
  }

  #finish(end: { error: unknown } | 'whole'): void {
    if (this.#end !== null) return;
    this.#end = end;
    clearTimeout(this.#patience);
    const asking = this.#asking;
    this.#asking = null;
    if (asking === null) return;
    if (end === 'whole') asking.resolve(null);
    else asking.reject(end.error);
  }

  #next(): Promise<Buffer | null> {
    if (this.#pieces.length > 0) {
      const bytes = this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces, this.#held);
      this.#pieces = [];
      if (this.#held > MOST_WAITING_BYTES) this.#controller?.resume();
      this.#held = 0;
      return Promise.resolve(bytes);
    }
    if (this.#end === 'whole') return Promise.resolve(null);
    if (this.#end !== null) return Promise.reject(this.#end.error as Error);
    return new Promise((resolve, reject) => (this.#asking = { resolve, reject }));
  }
}

/** Made once: it would else be made, with a stack, for every call. */
const CANCELLED = new DOMException('This call is over.', 'AbortError');

function headersOf(raw: Record<string, string | string[] | undefined>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(raw)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, one);
  }
  return headers;
}
