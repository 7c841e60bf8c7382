import { createGunzip, createZstdDecompress } from 'node:zlib';
import type { Compression } from '#shared/contract/datasets.ts';
import { fileError } from './words.ts';

export interface UnpackLimits {
  /** Of the unpacked data. */
  maxBytes: number;
  /** Unpacked to packed, watched once more than `freeBytes` have come out. */
  maxRatio: number;
  freeBytes: number;
}

const GIB = 1024 ** 3;
/** Text packs to a tenth, very regular text to a hundredth. Deflate ends at about 1,030, zstd nowhere. */
const UNPACK_LIMITS: UnpackLimits = { maxBytes: 64 * GIB, maxRatio: 400, freeBytes: GIB / 4 };

/** By the first bytes (RFC 1952 §2.3.1, RFC 8878 §3.1), whatever the file is called. */
export function compressionOf(head: Buffer): Compression {
  if (head[0] === 0x1f && head[1] === 0x8b) return 'gzip';
  if (isZstd(head)) return 'zstd';
  return 'none';
}

/** A frame, or one of those that hold anything else and are skipped. */
function isZstd(head: Buffer): boolean {
  if (head.length < 4) return false;
  const magic = head.readUInt32LE(0);
  return magic === 0xfd2fb528 || (magic & 0xfffffff0) >>> 0 === 0x184d2a50;
}

/**
 * What packed data holds; several packed parts one after the other are one text, as the tools of both formats write and read them.
 * Ends with a zlib error when the data is torn or damaged, and with BatchError `invalid` when it unpacks to more than the limits allow.
 */
export async function* unpack(packed: AsyncIterable<Buffer>, kind: Exclude<Compression, 'none'>, name: string, limits: UnpackLimits = UNPACK_LIMITS): AsyncGenerator<Buffer> {
  let taken = 0;
  let given = 0;
  const counted = (async function* () {
    for await (const chunk of packed) {
      taken += chunk.length;
      yield chunk;
    }
  })();
  for await (const chunk of kind === 'gzip' ? gunzip(counted) : unzstd(counted, name)) {
    given += chunk.length;
    if (given > limits.maxBytes) throw fileError(`${name} unpacks to more than ${sizeOf(limits.maxBytes)}, the limit for a dataset. Split it, or use Parquet.`);
    if (given > limits.freeBytes && given > taken * limits.maxRatio) {
      throw fileError(`${name} unpacks to more than ${limits.maxRatio} times its size, which no real dataset does: it is not read. Unpack it yourself if you trust it.`);
    }
    yield chunk;
  }
}

function sizeOf(bytes: number): string {
  return bytes >= GIB ? `${bytes / GIB} GB` : `${Math.round(bytes / 1024 ** 2)} MB`;
}

async function* gunzip(packed: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const stream = createGunzip();
  const feeding = feed(stream, packed);
  try {
    yield* stream as AsyncIterable<Buffer>;
  } finally {
    stream.destroy();
    await feeding;
  }
}

/** Node's decoder ends where a frame does and leaves the rest unread: the next frame gets a decoder of its own. */
async function* unzstd(packed: AsyncGenerator<Buffer>, name: string): AsyncGenerator<Buffer> {
  try {
    yield* frames(packed, name);
  } finally {
    await packed.return(undefined);
  }
}

async function* frames(packed: AsyncGenerator<Buffer>, name: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for (;;) {
    if (rest.length < 4) {
      const { value, done } = await packed.next();
      if (!done) {
        rest = Buffer.concat([rest, value]);
        continue;
      }
      if (rest.length === 0) return;
    }
    if (!isZstd(rest)) throw fileError(`${name} is damaged: something that is not zstd follows the packed data. Bring the file here again.`);
    const stream = createZstdDecompress();
    // what was handed over and may not have been used, and how much was used before it
    const handed: Buffer[] = [rest];
    let before = 0;
    const first = rest;
    const input = (async function* () {
      yield first;
      while (!stream.readableEnded && !stream.destroyed) {
        const { value, done } = await packed.next();
        if (done) return;
        while (handed.length > 0 && before + handed[0]!.length <= stream.bytesWritten) before += handed.shift()!.length;
        handed.push(value);
        yield value;
      }
    })();
    const feeding = feed(stream, input);
    try {
      yield* stream as AsyncIterable<Buffer>;
    } finally {
      stream.destroy();
      await feeding;
    }
    rest = Buffer.concat(handed).subarray(stream.bytesWritten - before);
  }
}

/** Writes until the input ends or the stream wants no more; an error of the input becomes the stream's. */
async function feed(stream: ReturnType<typeof createGunzip>, input: AsyncIterable<Buffer>): Promise<void> {
  const closed = new Promise<void>((resolve) => stream.once('close', resolve));
  try {
    for await (const chunk of input) {
      // zeros behind the end are nothing, but belong to the file
      if (stream.readableEnded) continue;
      if (stream.destroyed) return;
      const written = new Promise<void>((resolve) => stream.write(chunk, () => resolve()));
      // a decoder that has come to its end never answers
      await Promise.race([written, closed]);
    }
    if (!stream.destroyed) stream.end();
  } catch (error) {
    stream.destroy(error as Error);
  }
}
