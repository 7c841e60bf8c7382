import { expect, test } from '../../drivers/shell.ts';
import { asPageScript } from './page.ts';

const REFUSED = [
  ['an inline script', `const s = document.createElement('script'); s.textContent = 'globalThis.pwned = true'; document.body.append(s); return String(globalThis.pwned);`, 'script-src-elem', 'undefined'],
  ['an event handler in markup', `document.body.insertAdjacentHTML('beforeend', '<img src="data:," onerror="globalThis.pwned = true">'); await new Promise((r) => setTimeout(r, 50)); return String(globalThis.pwned);`, 'script-src-attr', 'undefined'],
  ['eval', `return (0, eval)('1 + 1');`, 'script-src', 'EvalError'],
  ['a remote script', `const s = document.createElement('script'); s.src = 'https://example.com/x.js'; document.body.append(s); return await new Promise((r) => { s.onload = () => r('loaded'); s.onerror = () => r('refused'); });`, 'script-src-elem', 'refused'],
  ['a remote image', `const i = new Image(); i.src = 'https://example.com/x.png?secret'; return await new Promise((r) => { i.onload = () => r('loaded'); i.onerror = () => r('refused'); });`, 'img-src', 'refused'],
  ['a remote request', `return await fetch('https://example.com/').then(() => 'sent');`, 'connect-src', 'TypeError'],
  ['a remote style', `const l = document.createElement('link'); l.rel = 'stylesheet'; l.href = 'https://example.com/x.css'; document.head.append(l); return await new Promise((r) => { l.onload = () => r('loaded'); l.onerror = () => r('refused'); });`, 'style-src-elem', 'refused'],
  ['a remote frame', `const f = document.createElement('iframe'); f.src = 'https://example.com/'; document.body.append(f); return 'tried';`, 'frame-src', 'tried'],
] as const;

test('the policy is in force: the page can run and load nothing but its own', async ({ launch }) => {
  const shell = await launch();
  const page = await shell.firstWindow();
  for (const [what, statement, directive, result] of REFUSED) {
    await test.step(what, async () => {
      const outcome = await asPageScript(page, statement);
      expect(outcome.violations, what).toContain(directive);
      expect(outcome.result, what).toBe(result);
    });
  }
  expect(shell.requests().filter((url) => url.includes('example.com'))).toEqual([]);
});

test('answers of the app protocol: nothing outside the bundle, no sniffing, the policy on every answer', async ({ launch }) => {
  const shell = await launch();
  const page = await shell.firstWindow();
  const statusOf = (path: string): Promise<number> => page.evaluate(`fetch(${JSON.stringify(path)}).then((answer) => answer.status)`);
  expect(await statusOf('/index.html')).toBe(200);
  for (const path of ['/..%2f..%2fpackage.json', '/%2e%2e/%2e%2e/package.json', '/..%5c..%5cpackage.json', '/index.html%00.js', '/assets/none.js', '/.env.txt']) {
    expect(await statusOf(path), path).toBe(404);
  }
  const headers = await page.evaluate<Record<string, string>>(`fetch('/index.html').then((answer) => Object.fromEntries(answer.headers))`);
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(headers['content-security-policy']).toContain(`default-src 'none'`);
});

test('every permission is denied but writing to the clipboard', async ({ launch }) => {
  const shell = await launch();
  const page = await shell.firstWindow();
  const states = await page.evaluate(`Promise.all(
    ['geolocation', 'notifications', 'camera', 'microphone', 'midi', 'clipboard-read', 'clipboard-write', 'local-fonts']
      .map(async (name) => [name, (await navigator.permissions.query({ name })).state])
  ).then(Object.fromEntries)`);
  expect(states).toEqual({
    geolocation: 'denied',
    notifications: 'denied',
    camera: 'denied',
    microphone: 'denied',
    midi: 'denied',
    'clipboard-read': 'denied',
    'clipboard-write': 'granted',
    'local-fonts': 'denied',
  });
});
