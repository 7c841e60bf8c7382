import type { SearchServiceName } from '#shared/contract/tools.ts';
import { ToolError } from '../define.ts';
import type { Fetch } from './fetch.ts';

export interface SearchResult {
  title: string;
  url: string;
  snippet: string;
}

/** A search service with what it needs: SearXNG an address, the others a key. */
export interface SearchChoice {
  service: SearchServiceName;
  address: string | null;
  key: string | null;
}

/** Where the keys are looked up, as `Secrets` names them. */
export const SEARCH_KEYS = {
  brave: { provider: 'search-brave', keyEnv: 'BRAVE_API_KEY' },
  tavily: { provider: 'search-tavily', keyEnv: 'TAVILY_API_KEY' },
} as const;

/** Addresses of the services that have one of their own. */
export const SEARCH_ENDPOINTS = { brave: 'https://api.search.brave.com/res/v1/web/search', tavily: 'https://api.tavily.com/search' } as const;
export type SearchEndpoints = { readonly [K in keyof typeof SEARCH_ENDPOINTS]: string };

const NAMES: Record<SearchServiceName, string> = { searxng: 'SearXNG', brave: 'Brave Search', tavily: 'Tavily' };
const MAX_ANSWER_BYTES = 4 * 1024 * 1024;
const TIMEOUT_MS = 20_000;
const TITLE_CHARS = 300;
const SNIPPET_CHARS = 600;

/**
 * One search. Formats: SearXNG `GET /search?format=json` ({results: [{title, url, content}]}), Brave Web Search API
 * ({web: {results: [{title, url, description}]}}), Tavily `POST /search` ({results: [{title, url, content}]}).
 * @throws ToolError with what to do.
 */
export async function searchWeb(choice: SearchChoice, query: string, limit: number, deps: { fetch: Fetch; endpoints: SearchEndpoints }, signal: AbortSignal): Promise<SearchResult[]> {
  const name = NAMES[choice.service];
  const request = requestFor(choice, query, limit, deps.endpoints);
  const answer = await deps.fetch(request.url, { ...request.init, maxBytes: MAX_ANSWER_BYTES, timeoutMs: TIMEOUT_MS, redirects: 0, signal, who: name });
  if (answer.status >= 300) throw refusal(choice, answer.status, answer.location);
  let body: unknown;
  try {
    body = JSON.parse(new TextDecoder().decode(answer.bytes));
  } catch {
    throw new ToolError(`${name} did not answer with JSON. Check its address in Settings, Web.`);
  }
  const list = choice.service === 'brave' ? field(field(body, 'web'), 'results') : field(body, 'results');
  if (list === undefined && choice.service === 'brave') return [];
  if (!Array.isArray(list)) throw new ToolError(`${name} answered in an unknown form. Check its address in Settings, Web.`);
  return list
    .map((entry: unknown) => ({ title: clean(field(entry, 'title'), TITLE_CHARS), url: String(field(entry, 'url') ?? ''), snippet: clean(field(entry, choice.service === 'brave' ? 'description' : 'content'), SNIPPET_CHARS) }))
    .filter(({ url }) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))
    .slice(0, limit);
}

function requestFor({ service, address, key }: SearchChoice, query: string, limit: number, endpoints: SearchEndpoints): { url: string; init: { method?: 'POST'; headers: Record<string, string>; body?: string } } {
  switch (service) {
    case 'searxng': {
      if (address === null) throw new ToolError('The address of SearXNG is not set. It is set in Settings, Web.');
      const url = new URL(`${address.replace(/\/+$/, '')}/search`);
      url.search = new URLSearchParams({ q: query, format: 'json' }).toString();
      return { url: url.href, init: { headers: { accept: 'application/json' } } };
    }
    case 'brave': {
      const url = `${endpoints.brave}?${new URLSearchParams({ q: query, count: String(limit) }).toString()}`;
      return { url, init: { headers: { accept: 'application/json', 'x-subscription-token': keyOf(service, key) } } };
    }
    case 'tavily':
      return {
        url: endpoints.tavily,
        init: { method: 'POST', headers: { 'content-type': 'application/json', authorization: `Bearer ${keyOf(service, key)}` }, body: JSON.stringify({ query, max_results: limit }) },
      };
  }
}

function keyOf(service: 'brave' | 'tavily', key: string | null): string {
  if (key === null) throw new ToolError(`The key of ${NAMES[service]} is not set. It is set in Settings, Web, or as ${SEARCH_KEYS[service].keyEnv}.`);
  return key;
}

function refusal({ service }: SearchChoice, status: number, location: string | null): ToolError {
  const name = NAMES[service];
  if (status < 400) return new ToolError(`${name} sends on to ${location ?? 'another address'}. Set its final address in Settings, Web.`);
  if (status === 429) return new ToolError(`${name} says there were too many searches (429). Try again later.`);
  if (service === 'searxng' && status === 403) return new ToolError('SearXNG refuses JSON answers (403). Add "json" to search.formats in its settings.yml and restart it.');
  if (status === 401 || status === 403 || (service === 'brave' && status === 422)) return new ToolError(`${name} refused the key (${status}). Check it in Settings, Web.`);
  if (status === 402 || status === 432 || status === 433) return new ToolError(`The plan of the ${name} key is used up (${status}).`);
  if (status === 404) return new ToolError(`There is no ${name} at this address (404). Check it in Settings, Web.`);
  return new ToolError(`${name} answered with an error (${status}). Try again later.`);
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}

/** One line of plain text: services mark hits with tags. */
function clean(value: unknown, chars: number): string {
  const text = typeof value === 'string' ? value : '';
  const plain = text
    .slice(0, chars * 10)
    .replace(/<\/?[a-z][^<>]{0,100}>/gi, '')
    .replace(/&(amp|lt|gt|quot|#x27|#39|nbsp);/g, (_, entity: string) => ENTITIES[entity] ?? '')
    .replace(/\p{Cc}+|\s+/gu, ' ')
    .trim();
  return plain.length > chars ? `${plain.slice(0, chars - 1).replace(/[\ud800-\udbff]$/, '')}…` : plain;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'", '#39': "'", nbsp: ' ' };
