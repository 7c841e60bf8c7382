import { describe, expect, test } from 'vitest';
import { isOwnTopFrame, isOwnUrl, isSafeExternal } from './origin.ts';

describe('isOwnUrl', () => {
  test.each(['app://bundle/', 'app://bundle/library?x=1#y', 'APP://bundle/index.html'])('%s is our own', (url) => {
    expect(isOwnUrl(url)).toBe(true);
  });

  // Each would get the engine, or our page's place in the window, if the check compared prefixes or one part only.
  test.each([
    'app://bundle.evil/', 'app://bundle@evil/', 'app://x@bundle/', 'app://x:y@bundle/', 'app://evil/bundle', 'app:bundle', 'app:///bundle',
    'app://bundle:80/', 'https://bundle/', 'apps://bundle/', 'file:///app://bundle/', 'about:blank', 'data:text/html,app://bundle/', 'blob:app://bundle/1', '',
  ])('%j is not', (url) => {
    expect(isOwnUrl(url)).toBe(false);
  });
});

describe('isOwnTopFrame', () => {
  const sender = { getType: () => 'window' as const };
  const top = { url: 'app://bundle/', parent: null };

  test('the top frame of our own page is let in', () => {
    expect(isOwnTopFrame(sender, top)).toBe(true);
  });

  // Catches a gate that forgets one of its four conditions.
  test.each([
    ['a frame inside the page', sender, { url: 'app://bundle/', parent: top as never }],
    ['a frame that is gone', sender, null],
    ['another page', sender, { url: 'https://example.com/', parent: null }],
    ['a webview', { getType: () => 'webview' as const }, top],
    ['developer tools', { getType: () => 'remote' as const }, top],
  ])('%s is not', (_what, from, frame) => {
    expect(isOwnTopFrame(from, frame)).toBe(false);
  });
});

describe('isSafeExternal', () => {
  test.each(['https://example.com', 'https://example.com/a?b#c', 'HTTPS://EXAMPLE.COM/', 'https://例え.jp/', 'mailto:a@b.c', 'mailto:a@b.c?subject=x'])('%s may be opened', (url) => {
    expect(isSafeExternal(url)).toBe(true);
  });

  // Each of them makes a system do more than show a page, or shows another host than the text says.
  test.each([
    'http://example.com/', 'file:///etc/passwd', 'javascript:alert(1)', 'ms-msdt:/id', 'vscode://file/x', 'smb://host/share', 'data:text/html,x', 'about:blank',
    'app://bundle/', '//example.com/', '\\\\host\\share', 'https://a@b', 'https://a:b@c/', 'https:\\\\example.com', 'https:example.com', 'https:///example.com', 'mailto:', ' ', '', 'not a url',
  ])('%j may not', (url) => {
    expect(isSafeExternal(url)).toBe(false);
  });
});
