import type { ConfigFile } from '../../store/config.ts';
import type { Secrets } from '../../store/secrets.ts';
import { ToolError } from '../define.ts';
import type { WebService } from '../types.ts';
import { type ResolveAll, resolveAll } from './addresses.ts';
import { createFetch, type Fetch } from './fetch.ts';
import type { PageText } from './page.ts';
import { SEARCH_ENDPOINTS, SEARCH_KEYS, type SearchChoice, type SearchEndpoints, searchWeb } from './search.ts';
import { decode, kindOf, visible } from './text.ts';

const MAX_PAGE_BYTES = 8 * 1024 * 1024;
const MAX_TEXT_CHARS = 2_000_000;
const MAX_REDIRECTS = 5;
const TIMEOUT_MS = 30_000;
const ACCEPT = 'text/html,application/xhtml+xml,text/markdown,text/plain,application/json;q=0.9,*/*;q=0.5';
const TEST_QUERY = 'wikipedia';

export interface WebDeps {
  config: ConfigFile;
  secrets: Pick<Secrets, 'get' | 'source'>;
  version: string;
  /** Turns HTML into Markdown off the engine's thread. Rejects with a ToolError when that takes too long. */
  toMarkdown: (page: { html: string; url: string }, signal: AbortSignal) => Promise<PageText>;
  /** Name look-up; the system's when absent. */
  resolve?: ResolveAll;
  /** Where Brave and Tavily are; their own addresses when absent. */
  endpoints?: SearchEndpoints;
}

/** The web as tools have it, plus what Settings needs to try a search. */
export interface Web extends WebService {
  /** One search with what a form holds; the number of results. Throws ToolError. */
  trySearch: (choice: SearchChoice, signal: AbortSignal) => Promise<number>;
}

/** Web access by `web:` of config.yaml, read anew at each use. */
export function createWebService(deps: WebDeps): Web {
  const { config, secrets, toMarkdown, resolve = resolveAll, endpoints = SEARCH_ENDPOINTS } = deps;
  const userAgent = `Talaria/${deps.version}`;
  const fetcher = (allowPrivate: boolean): Fetch => createFetch({ allowPrivate, resolve, userAgent });
  const reading = (): Fetch => fetcher(config.read().web.allow_private);
  // The address of a search service is the person's own choice and often on this machine.
  const search = (choice: SearchChoice, query: string, limit: number, signal: AbortSignal) => searchWeb(choice, query, limit, { fetch: fetcher(true), endpoints }, signal);
  const missing = (): string | null => searchMissing(config.read().web, secrets);
  return {
    get search() {
      if (missing() !== null) return undefined;
      return async (query: string, limit: number, signal: AbortSignal) => {
        const { web } = config.read();
        const service = web.search;
        if (service === undefined) throw new ToolError(missing() ?? 'No search service is set up.');
        const key = service === 'searxng' ? null : await secrets.get(SEARCH_KEYS[service]);
        return search({ service, address: web.searxng_url ?? null, key }, query, limit, signal);
      };
    },
    get searchMissing() {
      return missing();
    },
    async extract(url, signal) {
      const answer = await reading()(url, { headers: { accept: ACCEPT }, maxBytes: MAX_PAGE_BYTES, timeoutMs: TIMEOUT_MS, redirects: MAX_REDIRECTS, signal });
      refuseErrorPage(url, answer.status);
      const kind = kindOf(answer.url, answer.contentType, answer.bytes);
      const text = decode(answer.bytes, answer.contentType, kind);
      // as long a text is refused in any case; looking at each of its characters would only hold up the engine
      if (kind === 'text' && text.length > MAX_TEXT_CHARS) throw new ToolError(`${url} has ${text.length.toLocaleString('en-US')} characters and was not read. Download it in the terminal and search the file.`);
      const page = kind === 'html' ? await toMarkdown({ html: text, url: answer.url }, signal) : { title: '', markdown: visible(text) };
      if (page.markdown.trim() === '') throw new ToolError(`${url} has no readable text; perhaps its content is made by scripts, which are not run here.`);
      return { url: answer.url, ...page };
    },
    async download(url, maxBytes, signal) {
      const answer = await reading()(url, { headers: { accept: 'image/*,*/*;q=0.5' }, maxBytes, timeoutMs: TIMEOUT_MS, redirects: MAX_REDIRECTS, signal });
      refuseErrorPage(url, answer.status);
      return { url: answer.url, bytes: answer.bytes };
    },
    trySearch: async (choice, signal) => (await search(choice, TEST_QUERY, 1, signal)).length,
  };
}

function refuseErrorPage(url: string, status: number): void {
  if (status < 300) return;
  if (status === 401 || status === 403) throw new ToolError(`${url} cannot be read without signing in or refuses programs (${status}).`);
  if (status === 404 || status === 410) throw new ToolError(`There is no page at ${url} (${status}).`);
  if (status === 429) throw new ToolError(`${url} says there were too many requests (429). Try again later.`);
  throw new ToolError(`${url} answered with an error (${status}).`);
}

function searchMissing({ search, searxng_url }: { search?: SearchChoice['service'] | undefined; searxng_url?: string | undefined }, secrets: Pick<Secrets, 'source'>): string | null {
  if (search === undefined) return 'No search service is set up. Choose SearXNG, Brave or Tavily in Settings, Web.';
  if (search === 'searxng') return searxng_url === undefined ? 'The address of SearXNG is missing. Set it in Settings, Web.' : null;
  const key = SEARCH_KEYS[search];
  return secrets.source(key) === 'none' ? `The key of ${search === 'brave' ? 'Brave Search' : 'Tavily'} is missing. Set it in Settings, Web, or as ${key.keyEnv}.` : null;
}
