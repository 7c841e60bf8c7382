/**
 * A number of US dollars as a person types it: "0.5", "$2", "1,5" (comma as in many languages), empty for none.
 * @returns undefined for what is no amount of zero or more
 */
export function parseAmount(text: string): number | null | undefined {
  const plain = text.trim().replace(/^\$/, '').trim();
  if (plain === '') return null;
  if (!/^(?:\d+(?:[.,]\d*)?|[.,]\d+)$/.test(plain)) return undefined;
  return Number(plain.replace(',', '.'));
}

/** An amount in a field, without trailing zeros. */
export function amountText(value: number | null | undefined): string {
  return value === null || value === undefined ? '' : String(Number(value.toFixed(6)));
}
