import { expect, test } from 'vitest';
import { contentSecurityPolicy } from './page.ts';

/** @returns the sources of every directive; fails on a directive given twice, of which browsers ignore the second */
function parse(policy: string): Record<string, string[]> {
  const directives: Record<string, string[]> = {};
  for (const part of policy.split(';')) {
    const [name = '', ...sources] = part.trim().split(/\s+/);
    expect(directives).not.toHaveProperty(name);
    directives[name] = sources;
  }
  return directives;
}

test('starts from nothing and opens only what the page needs from its own origin', () => {
  expect(parse(contentSecurityPolicy('abc'))).toEqual({
    'default-src': [`'none'`],
    'script-src': [`'self'`],
    'style-src': [`'self'`, `'nonce-abc'`],
    'img-src': [`'self'`, 'data:', 'blob:'],
    'font-src': [`'self'`],
    'connect-src': [`'self'`],
    'worker-src': [`'self'`, 'blob:'],
    'frame-src': [`'none'`],
    'object-src': [`'none'`],
    'base-uri': [`'none'`],
    'form-action': [`'none'`],
    'frame-ancestors': [`'none'`],
  });
});
