import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { serveBundle } from './bundle.ts';

const SECRET = 'outside the bundle';
let folder: string;
let root: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'talaria-bundle-'));
  root = join(folder, 'renderer');
  mkdirSync(join(root, 'assets'), { recursive: true });
  writeFileSync(join(folder, 'secret.txt'), SECRET);
  writeFileSync(join(root, 'index.html'), '<head><!--talaria-host--></head>');
  writeFileSync(join(root, 'assets', 'app.js'), 'export {}');
  writeFileSync(join(root, 'assets', 'odd.xyz'), 'x');
  writeFileSync(join(root, '.env.txt'), SECRET);
  symlinkSync(join(folder, 'secret.txt'), join(root, 'assets', 'link.txt'));
  symlinkSync(folder, join(root, 'up'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const get = (url: string, method = 'GET'): Promise<Response> => serveBundle(root, { url, method });

test('the page gets its host and a style nonce that the policy of the same answer names', async () => {
  const first = await get('app://bundle/');
  const html = await first.text();
  const nonce = /talaria-style-nonce" content="([^"]+)"/.exec(html)?.[1];
  expect(html).toContain('<meta name="talaria-host" content="desktop">');
  expect(first.headers.get('content-security-policy')).toContain(`'nonce-${nonce}'`);
  // A nonce that stays the same is none.
  expect((await get('app://bundle/')).headers.get('content-security-policy')).not.toContain(`'nonce-${nonce}'`);
});

test('files have their type and may not be taken for another', async () => {
  const script = await get('app://bundle/assets/app.js');
  expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(script.headers.get('x-content-type-options')).toBe('nosniff');
  expect((await get('app://bundle/assets/odd.xyz')).headers.get('content-type')).toBe('application/octet-stream');
});

test.each([
  'app://bundle/..%2fsecret.txt', 'app://bundle/%2e%2e/secret.txt', 'app://bundle/assets/..%2f..%2fsecret.txt', 'app://bundle/..%5csecret.txt',
  'app://bundle/%2e%2e%5csecret.txt', 'app://bundle/index.html%00.js', 'app://bundle/assets/link.txt', 'app://bundle/up/secret.txt', 'app://bundle/.env.txt',
  'app://bundle/c:%2fwindows%2fwin.ini', 'app://bundle/%', 'app://bundle/assets/none.js', 'app://bundle/assets', 'app://bundle/assets/', 'app://bundle/library', 'app://other/index.html', 'app://x@bundle/index.html',
])('%s is a 404', async (url) => {
  const answer = await get(url);
  expect(answer.status).toBe(404);
  expect(await answer.text()).not.toContain(SECRET);
});

test('whatever the path, nothing outside the bundle comes out, and every answer has the policy', async () => {
  const piece = fc.constantFrom('..', '.', '%2e', '%2f', '%5c', '/', '\\', 'up', 'secret.txt', 'assets', 'link.txt', '%00', '%252e', ':', '?', '#', '%c0%ae');
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 8 }), async (pieces) => {
      const answer = await get(`app://bundle/${pieces.join('')}`);
      expect(await answer.text()).not.toContain(SECRET);
      expect(answer.headers.get('content-security-policy')).toContain(`default-src 'none'`);
    }),
    { numRuns: 200 },
  );
});

test('only reading is possible, and HEAD has no body', async () => {
  expect((await get('app://bundle/', 'POST')).status).toBe(405);
  expect(await (await get('app://bundle/', 'HEAD')).text()).toBe('');
});
