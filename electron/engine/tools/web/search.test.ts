import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openWebBench, type WebBench } from './testing.ts';

let bench: WebBench;
beforeEach(async () => {
  bench = await openWebBench();
});
afterEach(() => bench.close());

const never = new AbortController().signal;
const KEY = 'BSA-planted-4410f2c9';
const result = (n: number) => ({ title: `Title <strong>${n}</strong> &amp; more`, url: `https://r${n}.example/`, content: `Text\n${n}`, description: `Text\n${n}` });
const web = () => bench.web({ endpoints: { brave: `${bench.origin}/brave`, tavily: `${bench.origin}/tavily` } });
const json = (path: string, body: unknown, status = 200) => bench.on(path, (_, response) => void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body)));
const firstTwo = [
  { title: 'Title 1 & more', url: 'https://r1.example/', snippet: 'Text 1' },
  { title: 'Title 2 & more', url: 'https://r2.example/', snippet: 'Text 2' },
];

it('asks SearXNG at its address, also a private one and one with a path, and gives at most the limit', async () => {
  bench.configure(`web:\n  search: searxng\n  searxng_url: ${bench.origin}/sx/\n`);
  json('/sx/search', { results: [{ ...result(0), url: 'javascript:alert(1)' }, result(1), result(2), result(3), { no: 'url' }] });
  expect(await web().search?.('你好 & b', 2, never)).toEqual(firstTwo);
  expect(new URL(bench.requests[0]!.url, 'http://x').searchParams.get('q')).toBe('你好 & b');
});

it('asks Brave and Tavily with the key, and the key is nowhere else', async () => {
  json('/brave', { web: { results: [result(1), result(2)] } });
  json('/tavily', { results: [result(1), result(2)] });
  bench.configure('web:\n  search: brave\n');
  expect(web().search).toBeUndefined();
  expect(web().searchMissing).toMatch(/key of Brave Search is missing.*BRAVE_API_KEY/);
  await bench.secrets.set({ provider: 'search-brave', keyEnv: 'BRAVE_API_KEY' }, KEY);
  await bench.secrets.set({ provider: 'search-tavily', keyEnv: 'TAVILY_API_KEY' }, KEY);
  expect(await web().search?.('cats', 5, never)).toEqual(firstTwo);
  bench.configure('web:\n  search: tavily\n');
  expect(await web().search?.('cats', 5, never)).toEqual(firstTwo);
  const [brave, tavily] = bench.requests;
  expect(brave?.headers['x-subscription-token']).toBe(KEY);
  expect(brave?.url).toBe('/brave?q=cats&count=5');
  expect(tavily).toMatchObject({ method: 'POST', headers: { authorization: `Bearer ${KEY}` } });
  expect(JSON.parse(tavily!.body)).toEqual({ query: 'cats', max_results: 5 });
  expect(readdirSync(bench.home).filter((name) => readFileSync(join(bench.home, name)).includes(KEY))).toEqual(['.env']);
});

it('says what is missing before it is chosen and set', () => {
  bench.configure('');
  expect(web().searchMissing).toMatch(/No search service.*Settings, Web/);
  bench.configure('web:\n  search: searxng\n');
  expect(web().searchMissing).toMatch(/address of SearXNG is missing/);
});

describe('what goes wrong is said in a sentence', () => {
  it.each([
    ['searxng', 403, /Add "json" to search.formats/],
    ['searxng', 404, /no SearXNG at this address/],
    ['brave', 401, /refused the key/],
    ['brave', 429, /too many searches/],
    ['tavily', 432, /used up/],
    ['tavily', 500, /error \(500\)/],
  ] as const)('%s %i', async (service, status, message) => {
    for (const path of ['/search', '/brave', '/tavily']) json(path, {}, status);
    await expect(web().trySearch({ service, address: bench.origin, key: KEY }, never)).rejects.toMatchObject({ name: 'ToolError', message: expect.stringMatching(message) });
  });

  // Bug: a search service that sends on gets the key sent along to wherever it says.
  it('follows no redirect with a key', async () => {
    bench.on('/brave', (_, response) => void response.writeHead(302, { location: '/elsewhere' }).end());
    await expect(web().trySearch({ service: 'brave', address: null, key: KEY }, never)).rejects.toThrow(/sends on to \/elsewhere/);
    expect(bench.requests.map(({ url }) => url.split('?')[0])).toEqual(['/brave']);
  });

  it('no JSON, an unknown form, nothing found', async () => {
    const searx = { service: 'searxng', address: bench.origin, key: null } as const;
    bench.page('/search', '<html>');
    await expect(web().trySearch(searx, never)).rejects.toThrow(/did not answer with JSON/);
    json('/search', { results: 'x' });
    await expect(web().trySearch(searx, never)).rejects.toThrow(/unknown form/);
    json('/brave', { type: 'search' });
    expect(await web().trySearch({ service: 'brave', address: null, key: KEY }, never)).toBe(0);
  });
});
