import { OpenAI } from 'openai';
import { ModelError, type Endpoint } from './types.ts';
import { placeOf } from './wire.ts';

/** Headers the SDK may send on; all others (its own telemetry, and custom ones from the environment) stay here. */
const PASSED_HEADERS = ['accept', 'content-type', 'authorization'];
const DONE_LINE = /^data:[ \t]*\[DONE\]/m;
const HEAD_CHARS = 200;
const TAIL_CHARS = 24;
const DAY_MS = 86_400_000;
/** The longest answers of today's models, a few hundred bytes of wire for each token, stay well below it. */
export const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** What one response's body looked like on the wire, beyond what the SDK tells. */
export interface WireView {
  /** First characters of the body. */
  head: string;
  /** The stream said `[DONE]`. */
  sawDone: boolean;
}

/**
 * A client for one request that retries nothing, logs nothing, and takes neither key nor organisation from the environment:
 * a key must never reach a host it was not given for. A body of more than `maxBytes` fails with ModelError `bad_response`.
 */
export function connect(
  endpoint: Endpoint,
  { headers, onBytes, maxBytes }: { headers: Readonly<Record<string, string>>; onBytes: () => void; maxBytes: number },
): { client: OpenAI; view: WireView } {
  const view: WireView = { head: '', sawDone: false };
  const hasKey = endpoint.apiKey !== null && endpoint.apiKey !== '';
  const client = new OpenAI({
    baseURL: endpoint.baseUrl,
    apiKey: hasKey ? endpoint.apiKey : 'none',
    adminAPIKey: null,
    organization: null,
    project: null,
    webhookSecret: null,
    maxRetries: 0,
    timeout: DAY_MS,
    logLevel: 'off',
    fetch: async (url, init) => {
      const given = new Headers(init?.headers);
      const sent = new Headers(headers);
      for (const name of PASSED_HEADERS) {
        const value = given.get(name);
        if (value !== null && (name !== 'authorization' || hasKey)) sent.set(name, value);
      }
      // prompts go nowhere but to the base URL that a person gave
      const response = await fetch(url, { ...init, headers: sent, redirect: 'manual' });
      return watched(response, view, (total) => {
        onBytes();
        if (total > maxBytes) throw tooLong(endpoint.baseUrl, maxBytes);
      });
    },
  });
  return { client, view };
}

function tooLong(baseUrl: string, maxBytes: number): ModelError {
  const mb = Math.max(1, Math.round(maxBytes / 2 ** 20));
  return new ModelError('bad_response', `${placeOf(baseUrl)} sent an answer of more than ${mb} MB, so it was broken off: no model answers that much.`);
}

function watched(response: Response, view: WireView, onBytes: (total: number) => void): Response {
  if (response.body === null) return response;
  let tail = '';
  let total = 0;
  const watch = new TransformStream<Uint8Array, Uint8Array>({
    transform(bytes, controller) {
      total += bytes.byteLength;
      // what it throws ends the stream, and the connection with it
      onBytes(total);
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1');
      if (view.head.length < HEAD_CHARS) view.head = (view.head + text).slice(0, HEAD_CHARS);
      const joined = tail + text;
      if (!view.sawDone) view.sawDone = DONE_LINE.test(joined);
      tail = joined.slice(-TAIL_CHARS);
      controller.enqueue(bytes);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(watch), { status, statusText, headers });
}
