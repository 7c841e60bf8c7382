import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher, fetch as undiciFetch } from 'undici';
import { ToolError } from '../define.ts';
import { addressInHost, guardedLookup, isPublicAddress, PrivateAddressError, type ResolveAll } from './addresses.ts';

export interface FetchOptions {
  method?: 'POST';
  headers?: Record<string, string>;
  body?: string;
  maxBytes: number;
  timeoutMs: number;
  /** How many redirects are followed; each target is checked like the first address. */
  redirects: number;
  signal: AbortSignal;
  /** Names the other side in messages; its host when absent. */
  who?: string;
}

export interface Fetched {
  /** After redirects. */
  url: string;
  status: number;
  /** Target of a redirect that was not followed. */
  location: string | null;
  contentType: string;
  /** Decompressed. */
  bytes: Uint8Array;
}

export type Fetch = (url: string, options: FetchOptions) => Promise<Fetched>;

const CONNECT_TIMEOUT_MS = 10_000;

/**
 * HTTP for tools: no cookies, no referrer, bodies cut off at a size, one clock for everything, and unless `allowPrivate` only
 * addresses of the public internet, looked up once and connected to as looked up. Every failure is a ToolError with a sentence.
 */
export function createFetch(options: { allowPrivate: boolean; resolve: ResolveAll; userAgent: string; lookup?: LookupFunction }): Fetch {
  const { allowPrivate, resolve, userAgent, lookup = guardedLookup(resolve, allowPrivate) } = options;
  return async (address, request) => {
    const dispatcher = new Agent({ connect: { lookup, timeout: CONNECT_TIMEOUT_MS }, maxResponseSize: -1, pipelining: 1 });
    const clock = AbortSignal.timeout(request.timeoutMs);
    const signal = AbortSignal.any([request.signal, clock]);
    let url = checkedUrl(address, allowPrivate);
    try {
      for (let left = request.redirects; ; left--) {
        const response = await undiciFetch(url, {
          method: request.method ?? 'GET',
          headers: { 'user-agent': userAgent, 'accept-language': 'en, *;q=0.5', ...request.headers },
          ...(request.body !== undefined && { body: request.body }),
          redirect: 'manual',
          dispatcher: dispatcher as Dispatcher,
          signal,
        });
        const location = response.status >= 300 && response.status < 400 ? response.headers.get('location') : null;
        if (location !== null && request.redirects > 0) {
          await response.body?.cancel();
          if (left === 0) throw new ToolError(`${address} redirects more than ${request.redirects} times. It was not read.`);
          url = checkedUrl(URL.canParse(location, url) ? new URL(location, url).href : location, allowPrivate, address);
          continue;
        }
        const bytes = await readBody(response.body as ReadableStream<Uint8Array> | null, request.maxBytes, address);
        return { url, status: response.status, location, contentType: response.headers.get('content-type') ?? '', bytes };
      }
    } catch (error) {
      request.signal.throwIfAborted();
      throw asToolError(error, { address, who: request.who ?? new URL(url).host, timeoutMs: clock.aborted ? request.timeoutMs : null });
    } finally {
      await dispatcher.destroy();
    }
  };
}

/** @param from the address that led to this one. @throws ToolError for what is not to be fetched. */
function checkedUrl(text: string, allowPrivate: boolean, from?: string): string {
  const via = from === undefined ? '' : ` (${from} redirects to it)`;
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) throw new ToolError(`"${text.slice(0, 200)}" is not a web address that begins with http:// or https://${via}.`);
  if (url.username !== '' || url.password !== '') throw new ToolError(`Web addresses with a user name or password are not read${via}.`);
  const ip = addressInHost(url.hostname);
  if (ip !== null && !allowPrivate && !isPublicAddress(ip)) throw privateRefused(new PrivateAddressError(ip, ip).message + via);
  url.hash = '';
  return url.href;
}

function privateRefused(reason: string): ToolError {
  return new ToolError(`Refused: ${reason} Such addresses are read only when the person allows it in Settings, Web.`);
}

async function readBody(body: ReadableStream<Uint8Array> | null, maxBytes: number, address: string): Promise<Uint8Array> {
  if (!body) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxBytes) throw new ToolError(`${address} is larger than ${Math.round(maxBytes / 1024 / 1024)} MB and was not read.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function asToolError(error: unknown, about: { address: string; who: string; timeoutMs: number | null }): unknown {
  if (error instanceof ToolError) return error;
  if (about.timeoutMs !== null) return new ToolError(`${about.who} did not answer completely within ${about.timeoutMs / 1000} seconds.`);
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if (cause instanceof PrivateAddressError) return privateRefused(cause.message);
    const code = (cause as { code?: unknown }).code;
    const reason = typeof code === 'string' ? REASONS[code] : undefined;
    if (reason) return new ToolError(`${about.who} ${reason}.`);
    if (typeof code === 'string' && /CERT|^ERR_TLS|^ERR_SSL|SELF_SIGNED|^UNABLE_TO/.test(code)) return new ToolError(`${about.who} has no valid certificate (${code}).`);
    // Several addresses were tried and each failed.
    if (cause instanceof AggregateError) return asToolError(cause.errors[0], about);
  }
  // fetch wraps what the network did in a TypeError
  return error instanceof TypeError ? new ToolError(`${about.address.slice(0, 200)} could not be read (${describe(error)}).`) : error;
}

function describe(error: Error): string {
  return error.cause instanceof Error ? error.cause.message : error.message;
}

const REASONS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'was not found: no address belongs to this name',
  EAI_AGAIN: 'could not be looked up: is there a network?',
  ECONNREFUSED: 'does not accept connections',
  ECONNRESET: 'cut the connection',
  EPIPE: 'cut the connection',
  ETIMEDOUT: 'did not answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'did not answer in time',
  UND_ERR_HEADERS_TIMEOUT: 'did not answer in time',
  UND_ERR_BODY_TIMEOUT: 'stopped in the middle of its answer',
  UND_ERR_SOCKET: 'cut the connection',
  UND_ERR_HEADERS_OVERFLOW: 'sent too many headers',
  ENETUNREACH: 'cannot be reached: is there a network?',
  EHOSTUNREACH: 'cannot be reached: is there a network?',
};
