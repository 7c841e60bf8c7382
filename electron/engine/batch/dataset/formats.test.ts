import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync, zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DatasetItem, type DatasetRow, hashFile, inspectDataset, readDataset } from '../dataset.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'formats-test-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let files = 0;
function file(content: string | Uint8Array | ArrayBuffer, name = 'data.bin'): string {
  const path = join(dir, `${(files += 1)}-${name}`);
  writeFileSync(path, content instanceof ArrayBuffer ? new Uint8Array(content) : content);
  return path;
}

async function items(path: string, columns?: Record<string, string>): Promise<DatasetItem[]> {
  const found: DatasetItem[] = [];
  for await (const item of readDataset(path, columns ? { columns } : {})) found.push(item);
  return found;
}

async function rows(path: string): Promise<DatasetRow[]> {
  return (await items(path)).flatMap((item) => (item.type === 'row' ? [item] : []));
}

const told = (list: DatasetItem[]): string[] => list.flatMap((item) => (item.type === 'row' ? [`${item.line} ${item.prompt}`] : item.type === 'rejected' ? [`${item.line} ! ${item.reason}`] : []));

const TEN = Array.from({ length: 10 }, (_, i) => ({ id: `r${i}`, prompt: `Line one of ${i},\n"quoted"; 第二行\t`, answer: `a${i % 3}`, level: `L${i}` }));
const jsonl = (list: object[]): string => list.map((row) => `${JSON.stringify(row)}\n`).join('');
const csvCell = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const table = (list: Record<string, string>[], delimiter: string): string =>
  [Object.keys(list[0]!), ...list.map((row) => Object.values(row))].map((cells) => cells.map(csvCell).join(delimiter)).join('\r\n');
const parquet = (list: Record<string, unknown>[], more: object = {}): ArrayBuffer =>
  parquetWriteBuffer({ columnData: Object.keys(list[0]!).map((name) => ({ name, data: list.map((row) => row[name]), type: 'STRING' as const })), ...more });
const PACK = { plain: (b: Uint8Array) => b, gz: (b: Uint8Array) => gzipSync(b), zst: (b: Uint8Array) => zstdCompressSync(b) };

describe('the same rows in every format', () => {
  const turned = TEN.map(({ id, prompt, answer, level }) => ({ level, answer, id, prompt }));
  const formats: [string, () => string | ArrayBuffer, string][] = [
    ['jsonl', () => jsonl(turned), 'jsonl'],
    ['json', () => JSON.stringify(TEN), 'json'],
    ['json over lines', () => `\ufeff${JSON.stringify(TEN, null, 2)}\n`, 'json'],
    ['json in an object', () => JSON.stringify({ version: '1.0', data: TEN, splits: ['a'] }), 'json'],
    ['csv', () => `\ufeff${table(TEN, ',')}`, 'csv'],
    ['csv with semicolons', () => table(turned, ';'), 'csv'],
    ['tsv', () => table(TEN, '\t'), 'tsv'],
    ['parquet', () => parquet(turned), 'parquet'],
    ['parquet of small groups', () => parquet(TEN, { rowGroupSize: 3, codec: 'UNCOMPRESSED' }), 'parquet'],
  ];
  // Bug: a run resumed with the dataset saved in another format pays for every row again, or a name decides instead of the content.
  test.each(formats)('%s: equal prompts, columns and hashes, plain and packed', async (_name, make, format) => {
    const expected = (await rows(file(jsonl(TEN)))).map(({ prompt, hash, row }) => ({ prompt, hash, row }));
    const content = make();
    const bytes = typeof content === 'string' ? Buffer.from(content) : new Uint8Array(content);
    for (const [packed, pack] of Object.entries(PACK)) {
      const path = file(pack(bytes), 'misleading.txt');
      const all = await items(path);
      expect(all.flatMap((item) => (item.type === 'row' ? [{ prompt: item.prompt, hash: item.hash, row: item.row }] : []))).toEqual(expected);
      expect(all.at(-1)).toMatchObject({ type: 'end', format, compression: packed === 'plain' ? 'none' : packed === 'gz' ? 'gzip' : 'zstd', sha256: await hashFile(path) });
    }
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('talaria-dataset-') && existsSync(join(tmpdir(), name, 'data.parquet')))).toEqual([]);
  });

  // Bug: quotes, line ends and separators inside of cells move the cells behind them.
  test('any texts come back from a table as they were', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\t', '\n', '\r\n', ' ', '😀', "'"), maxLength: 12 }).filter((s) => s.trim() !== '');
    await fc.assert(
      fc.asyncProperty(fc.array(fc.record({ prompt: cell, note: cell }), { minLength: 1, maxLength: 8 }), fc.constantFrom(',', ';', '\t'), async (list, delimiter) => {
        const found = await rows(file(table(list, delimiter)));
        expect(found.map(({ prompt, row }) => ({ prompt, note: row.note }))).toEqual(list);
      }),
      { numRuns: 60 },
    );
  });
});

describe('JSON lists', () => {
  // Bug: one bad element makes the list useless, or takes the next one with it.
  test('each broken element is refused by its number, the others load', async () => {
    const path = file('[{"prompt":"a"}, {"prompt":}, {"prompt":"b]},{"}, 5, , {"prompt":7}, [1], {"__proto__":{"x":1},"prompt":"c"},]');
    expect(told(await items(path))).toEqual([
      '1 a',
      '2 ! Not valid JSON at column 11: a value was expected, not "}".',
      '3 b]},{',
      '4 ! A row must be a JSON object like {"prompt": "…"}; this one is a number.',
      '5 ! Not valid JSON at column 1: the line ends where a value should come.',
      '6 ! "prompt" must be a text; here it is a number.',
      '7 ! A row must be a JSON object like {"prompt": "…"}; this one is a list.',
      '8 c',
    ]);
    const last = (await rows(path)).at(-1)!;
    expect([Object.keys(last.row), ({} as { x?: number }).x]).toEqual([['__proto__'], undefined]);
  });

  // Bug: a file that was cut off while it was copied passes for a whole one.
  test.each([
    ['in a row', '[{"prompt":"a"},{"prompt":"b', '2 ! The file ends in the middle of this record: it is cut off.'],
    ['between rows', '[{"prompt":"a"},\n', '2 ! The list is never closed: the file is cut off after the record before.'],
    ['before the object is closed', '{"data":[{"prompt":"a"}]', '2 ! The list is never closed: the file is cut off after the record before.'],
    ['with more behind', '[{"prompt":"a"}]\n[]', '2 ! Not valid JSON: there is more after the end of the list.'],
  ])('a list that is torn %s says so', async (_name, content, says) => {
    expect(told(await items(file(content)))).toEqual(['1 a', says]);
  });

  test('an object with two lists of rows is refused, one with lists of other things is not', async () => {
    await expect(items(file('{"train":[{"prompt":"a"}],"test":[{"prompt":"b"}]}'))).rejects.toThrow(/several lists of rows \("train" and "test"\)/);
    expect(told(await items(file('{"names":["x","y"],"n":{"deep":[{"prompt":"no"}]},"rows":[{"prompt":"a"}],"more":[1]}')))).toEqual(['1 a']);
  });

  // Bug: a row that holds a list of messages, alone in its file, is taken for a list of rows.
  test('one line with messages is one row', async () => {
    expect(told(await items(file('{"messages":[{"role":"user","content":"hi"}],"n":1}')))).toEqual(['1 hi']);
  });

  test('UTF-16, and bytes that are no UTF-8', async () => {
    expect(told(await items(file(Buffer.from('\ufeff[{"prompt":"你好"}]', 'utf16le'))))).toEqual(['1 你好']);
    expect(told(await items(file(Buffer.concat([Buffer.from('[{"prompt":"'), Buffer.from([0xff]), Buffer.from('"},{"prompt":"b"}]')]))))).toEqual(['1 ! The bytes are not valid UTF-8, first at column 12.', '2 b']);
  });
});

describe('tables', () => {
  // Bug: after a cell with line feeds every number of a line is wrong, and people look in the wrong place.
  test('rows that do not fit are refused by the line on which they begin', async () => {
    const content = 'prompt,answer\r\n"a\r\nb",1\r\n\r\nc\r\n"d ""e""",2,3\r\nhe said "hi",4,\r\n,5\r\n"open,6\r\n';
    expect(told(await items(file(content)))).toEqual([
      '2 a\r\nb',
      '5 ! The row has 1 field, the first line of the table 2.',
      '6 ! The row has 3 fields, the first line of the table 2.',
      '7 he said "hi"',
      '8 ! "prompt" is empty.',
      '9 ! A quote opens in this row and is never closed.',
    ]);
    expect(await inspectDataset(file(content))).toMatchObject({ blankLines: 1, unit: 'line', encoding: 'utf-8', format: 'csv' });
  });

  test('two columns of one name are refused, unnamed ones get a name, empty cells are no values', async () => {
    await expect(items(file('prompt,x,prompt\na,b,c\n'))).rejects.toThrow(/two columns called "prompt" \(1 and 3\)/);
    expect(await rows(file(',prompt,note,\n0,a,,\n1,b,x,\n'))).toMatchObject([{ row: { column_1: '0' } }, { row: { column_1: '1', note: 'x' } }]);
  });

  test('one column, with or without a name that says what it is', async () => {
    expect(told(await items(file('Question\nWhat?\nWhy?\n'), { prompt: 'Question' }))).toEqual(['2 What?', '3 Why?']);
    expect(told(await items(file('say\nWhat?\n', 'one.csv'), { prompt: 'say' }))).toEqual(['2 What?']);
  });

  test('other encodings than UTF are told, UTF-16 is read', async () => {
    expect(told(await items(file(Buffer.from('prompt,n\ngr\u00fc\u00dfe,1\nok,2\n', 'latin1'))))).toEqual(['2 ! The bytes in the column "prompt" are not valid UTF-8. Save the table as UTF-8.', '3 ok']);
    expect(told(await items(file(Buffer.from('\ufeffprompt\tn\ngrüße\t1\n', 'utf16le'))))).toEqual(['2 grüße']);
  });

  // Bug: JSONL whose first line is a remark is read as a table.
  test('a remark above JSON lines is a refused line', async () => {
    expect(told(await items(file('# prompts, of May\n{"prompt":"a"}\n')))).toEqual([expect.stringMatching(/^1 ! Not valid JSON/), '2 a']);
  });
});

describe('Parquet', () => {
  // Bug: large numbers are rounded, dates become numbers, nested values vanish.
  test('values keep what they are', async () => {
    const content = parquetWriteBuffer({
      columnData: [
        { name: 'prompt', data: ['a', 'b'], type: 'STRING' },
        { name: 'big', data: [9007199254740993n, 7n], type: 'INT64' },
        { name: 'at', data: [new Date('2026-01-02T03:04:05.678Z'), null], type: 'TIMESTAMP', nullable: true },
        { name: 'raw', data: [new Uint8Array([0xff, 0xfe]), new Uint8Array([104, 105])], type: 'BYTE_ARRAY' },
        { name: 'deep', data: [{ x: [1, 2], y: { z: 'ü' } }, null], type: 'JSON', nullable: true },
        { name: 'ratio', data: [0.5, Number.NaN], type: 'DOUBLE' },
        { name: 'ok', data: [true, null], type: 'BOOLEAN', nullable: true },
      ],
    });
    expect((await rows(file(content))).map((r) => r.row)).toEqual([
      { big: '9007199254740993', at: '2026-01-02T03:04:05.678Z', raw: '//4=', deep: { x: [1, 2], y: { z: 'ü' } }, ratio: 0.5, ok: true },
      { big: 7, at: null, raw: 'hi', deep: null, ratio: null, ok: null },
    ]);
  });

  test('every codec', async () => {
    const list = Array.from({ length: 50 }, (_, i) => ({ prompt: `same text over and over ${i % 5}` }));
    const compressors = { GZIP: (b: Uint8Array) => gzipSync(b), ZSTD: (b: Uint8Array) => zstdCompressSync(b), BROTLI: (b: Uint8Array) => brotliCompressSync(b) };
    for (const codec of ['SNAPPY', 'GZIP', 'ZSTD', 'BROTLI', 'UNCOMPRESSED'] as const) {
      expect((await rows(file(parquet(list, { codec, compressors })))).map((r) => r.prompt)).toEqual(list.map((r) => r.prompt));
    }
  });

  test('records are numbered, and a bad one is refused alone', async () => {
    const content = parquetWriteBuffer({ columnData: [{ name: 'prompt', data: ['a', null, ' ', 'd'], type: 'STRING', nullable: true }], rowGroupSize: 2 });
    expect(told(await items(file(content)))).toEqual(['1 a', '2 ! "prompt" must be a text; here it is null.', '3 ! "prompt" is empty.', '4 d']);
    expect(await inspectDataset(file(content))).toMatchObject({ unit: 'record', encoding: null, rows: 2, rejectedCount: 2 });
  });

  // Bug: a damaged file brings down the engine, hangs, or yields rows without a word.
  test('torn and damaged files end with a sentence, wherever one bit is wrong', async () => {
    const whole = new Uint8Array(parquet(TEN, { rowGroupSize: 4 }));
    await expect(items(file(whole.subarray(0, whole.length - 40)))).rejects.toMatchObject({ code: 'invalid', message: expect.stringMatching(/cut off/) as string });
    for (let at = 0; at < whole.length; at += 29) {
      const bytes = Uint8Array.from(whole);
      bytes[at] = bytes[at]! ^ 1;
      await items(file(bytes, 'damaged.parquet')).then(
        (all) => expect(all.length).toBeLessThanOrEqual(11),
        (error: unknown) => expect(error).toMatchObject({ code: 'invalid' }),
      );
    }
  });
});

describe('packed files', () => {
  const bytes = Buffer.from(jsonl(TEN));
  // Bug: of a file that was written in several frames only the first is read; what is missing is not missed.
  test('several packed parts are one text', async () => {
    for (const pack of [PACK.gz, PACK.zst]) {
      expect(await rows(file(Buffer.concat([pack(bytes), pack(bytes), pack(bytes)])))).toHaveLength(30);
    }
  });

  test.each(['gz', 'zst'] as const)('%s: torn, damaged, twice packed, with a wrong name', async (kind) => {
    const packed = PACK[kind](Buffer.from(jsonl(Array.from({ length: 20_000 }, (_, i) => ({ prompt: `p ${(i * 7919) % 10_007}` })))));
    for (const torn of [packed.subarray(0, packed.length - 3), packed.subarray(0, packed.length >> 1)]) {
      await expect(items(file(torn))).rejects.toMatchObject({ code: 'invalid', message: expect.stringMatching(/is cut off/) as string });
    }
    await expect(items(file(Buffer.concat([packed, Buffer.from('garbage')])))).rejects.toThrow(/is damaged/);
    await expect(items(file(PACK[kind](packed)))).rejects.toThrow(/packed twice/);
    await expect(items(file(PACK[kind](Buffer.alloc(0))))).rejects.toThrow(/is empty/);
    expect(await rows(file(PACK[kind](bytes), 'table.csv'))).toHaveLength(10);
    expect(await rows(file(bytes, `not-packed.${kind}`))).toHaveLength(10);
  });
});
