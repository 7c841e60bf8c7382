import { abortedError, networkCode, networkSentence } from './faults.ts';
import { ModelError, type Endpoint } from './types.ts';

export type ProbedEndpoint = Pick<Endpoint, 'baseUrl' | 'apiKey'>;

export interface ProbeOptions {
  /** For one request; default 10 s. */
  timeoutMs?: number;
  now?: () => number;
  fetch?: typeof fetch;
}

export type Probe = ProbeOptions & { signal: AbortSignal | undefined; redirect?: 'manual' };

export interface ProbeAnswer {
  status: number;
  text: string;
  headers: Headers;
  latencyMs: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;

/** Asks `path` below a base URL with the endpoint's key. Throws a ModelError when nothing answers; any status is an answer. */
export async function get(baseUrl: string, path: string, endpoint: ProbedEndpoint, options: Probe, body?: unknown): Promise<ProbeAnswer> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, now = Date.now, fetch: send = fetch, signal, redirect = 'follow' } = options;
  const startedAt = now();
  const headers: Record<string, string> = { accept: 'application/json' };
  if (endpoint.apiKey !== null && endpoint.apiKey !== '') headers.authorization = `Bearer ${endpoint.apiKey}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const request = { headers, ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }) };
  const once = async (): Promise<ProbeAnswer> => {
    const limit = AbortSignal.timeout(timeoutMs);
    const response = await send(`${baseUrl.replace(/\/+$/, '')}/${path}`, { ...request, redirect, signal: signal ? AbortSignal.any([limit, signal]) : limit });
    const text = await response.text();
    return { status: response.status, text, headers: response.headers, latencyMs: Math.max(0, Math.round(now() - startedAt)) };
  };
  try {
    // A kept-alive socket of a server that has since gone or restarted says nothing about the server now: ask again.
    return await once().catch((thrown: unknown) => (networkCode(thrown) === 'UND_ERR_SOCKET' ? once() : Promise.reject(thrown)));
  } catch (thrown) {
    if (signal?.aborted === true) throw abortedError();
    const timedOut = thrown instanceof Error && thrown.name === 'TimeoutError';
    const context = { endpoint: { ...endpoint, model: '' }, midAnswer: false };
    throw new ModelError(...networkSentence(timedOut ? 'ETIMEDOUT' : networkCode(thrown), context));
  }
}
