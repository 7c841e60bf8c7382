import { gzipSync, zstdCompressSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { unpack } from './unpack.ts';

async function sizeOf(bytes: Buffer, kind: 'gzip' | 'zstd', piece: number, limits?: Parameters<typeof unpack>[3]): Promise<number> {
  const pieces = (async function* () {
    for (let at = 0; at < bytes.length; at += piece) yield bytes.subarray(at, at + piece);
  })();
  let size = 0;
  for await (const chunk of unpack(pieces, kind, 'a.gz', limits)) size += chunk.length;
  return size;
}

const text = Buffer.from(Array.from({ length: 3_000 }, (_, i) => `line ${(i * 7919) % 10_007}`).join('\n'));

// Bug: where a frame ends inside of a piece, the rest of the piece is lost or read twice.
test('frames are found wherever pieces are cut', async () => {
  const z = zstdCompressSync(text);
  const skippable = Buffer.concat([Buffer.from([0x50, 0x2a, 0x4d, 0x18, 4, 0, 0, 0]), Buffer.from('abcd')]);
  for (const piece of [1, 3, 1000, z.length, z.length + 1, 1_000_000]) {
    expect(await sizeOf(Buffer.concat([z, z, skippable, z]), 'zstd', piece)).toBe(text.length * 3);
    await expect(sizeOf(Buffer.concat([z, z.subarray(0, -1)]), 'zstd', piece)).rejects.toMatchObject({ code: 'Z_BUF_ERROR' });
  }
});

// Bug: a small file fills the memory or the disk, or keeps the engine busy for hours.
test('what unpacks to more than the limits is refused while it is unpacked', async () => {
  const zeros = Buffer.alloc(30_000_000);
  const pack = { gzip: gzipSync(zeros), zstd: zstdCompressSync(zeros) };
  for (const kind of ['gzip', 'zstd'] as const) {
    await expect(sizeOf(pack[kind], kind, 65_536, { maxBytes: 10 * 1024 ** 2, maxRatio: Infinity, freeBytes: 0 })).rejects.toThrow(/unpacks to more than 10 MB, the limit/);
    await expect(sizeOf(pack[kind], kind, 65_536, { maxBytes: Infinity, maxRatio: 100, freeBytes: 1_000_000 })).rejects.toThrow(/more than 100 times its size/);
    expect(await sizeOf(pack[kind], kind, 65_536)).toBe(zeros.length);
  }
});

// Bug: a reader that stops early leaves decoders and files open, or waits for them for ever.
test('reading may stop at any time', async () => {
  const packed = zstdCompressSync(Buffer.alloc(5_000_000, 'abc'));
  let closed = false;
  const source = (async function* () {
    try {
      for (;;) yield packed;
    } finally {
      closed = true;
    }
  })();
  const reading = unpack(source, 'zstd', 'a.zst');
  await reading.next();
  await reading.return(undefined);
  expect(closed).toBe(true);
});
