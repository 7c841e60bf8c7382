import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ParquetLimits, openParquet } from './parquet-reader.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'parquet-hostile-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** The first records; the file is closed afterwards. */
async function read(content: Uint8Array, limits: ParquetLimits, records = Infinity): Promise<unknown[]> {
  const path = join(dir, 'data.parquet');
  writeFileSync(path, content);
  const file = await open(path);
  try {
    const found: unknown[] = [];
    for await (const item of (await openParquet('data.parquet', file, limits)).items) {
      found.push(item);
      if (found.length === records) break;
    }
    return found;
  } finally {
    await file.close();
  }
}

const good = (rows = 3): Uint8Array => new Uint8Array(parquetWriteBuffer({ columnData: [{ name: 'prompt', data: Array.from({ length: rows }, (_, i) => `p ${i}`), type: 'STRING' }] }));

/** A page that says “null” 130 million times where it has room for a million. */
function bomb(): Uint8Array {
  const rows = 1_050_000;
  const bytes = new Uint8Array(parquetWriteBuffer({ columnData: [{ name: 'prompt', data: Array.from({ length: rows }, () => null), type: 'STRING', nullable: true }], rowGroupSize: rows, codec: 'UNCOMPRESSED' }));
  // the number stands four times in front: values, nulls and rows in the page's header, and then the length of the only run
  const count = varint(rows * 2);
  let at = -1;
  for (let i = 0; i < 4; i += 1) at = Buffer.from(bytes).indexOf(count, at + 1);
  expect(at).toBeGreaterThan(0);
  bytes.set(varint(130_000_000 * 2), at);
  return bytes;
}

/** LEB128 */
function varint(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; bytes.length === 0 || rest > 0; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | (rest >= 128 ? 128 : 0));
  return Uint8Array.from(bytes);
}

// Bug: a small file that was made for it fills the memory of the engine, which ends with everything that runs in it.
test('a page that unfolds to more than the memory allows costs its worker, and the next file is read', async () => {
  await expect(read(bomb(), { heapMb: 64 })).rejects.toMatchObject({ code: 'invalid', field: 'datasetFile', message: expect.stringContaining('more than 64 MB of memory') as string });
  expect(await read(good(), {})).toHaveLength(3);
});

// Bug: a file whose decoder goes on for ever holds up the whole engine, or whoever asked waits for ever.
test('a decoder that falls silent is ended', async () => {
  const content = bomb();
  let ticks = 0;
  const clock = setInterval(() => (ticks += 1), 1);
  await expect(read(content, { silenceMs: 50 })).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('no end within 0.05 seconds') as string });
  clearInterval(clock);
  // the engine's thread went on meanwhile
  expect(ticks).toBeGreaterThan(1);
  expect(await read(good(), {})).toHaveLength(3);
});

// Bug: a reader that is given up, as by a limit of rows, leaves its worker decoding or spoils the one of the next file.
test('files that are read in part or at once have decoders of their own', async () => {
  expect(await read(good(5_000), {}, 700)).toHaveLength(700);
  const all = await Promise.all([good(1_200), good(1_200), good(1_200)].map(async (content, i) => {
    const path = join(dir, `${i}.parquet`);
    writeFileSync(path, content);
    const file = await open(path);
    const lines: number[] = [];
    for await (const item of (await openParquet('x', file)).items) lines.push(item.line);
    await file.close();
    return lines;
  }));
  for (const lines of all) expect(lines).toEqual(Array.from({ length: 1_200 }, (_, i) => i + 1));
});
