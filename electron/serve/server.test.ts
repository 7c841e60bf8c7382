import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import { os as orpc, type RouterClient } from '@orpc/server';
import { RPCHandler } from '@orpc/server/ws';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { askForLink } from './control.ts';
import { PageServer, type ServerOptions } from './server.ts';

const CONTROL_SECRET = 'control-secret';
/** A stand-in for the engine: one call, and one stream that counts how far it was asked to go. */
let streamed = 0;
let onFloodEnd = (): void => undefined;
const router = {
  hello: orpc.handler(() => 'hello'),
  flood: orpc.handler(async function* () {
    try {
      for (;;) {
        streamed++;
        yield 'x'.repeat(1024 * 1024);
      }
    } finally {
      onFloodEnd();
    }
  }),
};

let folder: string;
let server: PageServer;
let now: number;
let sockets: WebSocket[];

async function start(more: Partial<ServerOptions> = {}): Promise<PageServer> {
  const started = await PageServer.listen({
    host: '127.0.0.1',
    port: 0,
    allowRemote: false,
    pageFolder: join(folder, 'page'),
    onError: (message, error) => expect.fail(`${message}: ${String(error)}`),
    now: () => now,
    ...more,
  });
  started.open({
    exportsFolder: join(folder, 'exports'),
    controlSecret: CONTROL_SECRET,
    serveSocket: (socket) => void new RPCHandler(router).upgrade(socket),
  });
  return started;
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'talaria-serve-'));
  mkdirSync(join(folder, 'page', 'assets'), { recursive: true });
  mkdirSync(join(folder, 'exports', 'sub'), { recursive: true });
  writeFileSync(join(folder, 'page', 'index.html'), '<html><!--talaria-host--><script src="./assets/a.js"></script></html>');
  writeFileSync(join(folder, 'page', 'assets', 'a.js'), 'export {};');
  writeFileSync(join(folder, 'secret.txt'), 'secret');
  now = 1_000_000;
  sockets = [];
  server = await start();
});
afterEach(async () => {
  for (const socket of sockets) socket.terminate();
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** A request with its path and headers as they are, unlike fetch, which tidies both. */
function ask(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port: server.port, path, method, headers: { accept: 'text/html', ...headers } }, (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts).toString() }));
    });
    request.on('error', reject);
    request.end();
  });
}

const policyOf = (answer: Answer): string => String(answer.headers['content-security-policy']);
const pathOf = (link: string): string => link.slice(new URL(link).origin.length);

async function session(): Promise<{ cookie: string }> {
  const answer = await ask(pathOf(server.newLink()));
  expect(answer.status).toBe(303);
  return { cookie: answer.headers['set-cookie']?.[0]?.split(';')[0] ?? '' };
}

/** Opens a WebSocket; the status of the refusal when there is one. */
function connect(headers: Record<string, string>, path = '/rpc'): Promise<WebSocket | number> {
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, { headers });
  sockets.push(socket);
  return new Promise((resolve, reject) => {
    socket.on('open', () => resolve(socket));
    socket.on('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0));
    socket.on('error', reject);
  });
}

describe('the way in', () => {
  // Bug: a link from the scrollback, a proxy's log or a second person's screen lets in again.
  it('lets a link in once, with a cookie that scripts and other sites cannot use', async () => {
    const path = pathOf(server.newLink());
    expect(path).toMatch(/^\/\?token=[\w-]{43}$/);
    const first = await ask(path);
    expect(first).toMatchObject({ status: 303, headers: { location: '/', 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' } });
    expect(first.headers['set-cookie']?.[0]).toMatch(new RegExp(`^talaria-${server.port}=[\\w-]{43}; HttpOnly; SameSite=Strict; Path=/$`));
    const second = await ask(path);
    expect(second.status).toBe(401);
    expect(second.headers['set-cookie']).toBeUndefined();
    expect(second.body).toContain('npm start');
  });

  // Bug: two requests at the same moment both get in with one token.
  it('lets only one of many at once in', async () => {
    const path = pathOf(server.newLink());
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask(path)));
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 401, 401, 401, 401, 401, 401, 401]);
  });

  // Bug: links stay good for ever; the look of a chat program or a prefetch uses the link up.
  it('lets links expire, and not be used up by looking', async () => {
    const old = pathOf(server.newLink());
    now += 60 * 60_000 + 1;
    expect((await ask(old)).status).toBe(401);
    const path = pathOf(server.newLink());
    expect((await ask(path, {}, 'HEAD')).status).toBe(204);
    expect((await ask(path, { 'sec-purpose': 'prefetch' })).status).toBe(204);
    expect((await ask(path)).status).toBe(303);
  });

  // Bug: a link clicked in a web page (a terminal in the browser) ends at the "not let in" page: the redirect has no Strict cookie.
  it('goes on by itself when another site led here', async () => {
    const answer = await ask(pathOf(server.newLink()), { 'sec-fetch-site': 'cross-site' });
    expect(answer.status).toBe(200);
    expect(answer.headers['set-cookie']).toHaveLength(1);
    expect(answer.body).toContain('http-equiv="refresh"');
  });

  // Bug: who is in already and clicks an old link is thrown out.
  it('keeps who is in', async () => {
    const path = pathOf(server.newLink());
    await ask(path);
    expect(await ask(path, await session())).toMatchObject({ status: 303, headers: { location: '/' } });
  });

  // Bug: without a session, files of the page or exports can be had; the page cannot tell "refused" from "gone".
  it('gives nothing without a session and says how to get one, in the language of the browser', async () => {
    writeFileSync(join(folder, 'exports', 'a.jsonl'), 'secret');
    for (const path of ['/', '/assets/a.js', '/library', '/exports/a.jsonl', '/?token=', '/?token=wrong', '/index.html']) {
      const { status, body } = await ask(path, { cookie: `talaria-${server.port}=wrong` });
      expect(status, path).toBe(401);
      expect(body).not.toMatch(/secret|export \{|talaria-host/);
    }
    expect((await ask('/', {}, 'HEAD')).status).toBe(401);
    expect((await ask('/', { 'accept-language': 'zh-CN,zh;q=0.9,en;q=0.8' })).body).toContain('再次运行');
    const page = await ask('/');
    const nonce = /<style nonce="([^"]+)"/.exec(page.body)?.[1];
    expect(page.headers['content-security-policy']).toContain(`'nonce-${nonce}'`);
  });

  // Bug: another user of the machine reads the link from the arguments of the browser's opener and is faster.
  it.runIf(process.platform === 'linux')('knows the user at the other end of a link that was handed to a program', async () => {
    expect((await ask(pathOf(server.newLinkToOpen()))).status).toBe(303);
  });
});

describe('who may ask', () => {
  // Bug: DNS rebinding: a page of evil.example that resolves to 127.0.0.1 talks to the engine.
  it('answers only to its own names', async () => {
    const { cookie } = await session();
    for (const host of ['evil.example', `evil.example:${server.port}`, '127.0.0.1.evil.example', '192.168.0.7', '0.0.0.0', 'localhost@evil.example', 'localhost/x']) {
      expect((await ask('/', { host, cookie })).status, host).toBe(403);
      expect((await ask(pathOf(server.newLink()), { host })).headers['set-cookie'], host).toBeUndefined();
    }
    for (const host of [`127.0.0.1:${server.port}`, 'localhost:8080', '[::1]:1']) expect((await ask('/', { host, cookie })).status, host).toBe(200);
  });

  // Bug: any web page can open a WebSocket to this machine, and the browser adds the cookie on the same site.
  it('takes a WebSocket only from its own page, with a session', async () => {
    const { cookie } = await session();
    const origin = `http://127.0.0.1:${server.port}`;
    expect(await connect({ cookie })).toBe(403);
    for (const other of ['http://evil.example', 'null', `http://127.0.0.1:${server.port + 1}`, `http://localhost:${server.port}`]) {
      expect(await connect({ cookie, origin: other }), other).toBe(403);
    }
    expect(await connect({ cookie, origin: 'http://evil.example', host: 'evil.example' })).toBe(403);
    expect(await connect({ origin })).toBe(401);
    expect(await connect({ origin, cookie: `talaria-${server.port}=x` })).toBe(401);
    expect(await connect({ origin, cookie }, '/other')).toBe(404);
    const socket = await connect({ origin, cookie });
    if (typeof socket === 'number') throw new Error(`refused: ${socket}`);
    const client: RouterClient<typeof router> = createORPCClient(new RPCLink({ websocket: socket as never }));
    expect(await client.hello()).toBe('hello');
  });

  // Bug: a page or another machine can make links for itself; the right secret is refused; a busy start is given up.
  it('gives links only to who knows the secret', async () => {
    const post = (headers: Record<string, string>) => ask('/control/link', headers, 'POST');
    const authorization = `Bearer ${CONTROL_SECRET}`;
    expect((await post({})).status).toBe(401);
    expect((await post({ authorization: `${authorization}x` })).status).toBe(401);
    expect((await post({ authorization, origin: server.address.slice(0, -1) })).status).toBe(403);
    expect((await post({ authorization, host: 'evil.example' })).status).toBe(403);
    expect((await ask('/control/link', { authorization })).status).toBe(405);
    const holder = { host: 'browser' as const, pid: 1, since: '', address: server.address, controlSecret: CONTROL_SECRET };
    const links = await askForLink(holder);
    expect((await ask(pathOf(links?.link ?? '/'))).status).toBe(303);
    expect((await ask(pathOf(links?.open ?? '/'))).status).toBe(303);
    expect(await askForLink({ ...holder, controlSecret: 'old' })).toBeNull();
    expect(await askForLink({ ...holder, host: 'desktop' })).toBeNull();
  });

  // Bug: something that changes state can be reached with another method.
  it('takes no other methods', async () => {
    const { cookie } = await session();
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) expect((await ask('/', { cookie }, method)).status, method).toBe(405);
  });
});

describe('the page', () => {
  // Bug: a header is missing in browser mode, so that a model's picture can send data out, or the page can be framed.
  it('comes with the headers of the desktop, its host and its nonce', async () => {
    const page = await ask('/', await session());
    expect(policyOf(page).replace(/nonce-[^']+/, 'nonce-N').split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' 'nonce-N'",
      "img-src 'self' data: blob:",
      "font-src 'self'",
      `connect-src 'self' ws://127.0.0.1:${server.port} wss://127.0.0.1:${server.port}`,
      "worker-src 'self' blob:",
      "frame-src 'none'",
      "object-src 'none'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ]);
    expect(page.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': 'no-store',
    });
    const nonce = /'nonce-([^']+)'/.exec(policyOf(page))?.[1];
    expect(page.body).toContain('<meta name="talaria-host" content="browser">');
    expect(page.body).toContain(`<meta name="talaria-style-nonce" content="${nonce}">`);
  });

  // Bug: a missing script is answered with HTML, or a file has a type that nosniff refuses.
  it('answers files by their type and missing ones with 404', async () => {
    const allowed = await session();
    expect((await ask('/?x=1', allowed)).headers['content-type']).toBe('text/html; charset=utf-8');
    expect((await ask('/library', allowed)).status).toBe(404);
    expect((await ask('/assets/a.js', allowed)).headers['content-type']).toBe('text/javascript; charset=utf-8');
    expect((await ask('/assets/gone.js', allowed)).status).toBe(404);
  });

  // Bug: a path climbs out of the folder, by dots in any writing, by a link, or by a drive.
  it('gives out nothing else', async () => {
    const allowed = await session();
    symlinkSync(join(folder, 'secret.txt'), join(folder, 'page', 'link.txt'));
    symlinkSync(folder, join(folder, 'exports', 'up.d'));
    writeFileSync(join(folder, 'exports', 'sub', 'b.txt'), 'secret');
    writeFileSync(join(folder, 'exports', '.env'), 'secret');
    for (const path of [
      '/../secret.txt', '/%2e%2e/secret.txt', '/assets/..%2f..%2fsecret.txt', '/assets/%2e%2e%2f%2e%2e%2fsecret.txt', '/..%5csecret.txt', '/link.txt',
      '//secret.txt', `/exports/..%2fsecret.txt`, '/exports/../secret.txt', `/exports/${encodeURIComponent(join(folder, 'secret.txt'))}`, '/exports/sub/b.txt',
      '/exports/sub', '/exports/up.d', '/exports/up.d/secret.txt', '/exports/.env', '/exports/', '/exports', '/exports/C:x', '/exports/a%00.txt', '/%ff', 'http://127.0.0.1/secret.txt',
    ]) {
      const { status, body } = await ask(path, allowed);
      expect(body, path).not.toBe('secret');
      expect([400, 404], `${path} ${body}`).toContain(status);
    }
  });

  // Bug: an export is shown as a page, gets a wrong name, or is cut.
  it('sends exports to be saved', async () => {
    const content = '{"提示":1}\n'.repeat(50_000);
    writeFileSync(join(folder, 'exports', '训练 "1".html'), content);
    writeFileSync(join(folder, 'exports', 'empty'), '');
    const allowed = await session();
    const { status, headers, body } = await ask(`/exports/${encodeURIComponent('训练 "1".html')}`, allowed);
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'content-type': 'application/octet-stream', 'x-content-type-options': 'nosniff', 'content-security-policy': "default-src 'none'; sandbox" });
    expect(headers['content-disposition']).toBe(`attachment; filename="__ _1_.html"; filename*=UTF-8''%E8%AE%AD%E7%BB%83%20%221%22.html`);
    expect(body === content).toBe(true);
    expect(await ask('/exports/empty', allowed)).toMatchObject({ status: 200, body: '' });
  });
});

describe('sockets', () => {
  // Bug: a page that does not read (a laptop asleep) fills the engine's memory with a live stream.
  it('makes a stream wait for a page that does not read', async () => {
    streamed = 0;
    const { cookie } = await session();
    const socket = await connect({ cookie, origin: `http://127.0.0.1:${server.port}` });
    if (typeof socket === 'number') throw new Error(`refused: ${socket}`);
    const client: RouterClient<typeof router> = createORPCClient(new RPCLink({ websocket: socket as never }));
    const stream = await client.flood();
    await stream.next();
    socket.pause();
    // As many turns as an unbounded stream would need for far more than the limit.
    for (let turn = 0; turn < 2_000; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(streamed).toBeLessThan(64);
    socket.resume();
    const before = streamed;
    while (streamed < before + 20) await stream.next();
  });

  // Bug: the stream to a page that has gone spins for ever and starves everything else.
  it('ends the stream of a page that has gone', async () => {
    const ended = new Promise<void>((resolve) => (onFloodEnd = resolve));
    const { cookie } = await session();
    const socket = await connect({ cookie, origin: `http://127.0.0.1:${server.port}` });
    if (typeof socket === 'number') throw new Error(`refused: ${socket}`);
    const client: RouterClient<typeof router> = createORPCClient(new RPCLink({ websocket: socket as never }));
    await (await client.flood()).next();
    socket.terminate();
    await ended;
  });

  // Bug: one large frame makes the engine take gigabytes.
  it('cuts off a frame that is too large', async () => {
    const { cookie } = await session();
    const socket = await connect({ cookie, origin: `http://127.0.0.1:${server.port}` });
    if (typeof socket === 'number') throw new Error(`refused: ${socket}`);
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
    socket.send(Buffer.alloc(9 * 1024 * 1024), () => undefined);
    await closed;
  });

  // Bug: Ctrl+C hangs on an open page, or the page cannot say why it lost the engine.
  it('says goodbye when it closes', async () => {
    const { cookie } = await session();
    const socket = await connect({ cookie, origin: `http://127.0.0.1:${server.port}` });
    if (typeof socket === 'number') throw new Error(`refused: ${socket}`);
    const closed = new Promise<[number, string]>((resolve) => socket.once('close', (code, reason) => resolve([code, reason.toString()])));
    const { address } = server;
    await server.close();
    expect(await closed).toEqual([1001, 'Talaria was stopped.']);
    await expect(fetch(address)).rejects.toThrow();
    server = await start();
  });
});

describe('listening', () => {
  // Bug: before the engine is open, the page is answered by half a program.
  it('answers 503 until it is open', async () => {
    await server.close();
    server = await PageServer.listen({ host: '127.0.0.1', port: 0, allowRemote: false, pageFolder: folder, onError: () => undefined });
    expect((await ask('/')).status).toBe(503);
    expect((await ask('/control/link', { authorization: 'Bearer x' }, 'POST')).status).toBe(503);
  });

  // Bug: a second instance with another home cannot start because the usual port is taken; a given port is silently changed.
  it('takes a free port when none is asked for, and never another than the one asked for', async () => {
    const usual = await start({ port: null });
    const other = await start({ port: null });
    expect(other.port).not.toBe(usual.port);
    await expect(start({ port: other.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await Promise.all([usual.close(), other.close()]);
  });

  // Bug: with --allow-remote the link names 0.0.0.0, or the Host check refuses the machine's own address; domains must stay out.
  it('answers to addresses when other machines are meant to reach it', async () => {
    await server.close();
    server = await start({ host: '0.0.0.0', allowRemote: true });
    expect(server.address).toBe(`http://127.0.0.1:${server.port}/`);
    const allowed = await session();
    expect((await ask('/', { ...allowed, host: '192.168.0.7:4517' })).status).toBe(200);
    expect((await ask('/', { ...allowed, host: 'evil.example' })).status).toBe(403);
  });
});
