export interface Row {
  name: string;
  value: number;
  unit: string;
}

/** A plain table; numbers right-aligned with three significant digits. */
export function printTable(title: string, rows: readonly Row[]): void {
  const width = Math.max(...rows.map((r) => r.name.length));
  console.log(`\n${title}`);
  for (const r of rows) console.log(`  ${r.name.padEnd(width)}  ${short(r.value).padStart(9)} ${r.unit}`);
}

function short(n: number): string {
  if (n >= 100) return n.toFixed(0);
  return n >= 10 ? n.toFixed(1) : n.toFixed(2);
}
