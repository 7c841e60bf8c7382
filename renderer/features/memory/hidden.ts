/** Characters that are not seen but read by models: fillers, soft controls, bidi controls, tags, other control characters. */
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/u;
/** Joiners that emoji and scripts need are left alone between such characters. */
const JOINED = /(?<=[\p{Extended_Pictographic}\p{M}\p{Script=Arabic}\p{Script=Devanagari}\ufe0f])[\u200c\u200d](?=[\p{Extended_Pictographic}\p{L}])/u;
const SPLIT = new RegExp(`(${JOINED.source})|((?:${HIDDEN.source})+)`, 'gu');

export interface TextPart {
  text: string;
  /** Names of the hidden characters that stand here, e.g. "U+200B"; null for plain text. */
  hidden: readonly string[] | null;
}

const NAMED = 4;

/** The text in pieces, so that what cannot be seen can be shown. */
export function partsOf(text: string): TextPart[] {
  const parts: TextPart[] = [];
  let from = 0;
  for (const match of text.matchAll(SPLIT)) {
    const [found, joined] = match;
    if (joined !== undefined) continue;
    if (match.index > from) parts.push({ text: text.slice(from, match.index), hidden: null });
    const names = [...found].map((char) => `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`);
    parts.push({ text: found, hidden: names.length > NAMED ? [...names.slice(0, NAMED - 1), `+${names.length - NAMED + 1}`] : names });
    from = match.index + found.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), hidden: null });
  return parts;
}
