const CJK_RUN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]+/gu;

/**
 * Makes text findable by two Chinese, Japanese or Korean characters with a word tokenizer: each run of such characters becomes its
 * overlapping pairs, and its last character alone ("数据库" → "数据 据库 库"). Other text is left as it is.
 */
export function segmentForIndex(text: string): string {
  return text.normalize('NFKC').replace(CJK_RUN, (run) => {
    const chars = [...run];
    let out = ' ';
    for (let i = 0; i < chars.length; i++) out += chars[i]! + (chars[i + 1] ?? '') + ' ';
    return out;
  });
}

/**
 * Turns what a person typed into an FTS5 expression over `segmentForIndex` text: words are ANDed, "quotes" make a phrase, the last
 * unquoted word may be unfinished. Nothing a person types is a syntax error. Null when there is nothing to search for.
 */
export function toMatchExpression(query: string): string | null {
  const terms: string[] = [];
  const text = query.normalize('NFKC');
  const parts = [...text.matchAll(/"([^"]*)"?|(\S+)/g)];
  parts.forEach((part, i) => {
    const unfinished = part[2] !== undefined && i === parts.length - 1;
    terms.push(...termsOf(part[1] ?? part[2]!.replaceAll('"', ''), unfinished));
  });
  return terms.length > 0 ? terms.join(' AND ') : null;
}

function termsOf(word: string, unfinished: boolean): string[] {
  const terms: string[] = [];
  let rest = 0;
  for (const match of word.matchAll(CJK_RUN)) {
    pushPlain(terms, word.slice(rest, match.index), false);
    rest = match.index + match[0].length;
    const chars = [...match[0]];
    if (chars.length === 1) terms.push(`"${chars[0]}"*`);
    else terms.push(`"${chars.slice(0, -1).map((c, i) => c + chars[i + 1]!).join(' ')}"`);
  }
  pushPlain(terms, word.slice(rest), unfinished);
  return terms;
}

function pushPlain(terms: string[], text: string, prefix: boolean): void {
  if (!/[\p{L}\p{N}]/u.test(text)) return;
  terms.push(`"${text}"${prefix ? '*' : ''}`);
}
