import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const ROWS = 60_000;
const TEXT = 'words of a prompt that goes on for a while, as they do, '.repeat(20);

/** A file of 60,000 rows, piece by piece. */
function write(path: string, first: string, row: (i: number) => string, last: string, pack: (text: string) => string | Buffer = (text) => text): void {
  const file = openSync(path, 'w');
  for (let from = 0; from < ROWS; from += 20_000) {
    const text = Array.from({ length: 20_000 }, (_, i) => row(from + i)).join('');
    const bytes = pack((from === 0 ? first : '') + text + (from + 20_000 === ROWS ? last : ''));
    writeSync(file, Buffer.from(bytes));
  }
  closeSync(file);
}

// Bug: a reader that holds what it has read; the heap of this child is a fraction of each file.
test('60,000 rows are read in a heap that could not hold them', { timeout: 120_000 }, () => {
  const dir = mkdtempSync(join(tmpdir(), 'memory-test-'));
  try {
    const object = (i: number): string => JSON.stringify({ prompt: `${i} ${TEXT}`, answer: String(i) });
    write(join(dir, 'a.jsonl.gz'), '', (i) => `${object(i)}\n`, '', (text) => gzipSync(text, { level: 1 }));
    write(join(dir, 'b.json'), '[', (i) => `${i === 0 ? '' : ',\n'}${object(i)}`, ']');
    write(join(dir, 'c.csv'), 'prompt,answer\n', (i) => `"${i} ${TEXT}",${i}\n`, '');
    const script = join(dir, 'read.mjs');
    writeFileSync(
      script,
      `const { readDataset } = await import(${JSON.stringify(new URL('../dataset.ts', import.meta.url).href)});
      const counts = [];
      for (const name of ['a.jsonl.gz', 'b.json', 'c.csv']) {
        let rows = 0;
        for await (const item of readDataset(${JSON.stringify(dir)} + '/' + name)) if (item.type === 'row') rows += 1;
        counts.push(rows);
      }
      console.log(counts.join());`,
    );
    const said = execFileSync(process.execPath, ['--max-old-space-size=64', script], { encoding: 'utf8' });
    expect(said.trim()).toBe(`${ROWS},${ROWS},${ROWS}`);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
