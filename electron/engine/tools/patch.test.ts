import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { applyPatch } from 'diff';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isToolFailure } from './failure.ts';
import { patchTool } from './patch.ts';
import { openBench } from './testing.ts';
import type { Bench } from './testing.ts';

let bench: Bench;
let root: string;
beforeEach(async () => {
  bench = await openBench();
  root = bench.context.sandbox.root;
});
afterEach(() => bench.close());
const call = (args: Record<string, unknown>): Promise<Record<string, unknown>> => bench.call(patchTool, args);
const patch = (text: string): Promise<Record<string, unknown>> => call({ mode: 'patch', patch: text });
const put = (path: string, content: string | Buffer): Promise<void> => writeFile(join(root, path), content);
const get = (path: string): Promise<string> => readFile(join(root, path), 'utf8');

describe('mode replace', () => {
  it('changes one place and gives a diff that is true', async () => {
    const before = Array.from({ length: 20 }, (_, i) => `line ${i}\n`).join('');
    await put('a.txt', before);
    const result = await call({ path: 'a.txt', old_string: 'line 9\n', new_string: 'nine\n' });
    expect(result).toMatchObject({ success: true, files_modified: ['a.txt'], files_created: [], files_deleted: [], replacements: 1 });
    expect(result).not.toHaveProperty('matched');
    expect(result.diff).toMatch(/^--- a\/a\.txt\n\+\+\+ b\/a\.txt\n@@ -7,7 \+7,7 @@\n/);
    expect(applyPatch(before, result.diff as string)).toBe(await get('a.txt'));
    expect(isToolFailure(JSON.stringify(result))).toBe(false);
  });

  it('says which strategy matched when it was not exact', async () => {
    await put('a.py', 'def f():\n    return 1\n');
    expect(await call({ path: 'a.py', old_string: 'def  f():\n    return 1', new_string: 'def g():\n    return 1' })).toMatchObject({ matched: 'whitespace_normalised' });
    expect(await get('a.py')).toBe('def g():\n    return 1\n');
  });

  it('asks for a unique text, or replaces all when told to', async () => {
    await put('a', 'x\ny\nx\n');
    const { error } = await call({ path: 'a', old_string: 'x', new_string: 'z' });
    expect(error).toMatch(/2 times in "a" \(lines 1, 3\).*replace_all/);
    expect(await get('a')).toBe('x\ny\nx\n');
    expect(await call({ path: 'a', old_string: 'x', new_string: 'z', replace_all: true })).toMatchObject({ replacements: 2 });
    expect(await get('a')).toBe('z\ny\nz\n');
  });

  it('shows the nearest lines when nothing matches, and notices a change that is made already', async () => {
    await put('a', 'alpha = compute(1)\nbeta = 2\n');
    expect(await call({ path: 'a', old_string: 'alpha = compute_all(7)', new_string: 'q' })).toEqual({
      error: expect.stringMatching(/does not stand in "a".*copy old_string/),
      closest_lines: '1|alpha = compute(1)\n2|beta = 2',
    });
    expect((await call({ path: 'a', old_string: 'beta equals one', new_string: 'beta = 2' })).error).toMatch(/made already/);
  });

  it.each<[Record<string, unknown>, RegExp]>([
    [{ path: 'a', old_string: 'x', new_string: 'x' }, /are the same/],
    [{ path: 'a', old_string: '', new_string: 'x' }, /old_string is empty.*write_file/],
    [{ path: 'a', new_string: 'x' }, /missing: old_string/],
    [{ path: 'a', old_string: 'x' }, /missing: new_string.*""/],
    [{ old_string: 'x', new_string: 'y' }, /missing: path/],
    [{ mode: 'patch' }, /needs the parameter "patch"/],
    [{ mode: 'edit', path: 'a' }, /one of "replace", "patch"/],
    [{ path: 'none', old_string: 'x', new_string: 'y' }, /no file "none"/],
    [{ path: '.', old_string: 'x', new_string: 'y' }, /is a folder/],
    [{ path: 'bin', old_string: 'x', new_string: 'y' }, /binary/],
    [{ path: 'latin', old_string: 'x', new_string: 'y' }, /not UTF-8/],
    [{ path: 'big', old_string: 'x', new_string: 'y' }, /too large to patch/],
  ])('explains %j', async (args, message) => {
    await put('a', 'x\n');
    await put('bin', Buffer.from('x\0y'));
    await put('latin', Buffer.from([0x78, 0xe9]));
    if (args['path'] === 'big') await put('big', 'x'.repeat(4 * 1024 * 1024 + 1));
    expect((await call(args)).error).toMatch(message);
    expect(await get('a')).toBe('x\n');
  });

  it('keeps byte-order mark, permissions and line ends', async () => {
    await put('a.sh', '\ufeffone\r\ntwo\r\n');
    await chmod(join(root, 'a.sh'), 0o750);
    await call({ path: 'a.sh', old_string: 'one\ntwo\n', new_string: 'one\n2\n' });
    expect(await get('a.sh')).toBe('\ufeffone\r\n2\r\n');
    expect((await stat(join(root, 'a.sh'))).mode & 0o777).toBe(0o750);
  });

  it('does not flood the result with the diff of a whole file', async () => {
    await put('a', 'x\n'.repeat(30_000));
    const result = await call({ path: 'a', old_string: 'x', new_string: 'y', replace_all: true });
    expect(result).toMatchObject({ success: true, replacements: 30_000 });
    expect((result.diff as string).length).toBeLessThan(31_000);
  });
});

describe('mode patch (V4A)', () => {
  it('adds, updates, deletes and moves in one go', async () => {
    await put('a.py', 'import os\n\ndef f():\n    return 1\n\ndef g():\n    return 1\n');
    await put('old.txt', 'bye\n');
    await put('tool.sh', 'echo\n');
    await chmod(join(root, 'tool.sh'), 0o755);
    const result = await patch(
      '*** Begin Patch\n*** Update File: a.py\n@@ def g():\n-    return 1\n+    return 2\n*** Add File: new/b.txt\n+one\n+\n+two\n*** Delete File: old.txt\n*** Move File: tool.sh -> bin/tool.sh\n*** End Patch\n',
    );
    expect(result).toMatchObject({ success: true, files_modified: ['a.py'], files_created: ['new/b.txt', 'bin/tool.sh'], files_deleted: ['old.txt', 'tool.sh'] });
    expect(result.diff).toContain('--- /dev/null\n+++ b/new/b.txt\n');
    expect(await get('a.py')).toBe('import os\n\ndef f():\n    return 1\n\ndef g():\n    return 2\n');
    expect(await get('new/b.txt')).toBe('one\n\ntwo\n');
    expect((await stat(join(root, 'bin/tool.sh'))).mode & 0o777).toBe(0o755);
    expect((await readdir(root)).sort()).toEqual(['a.py', 'bin', 'new']);
  });

  it('follows nested anchors, several hunks, and an update with "Move to"', async () => {
    await put('a.py', 'class A:\n    def run(self):\n        pass\n\nclass B:\n    def run(self):\n        pass\n\nx = 1\n');
    await patch('*** Update File: a.py\n*** Move to: b.py\n@@ class B:\n@@     def run(self):\n-        pass\n+        return 2\n@@\n-x = 1\n+x = 2\n');
    expect(await get('b.py')).toBe('class A:\n    def run(self):\n        pass\n\nclass B:\n    def run(self):\n        return 2\n\nx = 2\n');
    await expect(get('a.py')).rejects.toThrow();
  });

  it('takes an anchor that is repeated as context, unified line numbers, a code fence and blank context lines', async () => {
    await put('a', 'def f():\n    a = 1\n\n    b = 2\n');
    await patch('```\n*** Begin Patch\n*** Update File: a\n@@ def f():\n def f():\n     a = 1\n\n-    b = 2\n+    b = 3\n*** End Patch\n```');
    expect(await get('a')).toBe('def f():\n    a = 1\n\n    b = 3\n');
    await patch('*** Update File: a\n@@ -1,2 +1,2 @@\n def f():\n-    a = 1\n+    a = 9\n');
    expect(await get('a')).toContain('a = 9');
  });

  it('inserts below an anchor, and at the end with and without a last line end', async () => {
    await put('a', 'one\ntwo');
    await patch('*** Update File: a\n@@ one\n+one and a half\n@@\n+three\n*** End of File');
    expect(await get('a')).toBe('one\none and a half\ntwo\nthree');
    await put('empty', '');
    await patch('*** Update File: empty\n+first\n');
    expect(await get('empty')).toBe('first\n');
  });

  it('changes nothing at all when one part does not fit', async () => {
    await put('a', 'one\n');
    await put('b', 'two\n');
    const result = await patch('*** Add File: c\n+new\n*** Update File: a\n-one\n+ONE\n*** Update File: b\n-three\n+THREE\n');
    expect(result.error).toMatch(/line 7 of the patch does not fit "b".*Nothing was changed/);
    expect((await readdir(root)).sort()).toEqual(['a', 'b']);
    expect(await get('a')).toBe('one\n');
  });

  it('puts earlier files back when a later one cannot be written', async () => {
    await put('a', 'one\n');
    await put('file', '');
    const result = await patch('*** Update File: a\n-one\n+ONE\n*** Add File: new.txt\n+x\n*** Add File: file/below\n+x\n');
    expect(result.error).toMatch(/a part of the path is a file.*Nothing was changed/);
    expect(await get('a')).toBe('one\n');
    expect((await readdir(root)).sort()).toEqual(['a', 'file']);
  });

  it('leaves untouched and kept lines byte for byte, mixed line ends included', async () => {
    await put('a', 'top\r\nkeep  \r\nold\r\nmixed\n\tend');
    await patch('*** Update File: a\n keep\n-old\n+new\n mixed\n');
    expect(await get('a')).toBe('top\r\nkeep  \r\nnew\r\nmixed\n\tend');
  });

  it('indents new lines as the file is', async () => {
    await put('a', 'class A:\n\tdef f(self):\n\t\treturn 1\n');
    await patch('*** Update File: a\n def f(self):\n-    return 1\n+    if x:\n+        return 2\n');
    expect(await get('a')).toBe('class A:\n\tdef f(self):\n\t\tif x:\n\t\t\treturn 2\n');
  });

  it('applies two updates of one file in order, and a file added and changed in the same patch', async () => {
    await put('a', 'one\n');
    await patch('*** Update File: a\n-one\n+two\n*** Update File: ./a\n-two\n+three\n*** Add File: b\n+x\n*** Update File: b\n-x\n+y\n');
    expect([await get('a'), await get('b')]).toEqual(['three\n', 'y\n']);
  });

  it.each([
    ['', /needs the parameter "patch"/],
    ['hello', /line 1 \("hello"\) a file header is expected/],
    ['*** Begin Patch\n*** End Patch', /changes no file[^]*Update File/],
    ['*** Update File: a\nno prefix', /line 2.*starts with a space/],
    ['*** Update File: a\n same', /has no changes/],
    ['*** Add File: b\nplain', /starts with "\+"/],
    ['*** Move File: a', /old\/path -> new\/path/],
    ['*** Add File: a\n+x', /"a" exists already.*Update File/],
    ['*** Move File: a -> b.txt', /"b.txt" exists already/],
    ['*** Delete File: gone', /no file "gone"/],
    ['*** Update File: gone\n-x\n+y', /no file "gone"/],
    ['*** Delete File: a\n*** Update File: a\n-x\n+y', /deleted earlier/],
    ['*** Update File: a\n@@ nowhere\n-x\n+y', /"@@ nowhere" does not stand in "a"/],
    ['*** Update File: a\n-x\n+y', /fits 2 places of "a" \(lines 1, 3\)/],
    ['*** Update File: a\n-x\n+x\n z', /changes nothing/],
  ])('explains %j', async (text, message) => {
    await put('a', 'x\nz\nx\n');
    await put('b.txt', '');
    expect((await patch(text)).error).toMatch(message);
    expect(await get('a')).toBe('x\nz\nx\n');
  });

  it('keeps to the workspace for every path of the patch', async () => {
    await put('a', 'x\n');
    await mkdir(join(bench.folder, 'beside'));
    for (const text of ['*** Move File: a -> ../beside/a', '*** Update File: a\n*** Move to: ../beside/a\n-x\n+y', '*** Add File: /etc/x\n+x']) {
      expect((await patch(text)).error).toMatch(/outside the workspace/);
    }
    expect(await readdir(join(bench.folder, 'beside'))).toEqual([]);
    expect(await get('a')).toBe('x\n');
  });
});
