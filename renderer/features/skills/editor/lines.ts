/** The text with "\n" alone at the ends of lines, as editors have it. */
export const withPlainEnds = (text: string): string => (text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text);

/** The other way round: with the ends that the file had, when all of them were the same. */
export function withEndsOf(text: string, file: string): string {
  const pairs = file.split('\r\n').length - 1;
  return pairs > 0 && pairs === file.split('\n').length - 1 ? text.replaceAll('\n', '\r\n') : text;
}

/** As the engine says it of a text: SHA-256, hexadecimal; null where the page is not in a secure context. */
export async function hashOf(text: string): Promise<string | null> {
  if (!window.isSecureContext) return null;
  const bytes = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
