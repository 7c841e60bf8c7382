/**
 * Compares texts with `wanted`: a function that tells how alike its argument is, from 0 to 1, by the share of letter pairs that
 * both have (Sørensen–Dice). The work on `wanted` is done once.
 */
export function similarTo(wanted: string): (text: string) => number {
  const pairs = new Map<number, number>();
  for (let i = 0; i < wanted.length - 1; i++) {
    const pair = pairAt(wanted, i);
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1);
  }
  return (text) => {
    if (text === wanted) return 1;
    if (text.length < 2 || wanted.length < 2) return 0;
    const used = new Map<number, number>();
    let common = 0;
    for (let i = 0; i < text.length - 1; i++) {
      const pair = pairAt(text, i);
      const there = pairs.get(pair);
      if (there === undefined) continue;
      const taken = used.get(pair) ?? 0;
      if (taken >= there) continue;
      used.set(pair, taken + 1);
      common += 1;
    }
    return (2 * common) / (text.length + wanted.length - 2);
  };
}

/** How alike two texts are, from 0 to 1. */
export function similarity(a: string, b: string): number {
  return similarTo(a)(b);
}

function pairAt(text: string, i: number): number {
  return text.charCodeAt(i) * 0x10000 + text.charCodeAt(i + 1);
}
