/** " Did you mean …?" when something known is near, else what there is. */
export function suggestion(given: string, known: readonly string[], prefix: string): string {
  const short = given.slice(0, 100);
  const near = known.map((name) => ({ name, distance: editDistance(short, name) })).sort((a, b) => a.distance - b.distance)[0];
  if (near && near.distance <= Math.max(2, Math.floor(short.length * 0.4))) return ` Did you mean ${prefix}${near.name}?`;
  return ` There are: ${known.map((k) => `${prefix}${k}`).join(', ')}.`;
}

/** Levenshtein distance. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)));
    }
    row = next;
  }
  return row[b.length]!;
}
