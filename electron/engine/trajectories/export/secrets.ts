const PATTERNS: readonly [kind: string, pattern: RegExp][] = [
  ['API key', /\bsk-(?:or-|ant-|proj-)?[A-Za-z0-9_-]{20,}/],
  ['AWS access key', /\bAKIA[0-9A-Z]{16}\b/],
  ['GitHub token', /\bgh[pousr]_[A-Za-z0-9]{30,}/],
  ['Hugging Face token', /\bhf_[A-Za-z0-9]{30,}/],
  ['private key', /-----BEGIN (?:[A-Z]+ )?PRIVATE KEY-----/],
  ['bearer token', /\b[Bb]earer\s+[A-Za-z0-9._~+/-]{30,}/],
];

/** Kinds of secrets that a text seems to contain. Shapes only: no value is ever reported. */
export function findSecrets(text: string): string[] {
  return PATTERNS.filter(([, p]) => p.test(text)).map(([kind]) => kind);
}
