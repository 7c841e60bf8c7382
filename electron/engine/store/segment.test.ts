import BetterSqlite3 from 'better-sqlite3';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { segmentForIndex, toMatchExpression } from './segment.ts';

function index(texts: string[]): (query: string) => number[] {
  const db = new BetterSqlite3(':memory:');
  db.exec(`CREATE VIRTUAL TABLE t USING fts5 (text, content='', contentless_delete=1, tokenize="unicode61 remove_diacritics 2")`);
  texts.forEach((text, i) => db.prepare('INSERT INTO t (rowid, text) VALUES (?, ?)').run(i, segmentForIndex(text)));
  return (query) => {
    const match = toMatchExpression(query);
    return match === null ? [] : (db.prepare('SELECT rowid FROM t WHERE t MATCH ? ORDER BY rowid').pluck().all(match) as number[]);
  };
}

describe('search text', () => {
  const find = index(['统计日志里最慢的十个接口', '把周报脚本改成每天运行', 'Parse the supplier PDFs with foo_bar.py', 'データベースを調べる', '日常志愿活动']);

  test.each([
    ['日志', [0]],
    ['最慢的十个', [0]],
    ['口', [0]],
    ['周报 每天', [1]],
    ['周报 接口', []],
    ['supplier', [2]],
    ['suppl', [2]],
    ['foo_bar.py', [2]],
    ['"the supplier"', [2]],
    ['"supplier the"', []],
    ['データ', [3]],
    ['调 (', []],
  ])('%s finds %j (two characters must do; characters apart are no match)', (query, expected) => {
    expect(find(query)).toEqual(expected);
  });

  test('nothing a person types is a syntax error', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.stringMatching(/^["*():^\-+ANDORNEAR ]*$/)), (query) => {
        expect(() => find(query)).not.toThrow();
      }),
      { numRuns: 500 },
    );
  });

  test('any two neighbouring Chinese characters of a text find it', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0x4e00, max: 0x9fa5 }), { minLength: 2, maxLength: 30 }), fc.nat(), (codes, at) => {
        const text = String.fromCodePoint(...codes);
        const i = at % (codes.length - 1);
        const query = String.fromCodePoint(codes[i]!, codes[i + 1]!);
        expect(index([text])(query.normalize('NFKC'))).toEqual([0]);
      }),
    );
  });
});
