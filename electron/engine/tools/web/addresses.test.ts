import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isPublicAddress } from './addresses.ts';
import { openWebBench, type WebBench } from './testing.ts';

let bench: WebBench;
beforeEach(async () => {
  bench = await openWebBench();
  bench.configure('# only the internet\n');
});
afterEach(() => bench.close());

const never = new AbortController().signal;
const refusal = { name: 'ToolError', message: expect.stringMatching(/^Refused: .*private network.*Settings, Web/) };

// Bug: an agent that is told to by a page reads the router, the cloud's metadata or a service of this machine.
it.each([
  ['127.0.0.1', false], ['127.8.8.8', false], ['0.0.0.0', false], ['10.1.2.3', false], ['172.16.0.1', false], ['172.32.0.1', true], ['192.168.1.1', false],
  ['169.254.169.254', false], ['100.64.0.1', false], ['100.100.100.200', false], ['168.63.129.16', false], ['224.0.0.1', false], ['255.255.255.255', false], ['198.18.0.1', false],
  ['8.8.8.8', true], ['1.1.1.1', true], ['::1', false], ['::', false], ['fe80::1', false], ['fd00:ec2::254', false], ['ff02::1', false], ['::ffff:127.0.0.1', false], ['::ffff:7f00:1', false],
  ['::ffff:8.8.8.8', true], ['64:ff9b::7f00:1', false], ['64:ff9b::808:808', true], ['2002:7f00:1::', false], ['::127.0.0.1', false], ['2606:4700:4700::1111', true], ['no address', false],
])('%s is public: %s', (address, expected) => expect(isPublicAddress(address)).toBe(expected));

describe('extract and download', () => {
  // Bug: a spelling of a private address gets past the check.
  it.each([
    'http://127.0.0.1/', 'http://127.1/', 'http://2130706433/', 'http://0x7f000001/', 'http://0177.0.0.1/', 'http://0/', 'http://[::1]/', 'http://[::ffff:127.0.0.1]/', 'http://[::ffff:7f00:1]/',
    'http://169.254.169.254/latest/meta-data/', 'http://１２７.0.0.1/', 'http://localhost/', 'http://localhost./', 'http://a.localhost/',
  ])('refuses %s', async (url) => {
    const web = bench.web({ resolve: () => Promise.resolve([{ address: '127.0.0.1', family: 4 }]) });
    await expect(web.extract(url, never)).rejects.toMatchObject(refusal);
    await expect(web.download(url, 1000, never)).rejects.toMatchObject(refusal);
  });

  it('refuses this machine by a real name look-up too', async () => {
    await expect(bench.web().extract(`http://localhost:${new URL(bench.origin).port}/`, never)).rejects.toMatchObject(refusal);
    expect(bench.requests).toEqual([]);
  });

  // Bug: one public address hides a private one that the connection then uses.
  it('refuses a name when only one of its addresses is private', async () => {
    const web = bench.web({ resolve: () => Promise.resolve([{ address: '93.184.216.34', family: 4 }, { address: '::ffff:10.0.0.1', family: 6 }]) });
    await expect(web.extract('http://two.example/', never)).rejects.toMatchObject({ message: expect.stringContaining('two.example leads to ::ffff:10.0.0.1') });
  });

  // Bug: DNS rebinding: public when checked, private when connected to.
  it('asks for the addresses once and connects to what was checked', async () => {
    const asked: string[] = [];
    const answers = ['127.0.0.1', '93.184.216.34'];
    const resolve = (name: string) => {
      asked.push(name);
      return Promise.resolve([{ address: answers[asked.length - 1] ?? '127.0.0.1', family: 4 }]);
    };
    const url = `http://rebinds.example:${new URL(bench.origin).port}/`;
    bench.page('/', '<p>secret</p>');
    await expect(bench.web({ resolve }).extract(url, never)).rejects.toMatchObject(refusal);
    expect(asked).toEqual(['rebinds.example']);
    expect(bench.requests).toEqual([]);
    // with the address pinned, the same name reaches the server that was checked
    bench.configure('web:\n  allow_private: true\n');
    asked.length = 0;
    expect((await bench.web({ resolve }).extract(url, never)).markdown).toBe('secret');
    expect(asked).toEqual(['rebinds.example']);
  });

  // Bug: a public page sends on to a private address.
  it('checks each redirect anew', async () => {
    const { port } = new URL(bench.origin);
    bench.configure('web:\n  allow_private: true\n');
    bench.on('/go', (_, response) => {
      // what the person allowed is taken back while it is on its way
      response.writeHead(302, { location: 'http://169.254.169.254/latest/' }).end();
    });
    const { createFetch } = await import('./fetch.ts');
    const { guardedLookup } = await import('./addresses.ts');
    // A look-up that says "public" for the first name although the test server is private, as a public site would be.
    const fetch = createFetch({ allowPrivate: false, resolve: () => Promise.resolve([{ address: '93.184.216.34', family: 4 }]), userAgent: 'test', lookup: (name, options, callback) => (name === 'public.example' ? guardedLookup(() => Promise.resolve([{ address: '127.0.0.1', family: 4 }]), true)(name, options, callback) : guardedLookup(() => Promise.resolve([{ address: '10.0.0.1', family: 4 }]), false)(name, options, callback)) });
    const options = { maxBytes: 1000, timeoutMs: 5000, redirects: 5, signal: never };
    await expect(fetch(`http://public.example:${port}/go`, options)).rejects.toMatchObject({ message: expect.stringContaining('redirects to it') });
    bench.on('/name', (_, response) => void response.writeHead(301, { location: `http://inside.example:${port}/secret` }).end());
    await expect(fetch(`http://public.example:${port}/name`, options)).rejects.toMatchObject({ message: expect.stringContaining('inside.example leads to 10.0.0.1') });
    expect(bench.requests.map(({ url }) => url)).toEqual(['/go', '/name']);
  });

  it.each([['file:///etc/passwd'], ['javascript:alert(1)'], ['data:text/plain,x'], ['ftp://a.example/'], ['no address'], ['http://user:pass@a.example/']])('refuses %s', async (url) => {
    await expect(bench.web().extract(url, never)).rejects.toMatchObject({ name: 'ToolError' });
  });
});
