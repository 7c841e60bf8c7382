import { TextDecoder } from 'node:util';
import { skipFirst } from '../lines.ts';
import { decoderName } from './format.ts';
import type { Encoding } from './types.ts';

/** The same text in UTF-8 without its mark. What UTF-16 cannot say becomes U+FFFD; bytes that are not UTF-8 stay for the reader to find. */
export async function* toUtf8(stream: AsyncIterable<Buffer>, encoding: Encoding, start: number): AsyncGenerator<Buffer> {
  if (!encoding.startsWith('utf-16')) return yield* skipFirst(stream, start);
  const decoder = new TextDecoder(decoderName(encoding));
  for await (const piece of skipFirst(stream, start)) {
    const text = decoder.decode(piece, { stream: true });
    if (text !== '') yield Buffer.from(text);
  }
  const last = decoder.decode();
  if (last !== '') yield Buffer.from(last);
}
