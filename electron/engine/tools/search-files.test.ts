import { mkdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { searchFilesTool } from './search-files.ts';
import { openBench } from './testing.ts';
import type { Bench } from './testing.ts';

let bench: Bench;
let root: string;
beforeEach(async () => {
  bench = await openBench();
  root = bench.context.sandbox.root;
});
afterEach(() => bench.close());
const search = (args: Record<string, unknown>): Promise<Record<string, unknown>> => bench.call(searchFilesTool, args);
async function put(path: string, content: string, mtimeS?: number): Promise<void> {
  const real = join(root, path);
  await mkdir(dirname(real), { recursive: true });
  await writeFile(real, content);
  if (mtimeS !== undefined) await utimes(real, mtimeS, mtimeS);
}

describe('content', () => {
  it('gives path, line and text in a stable order, from names with spaces, colons and new lines of any script', async () => {
    await put('b/x:1:y.txt', 'no\nneedle 文\r\n');
    await put('a b.txt', 'needle\n');
    expect(await search({ pattern: 'needle' })).toEqual({
      matches: [
        { path: 'a b.txt', line: 1, text: 'needle' },
        { path: 'b/x:1:y.txt', line: 2, text: 'needle 文' },
      ],
      returned: 2,
      truncated: false,
    });
  });

  it('pages without losing or repeating a match', async () => {
    for (let i = 0; i < 9; i++) await put(`f${i}`, 'hit\nmiss\nhit\n');
    const seen: string[] = [];
    let page = await search({ pattern: 'hit', limit: 5 });
    for (let offset = 0; ; offset += 5, page = await search({ pattern: 'hit', limit: 5, offset })) {
      for (const match of page.matches as { path: string; line: number }[]) seen.push(`${match.path}:${match.line}`);
      if (!page.truncated) break;
      expect(page.hint).toContain(`offset=${offset + 5}`);
    }
    expect(seen).toEqual(Array.from({ length: 9 }, (_, i) => [`f${i}:1`, `f${i}:3`]).flat());
  });

  it('gives the lines around a match, also for the last of a page and for matches side by side', async () => {
    await put('f', 'a\nhit 1\nb\nc\nhit 2\nhit 3\nd\ne\n');
    await put('g', 'hit 4\n');
    expect((await search({ pattern: 'hit', context: 1 })).matches).toEqual([
      { path: 'f', line: 2, text: 'hit 1', before: ['a'], after: ['b'] },
      { path: 'f', line: 5, text: 'hit 2', before: ['c'], after: ['hit 3'] },
      { path: 'f', line: 6, text: 'hit 3', before: ['hit 2'], after: ['d'] },
      { path: 'g', line: 1, text: 'hit 4', before: [], after: [] },
    ]);
    expect((await search({ pattern: 'hit', context: 2, limit: 1 })).matches).toEqual([{ path: 'f', line: 2, text: 'hit 1', before: ['a'], after: ['b', 'c'] }]);
    expect((await search({ pattern: 'hit', context: 2, limit: 2 })).matches).toMatchObject([{ line: 2 }, { line: 5, after: ['hit 3', 'd'] }]);
  });

  it('lists files or counts instead', async () => {
    await put('a', 'x\nx\n');
    await put('b', 'y\n');
    await put('c', 'x\n');
    expect(await search({ pattern: 'x', output_mode: 'files_only' })).toEqual({ files: ['a', 'c'], returned: 2, truncated: false });
    expect(await search({ pattern: 'x', output_mode: 'count', limit: 1 })).toMatchObject({ counts: [{ path: 'a', count: 2 }], returned: 1, truncated: true });
    expect(await search({ pattern: 'x', output_mode: 'count', offset: 1 })).toEqual({ counts: [{ path: 'c', count: 1 }], returned: 1, truncated: false });
  });

  it('keeps to file_glob and path, and takes a pattern that looks like an option', async () => {
    await put('src/a.py', '--files\n');
    await put('src/a.md', '--files\n');
    await put('b.py', '--files\n');
    expect((await search({ pattern: '--files', file_glob: '*.py', path: 'src' })).matches).toEqual([{ path: 'src/a.py', line: 1, text: '--files' }]);
    expect((await search({ pattern: '--files', path: 'b.py' })).matches).toHaveLength(1);
  });

  it('stays small for endless lines and many matches', async () => {
    await put('wide', `hit ${'x'.repeat(3_000_000)}\n`);
    const [match] = (await search({ pattern: 'hit' })).matches as { text: string }[];
    expect(match?.text.length).toBeLessThan(600);
    await put('many', `hit ${'y'.repeat(400)}\n`.repeat(2000));
    const result = await search({ pattern: 'hit', limit: 1000 });
    expect(result.truncated).toBe(true);
    expect(JSON.stringify(result).length).toBeLessThan(100_000);
  });

  it('says what is wrong with a pattern, and that nothing was found', async () => {
    expect((await search({ pattern: 'a(' })).error).toMatch(/not a valid regular expression[^]*unclosed group/);
    expect(await search({ pattern: 'nothing' })).toEqual({ matches: [], returned: 0, truncated: false, hint: expect.stringContaining('Nothing found') });
    expect((await search({ pattern: 'x', path: 'gone' })).error).toMatch(/no folder or file "gone"/);
  });

  it('is not changed by ignore files around the workspace, but keeps to its own', async () => {
    await writeFile(join(bench.folder, '.gitignore'), '*\n');
    await put('.gitignore', 'built/\n');
    await put('built/out', 'needle');
    await put('.hidden', 'needle');
    await put('.git/config', 'needle');
    expect(await search({ pattern: 'needle', output_mode: 'files_only' })).toMatchObject({ files: ['.hidden'] });
  });
});

describe('files', () => {
  it('sorts the newest first and pages', async () => {
    await put('old.py', '', 1000);
    await put('deep/new.py', '', 3000);
    await put('mid.py', '', 2000);
    await put('other.txt', '', 4000);
    expect(await search({ target: 'files', pattern: '*.py' })).toEqual({ files: ['deep/new.py', 'mid.py', 'old.py'], total_count: 3, returned: 3, truncated: false });
    expect(await search({ target: 'files', pattern: '*.py', limit: 1, offset: 1 })).toMatchObject({ files: ['mid.py'], truncated: true });
    expect(await search({ target: 'files', pattern: 'deep/**' })).toMatchObject({ files: ['deep/new.py'] });
    expect(await search({ target: 'files', pattern: '*', file_glob: '*.py', limit: 2 })).toMatchObject({ files: ['deep/new.py', 'mid.py'], total_count: 3, truncated: true });
    expect(await search({ target: 'files', pattern: '*', path: 'deep' })).toMatchObject({ files: ['deep/new.py'] });
  });

  it('takes a plain word as a part of the name, and refuses a broken glob', async () => {
    await put('my-config.yaml', '');
    expect(await search({ target: 'files', pattern: 'config' })).toMatchObject({ files: ['my-config.yaml'] });
    expect((await search({ target: 'files', pattern: '[a' })).error).toMatch(/not a valid glob/);
  });
});

describe('the workspace border', () => {
  it('neither starts outside nor follows links out', async () => {
    await writeFile(join(bench.folder, 'secret.txt'), 'needle');
    await symlink(bench.folder, join(root, 'up'));
    await symlink(join(bench.folder, 'secret.txt'), join(root, 'leak.txt'));
    await bench.context.sandbox.run('mkfifo pipe', { timeoutMs: 10_000, signal: bench.context.signal });
    await put('own.txt', 'needle');
    expect((await search({ pattern: 'needle' })).matches).toEqual([{ path: 'own.txt', line: 1, text: 'needle' }]);
    expect(await search({ target: 'files', pattern: '*.txt' })).toMatchObject({ files: ['own.txt'] });
    for (const path of ['..', '/etc', 'up', 'leak.txt']) expect((await search({ pattern: 'needle', path })).error).toMatch(/outside the workspace/);
  });

  it('ends when the run is interrupted', async () => {
    const stop = new AbortController();
    stop.abort();
    expect(JSON.parse(await searchFilesTool.run({ pattern: 'x' }, { ...bench.context, signal: stop.signal }))).toEqual({ error: 'The search was interrupted.' });
  });
});
