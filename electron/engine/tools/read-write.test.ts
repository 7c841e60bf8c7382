import { chmod, link, mkdir, readdir, readFile, stat, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { patchTool } from './patch.ts';
import { readFileTool } from './read-file.ts';
import { RESULT_CAP_CHARS } from './spill.ts';
import { openBench } from './testing.ts';
import type { Bench } from './testing.ts';
import { writeFileTool } from './write-file.ts';

let bench: Bench;
let root: string;
beforeEach(async () => {
  bench = await openBench();
  root = bench.context.sandbox.root;
});
afterEach(() => bench.close());
const read = (args: Record<string, unknown>): Promise<Record<string, unknown>> => bench.call(readFileTool, args);
const write = (path: string, content: string): Promise<Record<string, unknown>> => bench.call(writeFileTool, { path, content });
const put = (path: string, content: string | Buffer): Promise<void> => writeFile(join(root, path), content);

describe('read_file', () => {
  it('numbers the lines and counts them as editors do', async () => {
    await put('a.txt', 'one\r\ntwo\n\nfour');
    expect(await read({ path: 'a.txt' })).toEqual({ path: 'a.txt', content: '     1|one\n     2|two\n     3|\n     4|four', total_lines: 4, file_size: 14, truncated: false });
    await put('b.txt', 'one\n');
    expect(await read({ path: 'b.txt' })).toMatchObject({ total_lines: 1, content: '     1|one' });
    await put('empty', '');
    expect(await read({ path: 'empty' })).toMatchObject({ total_lines: 0, content: '', truncated: false, hint: 'The file is empty.' });
  });

  it('reads a part and says how to go on, until nothing is left', async () => {
    await put('n', Array.from({ length: 1200 }, (_, i) => `line ${i + 1}`).join('\n'));
    const first = await read({ path: 'n' });
    expect(first).toMatchObject({ total_lines: 1200, truncated: true, hint: 'Lines 1 to 500 of 1,200. Go on with offset=501.' });
    const last = await read({ path: 'n', offset: 1199, limit: 10 });
    expect(last).toMatchObject({ truncated: false, content: '  1199|line 1199\n  1200|line 1200' });
    expect((await read({ path: 'n', offset: 1201 })).error).toMatch(/only 1200 lines/);
    expect(((await read({ path: 'n', limit: 99_999 })).content as string).split('\n')).toHaveLength(1200);
  });

  it('never gives more than 2000 lines', async () => {
    await put('n', 'x\n'.repeat(3000));
    expect(((await read({ path: 'n', limit: 5000 })).content as string).split('\n')).toHaveLength(2000);
  });

  it('cuts long lines, and stays whole JSON below the cap of results for many of them', async () => {
    await put('wide', `${'😀'.repeat(5_000)}\n`.repeat(100));
    const result = await read({ path: 'wide', limit: 2000 });
    const lines = (result.content as string).split('\n');
    expect(lines[0]).toMatch(/^ {5}1\|(😀){1000} \[…line cut; it has 20,000 bytes\]$/u);
    expect(result).toMatchObject({ total_lines: 100, truncated: true });
    expect(JSON.stringify(result).length).toBeLessThan(RESULT_CAP_CHARS);
    expect(await read({ path: 'wide', offset: lines.length + 1, limit: 1 })).toMatchObject({ truncated: true });
  });

  it('handles a huge file of one line and characters on piece borders', async () => {
    await put('pieces', `${'é'.repeat(200_000)}\nnext 文字\n`.repeat(3));
    expect(await read({ path: 'pieces', offset: 6 })).toMatchObject({ total_lines: 6, content: '     6|next 文字' });
  });

  it('reads UTF-16 and byte-order marks as text', async () => {
    await put('u16', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('hé\nx\n', 'utf16le')]));
    expect(await read({ path: 'u16' })).toMatchObject({ content: '     1|hé\n     2|x', total_lines: 2 });
    await put('bom', '\ufeffhi\n');
    expect(await read({ path: 'bom' })).toMatchObject({ content: '     1|hi' });
  });

  it('answers for binary files, folders, pipes and missing files instead of hanging or flooding', async () => {
    await put('bin', Buffer.from([1, 2, 0, 3]));
    await truncate(join(root, 'bin'), 200 * 1024 * 1024);
    expect((await read({ path: 'bin' })).error).toMatch(/binary file \(209,715,200 bytes\)/);
    await mkdir(join(root, 'dir'));
    expect((await read({ path: 'dir' })).error).toMatch(/is a folder.*search_files/);
    await bench.context.sandbox.run('mkfifo pipe', { timeoutMs: 10_000, signal: bench.context.signal });
    expect((await read({ path: 'pipe' })).error).toMatch(/not a regular file/);
    await put('settings.json', '{}');
    expect(await read({ path: 'setings.json' })).toEqual({ error: expect.stringContaining('Did you mean "settings.json"?'), similar_files: ['settings.json'] });
    expect((await read({ path: 'zzz/qqq' })).error).toMatch(/search_files/);
  });

  it('warns at the third identical read in a row and refuses the fourth, unless the file changed', async () => {
    await put('a', 'x\n');
    await read({ path: 'a' });
    expect(await read({ path: './a' })).not.toHaveProperty('warning');
    expect(await read({ path: 'a' })).toMatchObject({ content: '     1|x', warning: expect.any(String) });
    expect((await read({ path: 'a' })).error).toMatch(/3 times in a row/);
    expect((await read({ path: 'a', offset: 1, limit: 5 })).error).toBeUndefined();
    await write('a', 'changed\n');
    for (let i = 0; i < 3; i++) expect(await read({ path: 'a' })).toMatchObject({ content: '     1|changed' });
  });
});

describe('write_file', () => {
  it('makes folders, counts bytes and says whether the file is new', async () => {
    expect(await write('a/b/c.txt', 'hé\n')).toEqual({ path: 'a/b/c.txt', bytes_written: 4, created: true });
    expect(await write('a/b/c.txt', '')).toEqual({ path: 'a/b/c.txt', bytes_written: 0, created: false });
    expect(await readFile(join(root, 'a/b/c.txt'), 'utf8')).toBe('');
  });

  // small files and large ones are written in different ways
  it.each([3, 200_000])('keeps permissions, leaves no temporary file and does not write through a hard link (%i characters)', async (length) => {
    await put('run.sh', 'old');
    await chmod(join(root, 'run.sh'), 0o755);
    await link(join(root, 'run.sh'), join(bench.folder, 'outside.sh'));
    expect(await write('run.sh', 'n'.repeat(length))).toMatchObject({ bytes_written: length, created: false });
    expect(await readFile(join(root, 'run.sh'), 'utf8')).toBe('n'.repeat(length));
    expect((await stat(join(root, 'run.sh'))).mode & 0o777).toBe(0o755);
    expect(await readFile(join(bench.folder, 'outside.sh'), 'utf8')).toBe('old');
    expect(await readdir(root)).toEqual(['run.sh']);
  });

  it('answers for folders, files used as folders, and content that is no text', async () => {
    await mkdir(join(root, 'dir'));
    await put('file', '');
    expect((await write('dir', 'x')).error).toMatch(/is a folder/);
    expect((await write('new/', 'x')).error).toMatch(/names a folder/);
    expect((await write('file/x', 'x')).error).toMatch(/a part of the path is a file/);
    expect((await bench.call(writeFileTool, { path: 'x.json', content: { a: 1 } })).error).toMatch(/"content" must be a string, but got \{"a":1\}/);
  });
});

describe('every file tool', () => {
  it.each(['../out.txt', '/etc/hosts', 'link/out.txt', 'dangling', '~root/x', 'a/../../out.txt'])('refuses %s and touches nothing outside', async (path) => {
    await symlink(bench.folder, join(root, 'link'));
    await symlink(join(bench.folder, 'made.txt'), join(root, 'dangling'));
    await writeFile(join(bench.folder, 'out.txt'), 'secret');
    const results = [
      await read({ path }),
      await write(path, 'x'),
      await bench.call(patchTool, { path, old_string: 'secret', new_string: 'x' }),
      await bench.call(patchTool, { mode: 'patch', patch: `*** Add File: ${path}\n+x` }),
      await bench.call(patchTool, { mode: 'patch', patch: `*** Delete File: ${path}` }),
    ];
    for (const result of results) expect(result).toEqual({ error: expect.stringContaining('outside the workspace') });
    expect(await readFile(join(bench.folder, 'out.txt'), 'utf8')).toBe('secret');
    expect(await readdir(bench.folder)).toEqual(['out.txt', 'workspace']);
  });

  it('tells which path it touches, so that the same file is never changed by two calls at once', () => {
    const pathOf = (path: unknown): unknown => writeFileTool.pathOf?.({ path });
    expect([pathOf('./a//b/../c'), pathOf('/x/a'), pathOf('~/a'), pathOf('../a'), pathOf(1)]).toEqual(['a/c', null, null, null, null]);
    expect(patchTool.pathOf?.({ mode: 'patch', path: 'a' })).toBeNull();
    expect(patchTool.pathOf?.({ path: 'a' })).toBe('a');
  });
});
