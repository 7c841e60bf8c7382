import { isUtf8 } from 'node:buffer';
import { parse, type Parser } from 'csv-parse';
import { MAX_LINE_BYTES, type RawItem } from './types.ts';
import { fileError, reject } from './words.ts';

interface CsvRecord {
  /** Line on which it begins, from 1. */
  line: number;
  fields: Buffer[];
}

/**
 * A table in UTF-8 (RFC 4180, read leniently: quotes inside of unquoted fields are characters, CR and LF and both end a line). The first
 * record names the columns. Cells are texts; an empty one is absent. Rows with another number of fields than the first are rejected.
 * Throws BatchError `invalid` when the names cannot be used.
 */
export async function openCsv(name: string, stream: AsyncIterable<Buffer>, delimiter: string): Promise<{ header: string[]; items: AsyncGenerator<RawItem> }> {
  const records = readRecords(name, stream, delimiter);
  for (;;) {
    const { value, done } = await records.next();
    if (done) return { header: [], items: (async function* () {})() };
    if ('type' in value) continue;
    const header = columnNames(name, value.fields);
    return { header, items: readRows(header, records, delimiter) };
  }
}

async function* readRows(header: string[], records: AsyncGenerator<CsvRecord | RawItem>, delimiter: string): AsyncGenerator<RawItem> {
  for await (const record of records) {
    if ('type' in record) {
      yield record;
      continue;
    }
    const { line, fields } = record;
    const text = (): string => fields.map((f) => f.toString()).join(delimiter);
    const broken = fields.findIndex((field) => !isUtf8(field));
    if (broken >= 0) {
      const column = header[broken] ?? String(broken + 1);
      yield reject(line, 'encoding', { encoding: 'UTF-8', column }, `The bytes in the column "${column}" are not valid UTF-8. Save the table as UTF-8.`, text());
      continue;
    }
    // a delimiter too many at the end of every line is common
    if (fields.length < header.length || fields.slice(header.length).some((f) => f.length > 0)) {
      const [count, expected] = [fields.length, header.length];
      yield reject(line, 'fields', { count, expected }, `The row has ${count} ${count === 1 ? 'field' : 'fields'}, the first line of the table ${expected}.`, text());
      continue;
    }
    const cells = header.map((column, i) => [column, fields[i]!.toString()] as const).filter(([, cell]) => cell !== '');
    yield { type: 'record', line, value: Object.fromEntries(cells), excerpt: text };
  }
}

function columnNames(name: string, fields: Buffer[]): string[] {
  if (fields.some((field) => !isUtf8(field))) throw fileError(`The names of the columns in ${name} are not valid UTF-8. Save the table as UTF-8.`);
  const texts = fields.map((field) => field.toString().trim());
  // a delimiter at the end
  while (texts.length > 1 && texts.at(-1) === '') texts.pop();
  const names = texts.map((text, i) => text || `column_${i + 1}`);
  const twice = names.find((column, i) => names.indexOf(column) !== i);
  if (twice !== undefined) {
    const [a, b] = [names.indexOf(twice) + 1, names.lastIndexOf(twice) + 1];
    throw fileError(`${name} has two columns called "${twice}" (${a} and ${b}). Give each its own name in the first line.`);
  }
  return names;
}

/** Records with the lines that they begin on, blank lines, and a last one whose quote is never closed. */
async function* readRecords(name: string, stream: AsyncIterable<Buffer>, delimiter: string): AsyncGenerator<CsvRecord | RawItem> {
  let ready: (CsvRecord | RawItem)[] = [];
  // where the line feeds are that no record has passed yet, counted from the beginning like `bytes` of the parser
  let feeds: number[] = [];
  let passed = 0;
  let line = 1;
  let oversize = false;
  const parser: Parser = parse({
    encoding: null,
    delimiter: Buffer.from(delimiter),
    relax_column_count: true,
    relax_quotes: true,
    max_record_size: MAX_LINE_BYTES,
    skip_records_with_error: true,
    on_record: (record: unknown, { bytes }) => {
      // with no encoding a field is a buffer, whatever the declarations say
      const fields = record as Buffer[];
      ready.push(fields.length === 1 && fields[0]!.length === 0 ? { type: 'blank', line } : { line, fields });
      for (; passed < feeds.length && feeds[passed]! < bytes; passed += 1) line += 1;
      return null;
    },
    on_skip: (error) => {
      if (error?.code === 'CSV_MAX_RECORD_SIZE') oversize = true;
      else ready.push(reject(line, 'open_quote', {}, 'A quote opens in this row and is never closed.', ''));
      return undefined;
    },
  });
  const ended = new Promise<void>((resolve, fail) => parser.once('end', resolve).once('error', fail));
  ended.catch(() => {});
  parser.resume();
  let position = 0;
  for await (const chunk of stream) {
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) feeds.push(position + at);
    position += chunk.length;
    await new Promise<void>((resolve, fail) => parser.write(chunk, (error) => (error ? fail(error) : resolve())));
    if (oversize) throw fileError(`${name}, line ${line}: the row is longer than ${MAX_LINE_BYTES / 1024 ** 2} MB. Is a quote missing there?`);
    feeds = feeds.slice(passed);
    passed = 0;
    const records = ready;
    ready = [];
    yield* records;
  }
  parser.end();
  await ended;
  if (oversize) throw fileError(`${name}, line ${line}: the row is longer than ${MAX_LINE_BYTES / 1024 ** 2} MB. Is a quote missing there?`);
  yield* ready;
}
