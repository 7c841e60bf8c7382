import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { acquireHome, readHolder } from '#engine/store/instance.ts';
import type { Client } from '#shared/contract/index.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** As main.ts does it, with a page of the test's own. */
const START = `
import { parseOptions } from ${JSON.stringify(join(ROOT, 'electron/serve/options.ts'))};
import { serve } from ${JSON.stringify(join(ROOT, 'electron/serve/serve.ts'))};
const [pageFolder, ...args] = process.argv.slice(1);
const parsed = parseOptions(args);
const paths = { resources: ${JSON.stringify(join(ROOT, 'resources'))}, reader: ${JSON.stringify(join(ROOT, 'electron/engine/store/reader.ts'))} };
process.exitCode = await serve(parsed.options, { pageFolder, paths, version: '1.2.3', env: process.env });
`;

let folder: string;
let home: string;
let children: ChildProcess[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'talaria-browser-mode-'));
  home = join(folder, 'home');
  mkdirSync(join(folder, 'page'));
  writeFileSync(join(folder, 'page', 'index.html'), '<html><!--talaria-host--></html>');
  children = [];
});
afterEach(async () => {
  for (const child of children) await kill(child);
  rmSync(folder, { recursive: true, force: true });
});

async function kill(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill(signal);
  await gone;
}

interface Started {
  child: ChildProcess;
  output: () => string;
  /** Resolves to the printed link, or to null when the process ended without one. */
  link: Promise<string | null>;
  code: Promise<number | null>;
}

function run(args: string[] = []): Started {
  const argv = ['--input-type=module', '-e', START, join(folder, 'page'), '--no-open', '--home', home, ...args];
  const child = spawn(process.execPath, argv, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, TALARIA_HOME: '' } });
  children.push(child);
  let output = '';
  const code = once(child, 'close').then(([exit]) => exit as number | null);
  const link = new Promise<string | null>((resolve) => {
    const take = (part: Buffer): void => {
      output += part.toString();
      const found = /http:\S+token=\S+/.exec(output);
      if (found) resolve(found[0]);
    };
    child.stdout.on('data', take);
    child.stderr.on('data', take);
    void code.then(() => resolve(null));
  });
  return { child, output: () => output, link, code };
}

async function started(args?: string[]): Promise<Started & { url: string }> {
  const one = run(args ?? ['--port', '0']);
  const url = await one.link;
  if (url === null) throw new Error(`no link: ${one.output()}`);
  return { ...one, url };
}

/** Follows a link as a browser does, and talks to the engine behind it. */
async function enter(link: string): Promise<{ client: Client; socket: WebSocket; another: () => Promise<WebSocket> }> {
  const { origin, host } = new URL(link);
  const answer = await fetch(link, { redirect: 'manual' });
  expect(answer.status).toBe(303);
  const cookie = answer.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  const another = async (): Promise<WebSocket> => {
    const socket = new WebSocket(`ws://${host}/rpc`, { headers: { origin, cookie } });
    await once(socket, 'open');
    return socket;
  };
  const socket = await another();
  return { client: createORPCClient(new RPCLink({ websocket: socket as never })), socket, another };
}

/** Everything in the home's logs folder. */
function readLog(): string {
  return readdirSync(join(home, 'logs')).map((name) => readFileSync(join(home, 'logs', name), 'utf8')).join('');
}

describe('browser mode', () => {
  // Bug: the printed link does not lead to the engine; the secrets of the home stand in the output or the log.
  it('prints a link that leads to the engine of this home, and stops cleanly', async () => {
    const one = await started();
    const { client, socket } = await enter(one.url);
    expect(await client.app.info()).toMatchObject({ host: 'browser', home, version: '1.2.3' });
    expect(one.output()).toContain(`Talaria 1.2.3, data in ${home}`);
    const holder = readHolder(home);
    expect(holder).toMatchObject({ host: 'browser', pid: one.child.pid, address: `${new URL(one.url).origin}/` });
    expect(one.output() + readLog()).not.toContain(holder?.controlSecret);

    const closed = once(socket, 'close');
    await kill(one.child, 'SIGINT');
    expect((await closed)[0]).toBe(1001);
    expect(await one.code).toBe(0);
    expect(readHolder(home)).toBeNull();
  });

  // Bug: whatever comes in on an open socket ends as a stack trace on the terminal, or takes the server down.
  it('closes a socket that sends no request, in silence', async () => {
    const one = await started();
    const { client, another } = await enter(one.url);
    const garbage = [
      'no JSON', '', '7', 'null', '[]', '{}', '{"i":"1"}', '{"i":"1","p":{}}', '{"i":"1","p":{"u":7}}', '{"i":"1","p":{"u":"//["}}', '{"i":"1","t":3}', '{"i":{},"p":{"u":"/app/info"}}',
      '{"i":"1","p":{"u":"/app/info","h":{"content-type":"multipart/form-data"}}}', Buffer.from([0, 255, 1]),
    ];
    for (const frame of garbage) {
      const socket = await another();
      const closed = once(socket, 'close');
      socket.send(frame);
      expect((await closed)[0], String(frame)).toBe(1008);
    }
    expect(await client.app.info()).toMatchObject({ home });
    expect(one.output()).not.toMatch(/Error|^ +at /m);
  });

  // Bug: a second `npm start` fails, damages the store, or prints a link that does not work.
  it('gets a second start a link to the first', async () => {
    const first = await started();
    const second = await started();
    expect(await second.code).toBe(0);
    expect(new URL(second.url).origin).toBe(new URL(first.url).origin);
    expect(second.url).not.toBe(first.url);
    const info = await (await enter(second.url)).client.app.info();
    expect(await (await enter(first.url)).client.app.info()).toEqual(info);
  });

  // Bug: two starts at the same moment: one of them fails because the other is not ready yet.
  it('serves two that start at once by one engine', async () => {
    const both = await Promise.all([started(), started()]);
    const [a, b] = both.map(({ url }) => url);
    const infos = [await (await enter(String(a))).client.app.info(), await (await enter(String(b))).client.app.info()];
    expect(infos[0]).toEqual(infos[1]);
  });

  // Bug: when the desktop app has the home, browser mode hangs, or does not say whom to close.
  it('says who holds the home when it is no browser mode', async () => {
    mkdirSync(home);
    const lock = acquireHome(home, { host: 'desktop' });
    const one = run(['--port', '0']);
    expect(await one.code).toBe(1);
    lock.release();
    expect(one.output()).toContain('desktop app');
    expect(one.output()).toContain(String(process.pid));
    expect(one.output()).not.toMatch(/\n\s+at /);
  });

  // Bug: after kill -9 the home stays locked, or an old link or session still lets in.
  it('starts again on the same home after kill -9', async () => {
    const first = await started();
    await (await enter(first.url)).client.settings.update({ theme: 'dark' });
    await kill(first.child);
    const second = await started(['--port', new URL(first.url).port]);
    expect((await fetch(first.url, { redirect: 'manual' })).status).toBe(401);
    expect((await (await enter(second.url)).client.settings.get()).theme).toBe('dark');
  });

  // Bug: a taken port, a bad address or an unusable home ends in a stack trace.
  it('says in a sentence why it cannot start', async () => {
    const first = await started();
    const taken = run(['--port', new URL(first.url).port, '--home', join(folder, 'other')]);
    expect(await taken.code).toBe(1);
    expect(taken.output()).toMatch(/^Port \d+ is in use by another program\. [^\n]+\n$/);
    const nowhere = run(['--host', '192.0.2.1', '--allow-remote', '--port', '0', '--home', join(folder, 'other')]);
    expect(await nowhere.code).toBe(1);
    expect(nowhere.output()).toMatch(/^This machine has no address 192\.0\.2\.1\. [^\n]+\n$/);
    writeFileSync(join(folder, 'file'), '');
    const unusable = run(['--home', join(folder, 'file')]);
    expect(await unusable.code).toBe(1);
    expect(unusable.output()).toMatch(/^[^\n]+a file is in the way[^\n]+\n$/);
  });
});

describe('main.ts', () => {
  const main = async (...args: string[]): Promise<{ code: number | null; output: string }> => {
    const child = spawn(process.execPath, [join(ROOT, 'electron/serve/main.ts'), ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(child);
    let output = '';
    child.stdout.on('data', (part: Buffer) => (output += part.toString()));
    child.stderr.on('data', (part: Buffer) => (output += part.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, output };
  };

  // Bug: --help starts the program; a wrong or dangerous option does as well.
  it('explains itself and refuses wrong options', async () => {
    expect(await main('--help')).toMatchObject({ code: 0, output: expect.stringContaining('--allow-remote') });
    expect(await main('--prot', '1')).toMatchObject({ code: 2, output: expect.stringContaining("'--prot'") });
    expect(await main('--host', '0.0.0.0')).toMatchObject({ code: 2, output: expect.stringContaining('--allow-remote') });
  });
});
