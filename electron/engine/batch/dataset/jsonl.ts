import { TextDecoder } from 'node:util';
import { readLines } from '../lines.ts';
import { decoderName } from './format.ts';
import { readJsonRecord } from './json-text.ts';
import { type Encoding, MAX_LINE_BYTES, type RawItem } from './types.ts';

/** One JSON object a line; LF or CRLF; blank lines are nothing. */
export async function* readJsonl(stream: AsyncIterable<Buffer>, encoding: Encoding, start: number): AsyncGenerator<RawItem> {
  const decoder = new TextDecoder(decoderName(encoding), { fatal: true });
  const unit = encoding.startsWith('utf-16') ? ({ bytes: 2, littleEndian: encoding === 'utf-16le' } as const) : ({ bytes: 1 } as const);
  for await (const line of readLines(stream, { maxBytes: MAX_LINE_BYTES, unit, start })) {
    yield readJsonRecord(line.line, line.bytes, line.length, decoder, 'line');
  }
}
