/** A piece of text and whether a word of the query was found in it. */
export interface Piece {
  text: string;
  hit: boolean;
}

const CJK = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;
const WORD = /[\p{L}\p{N}_]/u;

/** Lower case without accents, the way the full-text index compares. Answers one entry per code unit of the input. */
function fold(text: string): { folded: string; origin: number[] } {
  let folded = '';
  const origin: number[] = [];
  let at = 0;
  for (const char of text) {
    const plain = char.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
    folded += plain;
    for (let i = 0; i < plain.length; i++) origin.push(at);
    at += char.length;
  }
  origin.push(at);
  return { folded, origin };
}

/** The words and "phrases" of a query, folded, longest first. */
export function termsOf(query: string): string[] {
  const terms = new Set<string>();
  for (const [, phrase, word] of query.matchAll(/"([^"]*)"?|([^\s"]+)/g)) {
    const term = fold((phrase ?? word ?? '').trim()).folded.replace(/\*+$/, '');
    if (WORD.test(term)) terms.add(term);
  }
  return [...terms].sort((a, b) => b.length - a.length);
}

/**
 * Splits `text` at what the query matches. Latin words match from their beginning, Chinese, Japanese and Korean anywhere.
 * Promise: the pieces joined are `text` again.
 */
export function highlight(text: string, terms: readonly string[]): Piece[] {
  if (terms.length === 0 || text === '') return text === '' ? [] : [{ text, hit: false }];
  const { folded, origin } = fold(text);
  const hits = new Uint8Array(folded.length);
  for (const term of terms) {
    for (let at = folded.indexOf(term); at >= 0; at = folded.indexOf(term, at + 1)) {
      const before = folded.charAt(at - 1);
      if (at > 0 && WORD.test(before) && !CJK.test(term.charAt(0)) && !CJK.test(before)) continue;
      hits.fill(1, at, at + term.length);
    }
  }
  const pieces: Piece[] = [];
  for (let i = 0; i < folded.length; ) {
    const hit = hits[i] === 1;
    let j = i + 1;
    while (j < folded.length && (hits[j] === 1) === hit) j++;
    // Accents before the first letter fold to nothing: they belong to the first piece.
    const part = text.slice(i === 0 ? 0 : origin[i], origin[j]);
    if (part !== '') pieces.push({ text: part, hit });
    i = j;
  }
  return pieces.length > 0 ? pieces : [{ text, hit: false }];
}
