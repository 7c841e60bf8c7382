import { describe, expect, it } from 'vitest';
import { safeLink, tellsHost } from './markdown-links.ts';

describe('links in hostile text', () => {
  it('leads only to the web or to mail (catches a click that runs script or opens a file)', () => {
    for (const href of ['javascript:alert(1)', ' javascript:alert(1)', 'data:text/html,x', 'file:///etc/passwd', 'app://bundle/', '#/settings', '/library', 'vbscript:x', '', undefined]) {
      expect(safeLink(href)).toBeNull();
    }
    expect(safeLink('https://a.example/x?y')).toEqual({ href: 'https://a.example/x?y', host: 'a.example' });
    expect(safeLink('mailto:me@a.example')?.host).toBe('me@a.example');
  });

  it('names the real host (catches https://bank.example@evil.example shown as the bank)', () => {
    expect(safeLink('https://bank.example:pw@evil.example/')).toEqual({ href: 'https://evil.example/', host: 'evil.example' });
    expect(safeLink('https://bаnk.example/')?.host).toMatch(/^xn--/);
  });

  it('leaves the host out only when the text is that very host (catches [https://good](https://evil))', () => {
    expect(tellsHost('https://good.example/path', 'good.example')).toBe(true);
    expect(tellsHost('good.example/path', 'good.example')).toBe(true);
    expect(tellsHost('https://good.example', 'evil.example')).toBe(false);
    expect(tellsHost('https://evil.example@good.example', 'good.example')).toBe(false);
    expect(tellsHost('the runbook', 'good.example')).toBe(false);
  });
});
