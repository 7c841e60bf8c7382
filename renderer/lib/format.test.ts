import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ago, bytes, clock, compact, duration, exact, money, percent } from './format.ts';

const spaces = (text: string): string => text.replaceAll('\u00a0', ' ');

// Bug: 999,950 tokens shown as "1000k".
test('compact changes the unit before the number grows a fourth digit', () => {
  expect([0, 7, 999, 1000, 18_204, 99_949, 99_950, 999_400, 999_950, 48_112_000, 2_500_000_000].map(compact)).toEqual([
    '0',
    '7',
    '999',
    '1k',
    '18.2k',
    '99.9k',
    '100k',
    '999k',
    '1M',
    '48.1M',
    '2.5G',
  ]);
});

// Bug: a short number that is off by more than its last digit.
test('compact never strays more than one percent from the number', () => {
  const sizes: Record<string, number> = { k: 1e3, M: 1e6, G: 1e9 };
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 9e11 }), (n) => {
      const text = compact(n);
      const unit = sizes[text.at(-1) ?? ''];
      const value = unit ? Number(text.slice(0, -1)) * unit : Number(text);
      expect(Math.abs(value - n) / n).toBeLessThan(0.051);
      expect(text.length).toBeLessThanOrEqual(5);
    }),
  );
});

// Bug: 9,999 of 10,000 reported as 100 %, one failure of 10,000 as 0 %.
test('percent keeps all and nothing for all and nothing', () => {
  expect([0, 0.0001, 0.5, 0.9999, 1].map((s) => percent(s))).toEqual(['0%', '1%', '50%', '99%', '100%']);
  expect(percent(0.98712, 1)).toBe('98.7%');
  expect(percent(0.99999, 1)).toBe('99.9%');
  expect(percent(0 / 0)).toBe('–');
});

// Bug: "60 s", "59 m 60 s" at the borders of units.
test('duration carries over at the borders', () => {
  expect(
    [0, 240, 1_000, 4_240, 9_949, 9_951, 59_499, 59_500, 124_000, 3_599_600, 11_100_000, 183_600_000].map((ms) =>
      spaces(duration(ms, 'en')),
    ),
  ).toEqual(['0 ms', '240 ms', '1 s', '4.2 s', '9.9 s', '10 s', '59 s', '1 m 00 s', '2 m 04 s', '1 h 00 m', '3 h 05 m', '2 d 3 h']);
  expect(spaces(duration(124_000, 'zh-CN'))).toBe('2 分 04 秒');
});

test('clock counts down in minutes, then hours', () => {
  expect([0, 21_400, 724_000, 10_807_000].map(clock)).toEqual(['0:00', '0:21', '12:04', '3:00:07']);
});

test('bytes, money and exact say what they mean', () => {
  expect([812, 4300, 268_000_000].map((n) => spaces(bytes(n)))).toEqual(['812 B', '4.2 KB', '256 MB']);
  expect([0, 0.0042, 0.021, 56.2].map(money)).toEqual(['$0', '$0.0042', '$0.021', '$56.20']);
  expect(exact(128_406, 'en')).toBe('128,406');
});

// Bug: a run from yesterday called "24h ago" while the list says nothing about days.
test('ago steps through the units', () => {
  const now = Date.UTC(2026, 10, 30);
  expect(ago(now - 2_000, now, 'en')).toBe('now');
  expect(ago(now - 3 * 60_000, now, 'en')).toMatch(/^3\s?m/);
  expect(ago(now - 25 * 3_600_000, now, 'en')).toBe('yesterday');
  expect(ago(now - 3 * 86_400_000, now, 'zh-CN')).toBe('3天前');
});
