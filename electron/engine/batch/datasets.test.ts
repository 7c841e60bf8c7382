import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { DatasetService, safeName } from './datasets.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'uploads-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const base64 = (text: string) => Buffer.from(text).toString('base64');

test('pieces become one file that can be inspected', async () => {
  const service = new DatasetService(folder);
  const first = await service.upload({ name: 'my prompts.jsonl', chunk: base64('{"prompt":"a"}\n{"pro'), last: false });
  expect(first.path).toBeNull();
  const { path } = await service.upload({ uploadId: first.uploadId, name: 'my prompts.jsonl', chunk: base64('mpt":"b"}\n'), last: true });
  expect(await service.inspect({ path: path! })).toMatchObject({ name: 'my prompts.jsonl', rows: 2 });
  expect(() => service.inspect({ path: 'relative.jsonl' })).toThrow(expect.objectContaining({ code: 'invalid' }) as Error);
});

// an upload that writes outside its folder, over another one, or without end
test.each([
  ['an id of nobody', { uploadId: '../../etc', chunk: base64('x') }, /not known/],
  ['a piece that is too large', { chunk: base64('x'.repeat(1024 * 1024 + 10)) }, /larger than 1 MB/],
  ['no base64', { chunk: 'ab$c' }, /not valid base64/],
])('%s is refused', async (_name, piece, message) => {
  await expect(new DatasetService(folder).upload({ name: 'a', last: false, ...piece })).rejects.toMatchObject({ code: 'invalid', message: expect.stringMatching(message) as string });
});

test('any name stays inside the upload folder', async () => {
  const service = new DatasetService(folder);
  for (const name of ['../../evil', '..', '.', 'C:\\x\\y.jsonl', 'con', 'a\u0000\u001b[31m/b\u202e.jsonl', '数据.jsonl', ' . ']) {
    const { path } = await service.upload({ name, chunk: base64('x'), last: true });
    expect(relative(folder, path!).split('/')).toHaveLength(2);
    expect(readFileSync(path!, 'utf8')).toBe('x');
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (name) => {
      expect(safeName(name)).toMatch(/^[^/\\.\s\p{C}][^/\\\p{C}]*$/u);
      expect(Buffer.byteLength(`${safeName(name)}.part`)).toBeLessThanOrEqual(255);
    }),
  );
});

test('what was begun over a day ago goes with the next upload, what goes on stays', async () => {
  const old = new DatasetService(folder);
  const begun = await old.upload({ name: 'old', chunk: base64('x'), last: false });
  const done = await old.upload({ name: 'done', chunk: base64('x'), last: true });
  const before = new Date(Date.now() - 25 * 3_600_000);
  utimesSync(join(folder, begun.uploadId, 'old.part'), before, before);
  utimesSync(done.path!, before, before);
  const next = new DatasetService(folder);
  const live = await next.upload({ name: 'live', chunk: base64('x'), last: false });
  expect(readdirSync(folder).sort()).toEqual([done.uploadId, live.uploadId].sort());
  expect(existsSync(done.path!)).toBe(true);
  await expect(next.upload({ uploadId: begun.uploadId, name: 'old', chunk: base64('y'), last: true })).rejects.toMatchObject({ code: 'invalid' });
});
