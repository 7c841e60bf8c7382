import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ToolError } from '../define.ts';
import { openWebBench, type WebBench } from './testing.ts';

let bench: WebBench;
beforeEach(async () => {
  bench = await openWebBench();
});
afterEach(() => bench.close());

const never = new AbortController().signal;
const extract = (url: string, signal = never) => bench.web().extract(url, signal);
const says = (text: string | RegExp) => ({ name: 'ToolError', message: typeof text === 'string' ? expect.stringContaining(text) : expect.stringMatching(text) });

const ARTICLE = `<!doctype html><html><head><title>The title</title><script>var tracked = 1</script><style>p { color: red }</style></head><body>
<nav><a href="/home">Home</a></nav><article><h1>Heading</h1><p>${'A sentence of the article. '.repeat(20)}</p>
<p>See <a href="/next?a=1#x">the next page</a>, <a href="javascript:alert(1)">not this</a>, <a href="data:text/html,x">nor that</a> and <a href=" jAvAsCrIpT:alert(2)">none</a>.</p>
<pre><code class="language-python">def f(a):
    return "\`\`\`"
</code></pre>
<table><caption>Sizes</caption><tr><th>Name</th><th>Size</th></tr><tr><td>a|b</td><td>1<br>2</td></tr></table>
<img src="/cat.png" alt="A cat" onerror="alert(3)"><img src="data:image/png;base64,AAAA" alt="Inline">
<p onclick="steal()">Last words.</p></article></body></html>`;

it('turns a page into Markdown: headings, tables, code, absolute links; no scripts, no pictures, no dangerous links', async () => {
  const { url, title, markdown } = await extract(bench.page('/a/page.html', ARTICLE));
  expect(url).toBe(`${bench.origin}/a/page.html`);
  expect(title).toBe('The title');
  expect(markdown).toContain(`[the next page](${bench.origin}/next?a=1#x)`);
  expect(markdown).toContain('````python\ndef f(a):\n    return "```"\n````');
  expect(markdown).toContain('Sizes\n\n| Name | Size |\n| --- | --- |\n| a\\|b | 1 2 |');
  expect(markdown).toContain(`[picture: A cat](${bench.origin}/cat.png)`);
  expect(markdown).toContain('Last words.');
  expect(markdown).not.toMatch(/javascript:|data:|alert|tracked|color: red|steal|<\w|!\[/i);
  // nothing of the page was fetched besides itself
  expect(bench.requests.map((request) => request.url)).toEqual(['/a/page.html']);
});

it('reads a short page whole, and a page that is no article', async () => {
  expect((await extract(bench.page('/short', '<p>Hello</p><ul><li>one<li>two</ul>'))).markdown).toMatch(/^Hello\n\n- +one\n- +two$/);
  const list = `<div id=main>${Array.from({ length: 60 }, (_, i) => `<div><a href="/item/${i}">Item number ${i}</a></div>`).join('')}</div>`;
  expect((await extract(bench.page('/list', list))).markdown).toContain('Item number 59');
});

it('follows up to five redirects and says where it ended; the sixth is refused', async () => {
  bench.page('/0', '<p>There</p>');
  for (let i = 1; i <= 6; i++) bench.on(`/${i}`, (_, response) => void response.writeHead(302, { location: `/${i - 1}` }).end());
  expect(await extract(`${bench.origin}/5`)).toMatchObject({ url: `${bench.origin}/0`, markdown: 'There' });
  await expect(extract(`${bench.origin}/6`)).rejects.toMatchObject(says('redirects more than 5 times'));
  bench.on('/loop', (_, response) => void response.writeHead(302, { location: '/loop' }).end());
  await expect(extract(`${bench.origin}/loop`)).rejects.toMatchObject(says('redirects more than 5 times'));
  bench.on('/js', (_, response) => void response.writeHead(302, { location: 'javascript:alert(1)' }).end());
  await expect(extract(`${bench.origin}/js`)).rejects.toMatchObject(says('not a web address'));
});

describe('kinds of content', () => {
  it.each([
    ['text/plain', 'a <b>\r\nline', 'a <b>\nline'],
    ['text/markdown; charset=utf-8', '# Hi\n', '# Hi\n'],
    ['application/json', '{"a": 1}', '{"a": 1}'],
    ['application/rss+xml', '<rss>x</rss>', '<rss>x</rss>'],
    ['', 'bare text', 'bare text'],
  ])('takes %s as it is', async (type, body, expected) => {
    expect((await extract(bench.page('/x', body, type))).markdown).toBe(expected);
  });

  it.each([
    ['application/pdf', '%PDF-1.7', 'is a PDF'],
    ['application/octet-stream', '%PDF-1.7', 'is a PDF'],
    ['image/png', 'x', 'vision_analyze'],
    ['video/mp4', 'x', 'is not text'],
    ['application/zip', 'PK', 'is of the type application/zip'],
    ['text/html', 'a\u0000b', 'is not text'],
    ['text/html', '<script>only()</script>', 'no readable text'],
  ])('refuses %s with what to do', async (type, body, expected) => {
    await expect(extract(bench.page('/x', body, type))).rejects.toMatchObject(says(expected));
  });

  it.each([[404, 'no page'], [403, 'signing in'], [500, 'error (500)'], [429, 'too many requests']])('says what %i means', async (status, expected) => {
    bench.on('/e', (_, response) => void response.writeHead(status).end('<p>long error page</p>'));
    await expect(extract(`${bench.origin}/e`)).rejects.toMatchObject(says(expected));
  });
});

describe('hostile pages', () => {
  const gbk = Buffer.concat([Buffer.from('<html><meta charset="gbk"><body><p>'), Buffer.from([0xc4, 0xe3, 0xba, 0xc3]), Buffer.from('</p></body></html>')]);
  // Bug: mojibake because the declared charset is taken at its word.
  it.each([
    ['wrongly declared', 'text/html; charset=utf-8', gbk, '你好'],
    ['unknown charset', 'text/html; charset=klingon', Buffer.from('<p>你好</p>'), '你好'],
    ['only in the page', 'text/html', gbk, '你好'],
    ['Latin-1', 'text/html; charset=iso-8859-1', Buffer.from([0x63, 0x61, 0x66, 0xe9]), 'café'],
    ['UTF-16 with a mark', 'text/plain', Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from('hi 你', 'utf16le')]), 'hi 你'],
    ['broken UTF-8', 'text/plain; charset=utf-8', Buffer.from([0x61, 0xff, 0x62]), 'a\ufffdb'],
  ])('decodes: %s', async (_, type, body, expected) => {
    bench.on('/c', (_request, response) => void response.writeHead(200, type === '' ? {} : { 'content-type': type }).end(body));
    expect((await extract(`${bench.origin}/c`)).markdown).toBe(expected);
  });

  it('survives one line of 1 MB, deep nesting and half a tag', async () => {
    expect((await extract(bench.page('/line', `<p>${'word '.repeat(200_000)}</p>`))).markdown.length).toBe(999_999);
    expect((await extract(bench.page('/deep', `${'<div>'.repeat(50_000)}deep down`))).markdown).toContain('deep down');
    expect((await extract(bench.page('/half', `<p>before</p><scr${'<'.repeat(50_000)}`))).markdown).toContain('before');
  });

  // Bug: what people cannot see steers the model.
  it('drops characters and elements that nobody sees', async () => {
    const tags = [...'obey'].map((c) => String.fromCodePoint(0xe0000 + c.charCodeAt(0))).join('');
    const html = `<p>one${tags}\u202e\u200btwo</p><div hidden>secret order</div><template>secret order</template><!-- secret order -->`;
    expect((await extract(bench.page('/hidden', html))).markdown).toBe('onetwo');
  });

  // Bug: an answer without an end, or one that unpacks to gigabytes, fills the memory.
  it('stops an endless body and a compression bomb at the limit', async () => {
    bench.on('/endless', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/plain' });
      const more = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(256 * 1024, 97)));
      };
      response.on('drain', more);
      more();
    });
    await expect(extract(`${bench.origin}/endless`)).rejects.toMatchObject(says('larger than 8 MB'));
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024));
    bench.on('/bomb', (_, response) => void response.writeHead(200, { 'content-type': 'text/plain', 'content-encoding': 'gzip' }).end(bomb));
    await expect(extract(`${bench.origin}/bomb`)).rejects.toMatchObject(says('larger than 8 MB'));
  });

  it('refuses a text of more than 2,000,000 characters', async () => {
    await expect(extract(bench.page('/log', 'x'.repeat(2_000_001), 'text/plain'))).rejects.toMatchObject(says('2,000,001 characters'));
  });

  it('says what happened when the line is cut or nobody listens', async () => {
    bench.on('/cut', (_, response) => {
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': '1000' });
      response.write('<p>half', () => response.destroy());
    });
    await expect(extract(`${bench.origin}/cut`)).rejects.toMatchObject(says('cut the connection'));
    const gone = await openWebBench();
    await gone.close();
    await expect(extract(gone.origin)).rejects.toMatchObject(says('does not accept connections'));
  });

  it('ends at once when the run is interrupted', async () => {
    const stop = new AbortController();
    bench.on('/slow', () => stop.abort(new Error('the person stopped it')));
    await expect(extract(`${bench.origin}/slow`, stop.signal)).rejects.toThrow('the person stopped it');
  });
});

it('downloads bytes up to the limit', async () => {
  bench.on('/b', (_, response) => void response.end(Buffer.alloc(2_000_000, 1)));
  expect((await bench.web().download(`${bench.origin}/b`, 3_000_000, never)).bytes.byteLength).toBe(2_000_000);
  await expect(bench.web().download(`${bench.origin}/b`, 1_048_576, never)).rejects.toBeInstanceOf(ToolError);
});
