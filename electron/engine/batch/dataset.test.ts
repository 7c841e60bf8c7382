import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type DatasetItem, hashFile, inspectDataset, readDataset } from './dataset.ts';
import { findJsonFault } from './json-error.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'dataset-test-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function file(content: string | Buffer, name = 'prompts.jsonl'): string {
  const path = join(dir, name);
  writeFileSync(path, content);
  return path;
}

const utf16be = (text: string) => Buffer.from(text, 'utf16le').swap16();

async function rows(path: string): Promise<{ line: number; prompt: string }[]> {
  const found = [];
  for await (const item of readDataset(path)) if (item.type === 'row') found.push({ line: item.line, prompt: item.prompt });
  return found;
}

describe('encodings and line ends', () => {
  const two = '{"prompt":"héllo"}\r\n\r\n{"prompt":"你好"}';
  // a mark that stays in the text makes the first line broken JSON; UTF-16 split at odd bytes loses every row
  test.each<[string, Buffer, string]>([
    ['UTF-8', Buffer.from(two), 'utf-8'],
    ['UTF-8 with mark', Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from(two)]), 'utf-8-bom'],
    ['UTF-16 LE with mark', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(two, 'utf16le')]), 'utf-16le'],
    ['UTF-16 BE with mark', Buffer.concat([Buffer.from([0xfe, 0xff]), utf16be(two)]), 'utf-16be'],
    ['UTF-16 LE detected', Buffer.from(two, 'utf16le'), 'utf-16le'],
    ['UTF-16 BE detected', utf16be(two), 'utf-16be'],
  ])('%s', async (_name, bytes, encoding) => {
    const path = file(bytes);
    expect(await rows(path)).toEqual([
      { line: 1, prompt: 'héllo' },
      { line: 3, prompt: '你好' },
    ]);
    const report = await inspectDataset(path);
    expect(report).toMatchObject({ encoding, rows: 2, blankLines: 1, bytes: bytes.length, rejectedCount: 0 });
  });

  // U+010A and U+0A00 hold the byte of a line feed in either half of a UTF-16 unit
  test('UTF-16 text with line-feed bytes inside characters, over chunk borders', async () => {
    const prompt = 'ĊਊĊ\u0a00\u000b'.replace('\u000b', 'x').repeat(60_000);
    const text = `${JSON.stringify({ prompt })}\n${JSON.stringify({ prompt: 'b' })}\n`;
    for (const bytes of [Buffer.from(`\ufeff${text}`, 'utf16le'), utf16be(`\ufeff${text}`)]) {
      expect((await rows(file(bytes))).map((r) => r.prompt)).toEqual([prompt, 'b']);
    }
  });

  // readline and splitlines cut at these
  test('U+2028, U+2029, U+0085 and a bare CR inside a string split nothing', async () => {
    expect(await rows(file('{"prompt":"a\u2028b\u2029c\u0085d"}\r\n{"prompt":"last"}'))).toEqual([
      { line: 1, prompt: 'a\u2028b\u2029c\u0085d' },
      { line: 2, prompt: 'last' },
    ]);
  });

  test('any rows come back as they were written, whatever the encoding and line end', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.string({ unit: 'grapheme', minLength: 1 }).filter((s) => s.trim() !== '' && s.isWellFormed()), { minLength: 1, maxLength: 20 }),
        fc.constantFrom('\n', '\r\n'),
        fc.boolean(),
        fc.constantFrom<(t: string) => Buffer>((t) => Buffer.from(t), (t) => Buffer.from(`\ufeff${t}`, 'utf16le'), (t) => utf16be(`\ufeff${t}`)),
        async (prompts, newline, last, encode) => {
          const text = prompts.map((prompt) => JSON.stringify({ prompt })).join(newline) + (last ? newline : '');
          expect((await rows(file(encode(text)))).map((r) => r.prompt)).toEqual(prompts);
        },
      ),
      { numRuns: 60 },
    );
  });
});

describe('rejected lines', () => {
  // a line that is silently dropped, or that brings down the file
  test('each has its number, a reason and a place, and the others load', async () => {
    const path = file(
      Buffer.concat([
        Buffer.from('{"prompt": "ok"}\n{"prompt": "x", }\n{"text": "y"}\n{"prompt": 123}\n{"prompt": ["a"]}\n{"prompt": "  "}\n[1]\n"text"\nnull\n{"prompt": "'),
        Buffer.from([0xc3, 0x28]),
        Buffer.from('"}\n{"prompt": "cut\n{"prompt": null}\n{"prompt": "good too", "extra": [1.5]}'),
      ]),
    );
    const report = await inspectDataset(path);
    expect(report.rows).toBe(2);
    expect(report.preview).toEqual([
      { index: 0, line: 1, prompt: 'ok', row: {} },
      { index: 1, line: 13, prompt: 'good too', row: { extra: '[1.5]' } },
    ]);
    expect(report.rejected.map((r) => `${r.line}: ${r.reason}`)).toEqual([
      '2: Not valid JSON at column 17: a text in double quotes was expected, not "}".',
      '3: There is no "prompt" in this row; its columns are "text".',
      '4: "prompt" must be a text; here it is a number.',
      '5: "prompt" must be a text; here it is a list.',
      '6: "prompt" is empty.',
      '7: A row must be a JSON object like {"prompt": "…"}; this one is a list.',
      '8: A row must be a JSON object like {"prompt": "…"}; this one is a text.',
      '9: A row must be a JSON object like {"prompt": "…"}; this one is null.',
      '10: The bytes are not valid UTF-8, first at column 13.',
      '11: Not valid JSON at column 12: a text begins here and is never closed.',
      '12: "prompt" must be a text; here it is null.',
    ]);
    // what a page needs to say the same in another language
    expect(report.rejected.map((r) => [r.code, r.params])).toEqual([
      ['not_json', { column: 17, problem: 'a text in double quotes was expected, not "}"' }],
      ['no_prompt', { column: 'prompt', columns: '"text"' }],
      ['prompt_not_text', { column: 'prompt', kind: 'number' }],
      ['prompt_not_text', { column: 'prompt', kind: 'list' }],
      ['prompt_empty', { column: 'prompt' }],
      ['not_object', { kind: 'list' }],
      ['not_object', { kind: 'string' }],
      ['not_object', { kind: 'null' }],
      ['encoding', { encoding: 'UTF-8', column: 13 }],
      ['not_json', { column: 12, problem: 'a text begins here and is never closed' }],
      ['prompt_not_text', { column: 'prompt', kind: 'null' }],
    ]);
  });

  test('a line of 20 MB loads; one over the limit is rejected and the rest loads', async () => {
    const big = 'x'.repeat(20 * 1024 * 1024);
    const path = file(`{"prompt":"a"}\n{"prompt":"${big}"}\n{"prompt":"${big}${big}${big}${big}"}\n{"prompt":"b"}\n`, 'big.jsonl');
    const found: (number | string)[] = [];
    for await (const item of readDataset(path)) {
      if (item.type === 'row') found.push(item.prompt.length);
      if (item.type === 'rejected') found.push(`${item.line}: ${item.reason}`);
    }
    expect(found).toEqual([1, big.length, '3: The line is 81 MB long; the limit is 64 MB.', 1]);
    rmSync(path);
  });

  test('only 200 are listed, all are counted', async () => {
    const report = await inspectDataset(file(`{"prompt":"p"}\n${'nonsense\n'.repeat(500)}${'{"prompt":"p"}\n'.repeat(500)}`));
    expect(report).toMatchObject({ rows: 501, rejectedCount: 500, duplicates: 500 });
    expect([report.rejected.length, report.preview.length]).toEqual([200, 200]);
  });

  // our own scanner must say "broken" exactly when JSON.parse does
  test('the fault finder agrees with JSON.parse', () => {
    const mangled = fc.tuple(fc.json(), fc.nat(), fc.constantFrom('', '"', ',', '}', '\\', '\n', '0', 'e', '[')).map(([json, at, what]) => {
      const i = at % (json.length + 1);
      return json.slice(0, i) + what + json.slice(i + (at % 3));
    });
    fc.assert(
      fc.property(mangled, (text) => {
        let valid = true;
        try {
          JSON.parse(text);
        } catch {
          valid = false;
        }
        const fault = findJsonFault(text);
        expect(fault === null).toBe(valid);
        if (fault) expect(fault.at).toBeLessThanOrEqual(text.length);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('files that are something else', () => {
  test.each<[string, string | Buffer, string, RegExp]>([
    ['one document', '{\n "prompt": "a"\n}', 'd.json', /one JSON document over several lines/],
    ['empty', '', 'e.jsonl', /is empty/],
    ['blank lines', '\n\r\n  \n', 'f.jsonl', /is empty/],
    ['a list without rows', '[]', 'l.json', /is empty/],
    ['a torn gzip', Buffer.from([0x1f, 0x8b, 8, 0, 0]), 'g.jsonl.gz', /is cut off/],
    ['a spreadsheet', Buffer.from('PK\u0003\u0004 and so on'), 's.xlsx', /spreadsheet.*save the sheet as CSV/],
    ['xz', Buffer.from('fd377a585a0000', 'hex'), 'x.jsonl', /packed with xz: unpack it/],
  ])('%s is refused with what to do', async (_name, content, name, message) => {
    await expect(inspectDataset(file(content, name))).rejects.toMatchObject({ code: 'invalid', field: 'datasetFile', message: expect.stringMatching(message) as string });
  });

  test('a folder and a missing file', async () => {
    await expect(inspectDataset(dir)).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('is a folder') as string });
    await expect(inspectDataset(join(dir, 'none.jsonl'))).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining('There is no file') as string });
  });
});

// a run without prompts that starts
test('a file of lines that are all refused is told to a run by its first, to a person with all of them', async () => {
  const path = file('\nnonsense\n{"prompt": 5}\n', 'h.jsonl');
  await expect(rows(path)).rejects.toMatchObject({ code: 'invalid', field: 'datasetFile', message: expect.stringMatching(/no valid row\. Line 2: Not valid JSON/) as string });
  expect(await inspectDataset(path)).toMatchObject({ rows: 0, rejectedCount: 2, problem: null });
});

test('further columns are carried, equal rows share a hash whatever the order of their keys, the file has its SHA-256', async () => {
  const content = '\ufeff{"prompt":"a","id":1,"deep":{"x":1,"y":2}}\n{"deep":{"y":2,"x":1},"id":1,"prompt":"a"}\n{"prompt":"a"}\n';
  const path = file(content);
  const items: DatasetItem[] = [];
  for await (const item of readDataset(path)) items.push(item);
  const [a, b, c, end] = items;
  if (a?.type !== 'row' || b?.type !== 'row' || c?.type !== 'row' || end?.type !== 'end') throw new Error('unexpected items');
  expect(a.row).toEqual({ id: 1, deep: { x: 1, y: 2 } });
  expect([a.hash === b.hash, a.hash === c.hash]).toEqual([true, false]);
  const sha = createHash('sha256').update(content).digest('hex');
  expect([end.sha256, await hashFile(path), await hashFile(join(dir, 'gone'))]).toEqual([sha, sha, null]);
});
