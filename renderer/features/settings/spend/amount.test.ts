import { expect, test } from 'vitest';
import { amountText, parseAmount } from './amount.ts';

// "1,50" read as 150 dollars, or an empty field as a cap of 0 that stops everything
test('amounts are read as people type them', () => {
  expect(['', ' $2 ', '0.25', '1,5', '.5', '10.'].map(parseAmount)).toEqual([null, 2, 0.25, 1.5, 0.5, 10]);
  expect(['1,234.5', '-1', 'two', '$', '1e3'].map(parseAmount)).toEqual([undefined, undefined, undefined, null, undefined]);
  expect([amountText(null), amountText(0.1 + 0.2), amountText(20)]).toEqual(['', '0.3', '20']);
});
