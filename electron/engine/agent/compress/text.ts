/** The beginning and the end of a text that is too long, and between them how much was left out. Never splits a surrogate pair. */
export function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = Math.floor(maxChars * 0.7);
  const tail = maxChars - head;
  const left = text.length - head - tail;
  return `${text.slice(0, head)} [… ${left} characters left out …] ${text.slice(text.length - tail)}`.toWellFormed();
}

/** The first line, shortened. */
export function firstLine(text: string, maxChars: number): string {
  const trimmed = text.trim();
  const end = trimmed.indexOf('\n');
  return shorten(end < 0 ? trimmed : `${trimmed.slice(0, end)} …`, maxChars);
}

/** A JSON object's members; null for anything else. */
export function objectOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
