import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { patchTool } from './patch.ts';
import { openBench } from './testing.ts';

test('several agents change one file at the same time: no change is lost, and all are told what they changed', async () => {
  // Bug: both read the file, the checkpoint before their change takes a while, and the second to write takes the first one's change back.
  const bench = await openBench();
  try {
    const root = bench.context.sandbox.root;
    const names = ['a', 'b', 'c', 'd', 'e', 'f'];
    await writeFile(join(root, 'list.txt'), names.map((name) => `${name}: old\n`).join(''));
    const all = Promise.withResolvers<void>();
    let planned = 0;
    bench.context.services.beforeChange = () => (++planned >= names.length && all.resolve(), all.promise);
    const results = await Promise.all(
      names.map((name, i) =>
        bench.call(patchTool, i % 2 === 0 ? { path: 'list.txt', old_string: `${name}: old`, new_string: `${name}: new` } : { mode: 'patch', patch: `*** Update File: list.txt\n-${name}: old\n+${name}: new\n` }),
      ),
    );
    expect(results.map((r) => r['error'])).toEqual(names.map(() => undefined));
    expect(await readFile(join(root, 'list.txt'), 'utf8')).toBe(names.map((name) => `${name}: new\n`).join(''));
    for (const [i, { diff }] of results.entries()) expect((diff as string).match(/^\+\w: new/gm)).toEqual([`+${names[i]!}: new`]);
  } finally {
    await bench.close();
  }
});
