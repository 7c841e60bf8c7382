import { ToolError } from '../define.ts';

export type TextKind = 'html' | 'text';

/**
 * What kind of text a web answer is, by its declared type, or by its first bytes when that says nothing.
 * @throws ToolError for what cannot be read as text.
 */
export function kindOf(url: string, contentType: string, bytes: Uint8Array): TextKind {
  const type = contentType.split(';', 1)[0]!.trim().toLowerCase();
  const head = Buffer.from(bytes.subarray(0, 1024));
  if (type === 'application/pdf' || head.subarray(0, 5).toString('latin1') === '%PDF-') {
    throw new ToolError(`${url} is a PDF, which cannot be read here. Look for the same as a web page, or download it and use a program in the terminal, for example pdftotext.`);
  }
  if (/^image\//.test(type) && type !== 'image/svg+xml') throw new ToolError(`${url} is a picture (${type}). Look at it with vision_analyze.`);
  const wide = (head[0] === 0xff && head[1] === 0xfe) || (head[0] === 0xfe && head[1] === 0xff) || /charset=["']?utf-(16|32)/i.test(contentType);
  if (/^(audio|video|font)\//.test(type) || (!wide && head.includes(0))) throw new ToolError(`${url} is not text (${type || 'unknown type'}) and was not read.`);
  if (type === 'text/html' || type === 'application/xhtml+xml') return 'html';
  const looksLikeHtml = /^\s*(<!--[\s\S]*?-->\s*)*<(!doctype html|html|head|body)\b/i.test(head.toString('latin1'));
  if (/^text\/|[/+](json|xml|yaml|x-yaml|toml|javascript|ecmascript|x-ndjson|jsonl|sql|graphql|x-sh)$|^application\/(octet-stream|rss|atom)|^image\/svg/.test(type) || type === '') {
    return looksLikeHtml && (type === '' || type === 'text/plain' || type === 'application/octet-stream') ? 'html' : 'text';
  }
  throw new ToolError(`${url} is of the type ${type}, which is not text, and was not read.`);
}

/**
 * The text of the bytes: by byte-order mark, the declared charset, the page's own `<meta charset>`, then UTF-8. The first that fits
 * without an error is taken, since pages often declare what they are not.
 */
export function decode(bytes: Uint8Array, contentType: string, kind: TextKind): string {
  const head = Buffer.from(bytes.subarray(0, 2048)).toString('latin1');
  const declared = /charset\s*=\s*["']?([\w.:-]+)/i.exec(contentType)?.[1];
  const meta = kind === 'html' ? /<meta[^>]{0,200}charset\s*=\s*["']?([\w.:-]+)/i.exec(head)?.[1] : undefined;
  const mark = bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : undefined;
  const candidates = [mark, declared, meta, 'utf-8'].filter((label) => label !== undefined);
  for (const label of candidates) {
    try {
      return new TextDecoder(label, { fatal: true }).decode(bytes);
    } catch {
      // unknown label, or the bytes are something else
    }
  }
  for (const label of candidates) {
    try {
      return new TextDecoder(label).decode(bytes);
    } catch {
      // unknown label
    }
  }
  return new TextDecoder().decode(bytes);
}

/** Without what cannot be seen but is read by models: control characters, direction marks, tag characters; line ends are LF. */
export function visible(text: string): string {
  return text
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu, '')
    .toWellFormed();
}
