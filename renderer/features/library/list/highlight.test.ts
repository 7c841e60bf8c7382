import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { highlight, termsOf } from './highlight.ts';

const hits = (text: string, query: string): string[] =>
  highlight(text, termsOf(query))
    .filter((p) => p.hit)
    .map((p) => p.text);

describe('highlight', () => {
  it('never changes the text (catches lost or doubled characters, also with accents and astral characters)', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), (text, query) => {
        expect(
          highlight(text, termsOf(query))
            .map((p) => p.text)
            .join(''),
        ).toBe(text);
      }),
      { examples: [['\uFE00\u0000', '一'], ['\u0301log', 'log']] },
    );
  });

  it('marks words from their beginning, in any case and without accents (catches "log" marked inside "catalog")', () => {
    expect(hits('Staging café catalog LOGS', 'staging cafe log')).toEqual(['Staging', 'café', 'LOG']);
  });

  it('marks two Chinese characters anywhere (catches a word border asked of Chinese)', () => {
    expect(hits('统计日志里最慢的接口', '日志')).toEqual(['日志']);
    expect(hits('用staging部署', 'staging')).toEqual(['staging']);
  });

  it('keeps a phrase together (catches a phrase split into its words)', () => {
    expect(hits('make check, then check make', '"make check"')).toEqual(['make check']);
  });

  it('ignores signs alone (catches every hyphen of a title marked)', () => {
    expect(hits('a - b', '-')).toEqual([]);
  });
});
