/** The fixtures of the specs that use the page as a person does: browser mode as a process of its own, and a real browser. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/websocket';
import { test as base } from '@playwright/test';
import type { Page } from '@playwright/test';
import { WebSocket } from 'ws';
import { readHolder } from '../../electron/engine/store/instance.ts';
import { askForLink } from '../../electron/serve/control.ts';
import type { Client } from '../../shared/contract/index.ts';

const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** Browser mode on one home, through restarts. */
export class BrowserMode {
  readonly home: string;
  readonly #args: readonly string[];
  readonly #env: Record<string, string | undefined>;
  readonly #clients: WebSocket[] = [];
  #child: ChildProcess | null = null;
  #address = '';
  #output = '';
  /** Set once it was stopped or killed: the page then rightly complains that it cannot reach it. */
  wasDown = false;

  constructor(home: string, args: readonly string[], env: Record<string, string | undefined>) {
    this.home = home;
    this.#args = args;
    this.#env = env;
  }

  /** Where the page is, without a token; the same after a restart. */
  get address(): string {
    return this.#address;
  }

  /** Everything printed so far, by all starts. */
  get output(): string {
    return this.#output;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Starts it, on the same port as before, and resolves to the printed one-time link. */
  async start(): Promise<string> {
    const port = this.#address === '' ? '0' : new URL(this.#address).port;
    const args = ['electron/serve/main.ts', '--no-open', '--port', port, '--home', this.home, ...this.#args];
    const child = spawn(process.execPath, args, { cwd: ROOT, env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] });
    this.#child = child;
    const link = await this.#linkOf(child);
    this.#address = `${new URL(link).origin}/`;
    return link;
  }

  /** A new one-time link, got as a person gets one: by a second start on the same home. */
  async newLink(): Promise<string> {
    const args = ['electron/serve/main.ts', '--no-open', '--home', this.home];
    return await this.#linkOf(spawn(process.execPath, args, { cwd: ROOT, env: this.#env, stdio: ['ignore', 'pipe', 'pipe'] }));
  }

  /** Ends it as Ctrl+C does. */
  async stop(): Promise<void> {
    await this.#end('SIGINT');
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Stops it (`how` = 'kill' for a crash) and starts it again; resolves to the new link. */
  async restart(how: 'stop' | 'kill' = 'stop'): Promise<string> {
    await this[how]();
    return await this.start();
  }

  /** A client of the engine beside the page, to prepare and to look behind the scenes. Good until the next restart. */
  async client(): Promise<Client> {
    const holder = readHolder(this.home);
    const link = holder && (await askForLink(holder))?.link;
    if (!link) throw new Error('Browser mode gave no link.');
    const answer = await fetch(link, { redirect: 'manual' });
    const cookie = answer.headers.getSetCookie()[0]?.split(';')[0];
    if (!cookie) throw new Error(`The link did not let in: ${answer.status}`);
    const { origin, host } = new URL(link);
    const socket = new WebSocket(`ws://${host}/rpc`, { headers: { origin, cookie } });
    this.#clients.push(socket);
    await once(socket, 'open');
    return createORPCClient(new RPCLink({ websocket: socket as never }));
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.wasDown = true;
    for (const socket of this.#clients.splice(0)) socket.terminate();
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill(signal);
    await gone;
  }

  #linkOf(child: ChildProcess): Promise<string> {
    return new Promise((resolve, reject) => {
      let output = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on('data', (part: Buffer) => {
          output += part.toString();
          this.#output += part.toString();
          const link = /http:\S+\?token=\S+(?=\s)/.exec(output)?.[0];
          if (link) resolve(link);
        });
      }
      child.once('error', reject);
      child.once('close', (code) => reject(new Error(`Browser mode ended with ${code} before it printed a link:\n${output}`)));
    });
  }
}

export interface BrowserModeOptions {
  /** Further options of the command line. */
  modeArgs: string[];
  /** Further environment variables; no key of the tester's own environment is handed on. */
  modeEnv: Record<string, string>;
  /** Fills the home before the first start. */
  prepareHome: ((home: string) => void | Promise<void>) | null;
  /** Problems that the spec is about and that do not fail it. */
  allowedProblems: RegExp[];
}

interface Fixtures {
  /** A fresh Talaria home of this test. */
  home: string;
  /** Browser mode, started on `home`. */
  mode: BrowserMode;
  /**
   * What went wrong in the page so far: errors on the console (violations of the content security policy among them),
   * uncaught exceptions, requests to other hosts. Any that is not allowed fails the test at its end.
   */
  problems: string[];
  /** A page that was let in by the printed link. */
  page: Page;
}

const LOST_CONNECTION = /WebSocket connection to|net::ERR_(CONNECTION|EMPTY|ABORTED|SOCKET)|Failed to load resource.*(401|503)/;

export const test = base.extend<Fixtures & BrowserModeOptions>({
  modeArgs: [[], { option: true }],
  modeEnv: [{}, { option: true }],
  prepareHome: [null, { option: true }],
  allowedProblems: [[], { option: true }],

  home: async ({ prepareHome }, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'talaria-browser-'));
    const home = join(folder, 'home');
    mkdirSync(home);
    await prepareHome?.(home);
    await use(home);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  },

  mode: async ({ home, modeArgs, modeEnv }, use, info) => {
    const mode = new BrowserMode(home, modeArgs, { ...withoutKeys(process.env), ...modeEnv });
    await use(mode);
    await mode.kill();
    if (info.status !== info.expectedStatus) await info.attach('browser-mode.log', { body: mode.output, contentType: 'text/plain' });
  },

  problems: async ({ mode, allowedProblems }, use) => {
    const problems: string[] = [];
    await use(problems);
    const allowed = mode.wasDown ? [...allowedProblems, LOST_CONNECTION] : allowedProblems;
    const unexpected = problems.filter((problem) => !allowed.some((pattern) => pattern.test(problem)));
    if (unexpected.length > 0) throw new Error(`The page had problems:\n${unexpected.join('\n')}`);
  },

  page: async ({ page, mode, problems }, use) => {
    watch(page, mode, problems);
    await page.goto(await mode.start());
    await use(page);
  },
});
export { expect } from '@playwright/test';

/** Collects what goes wrong in `page` into `problems`; for further pages of a test. */
export function watch(page: Page, mode: BrowserMode, problems: string[]): void {
  page.on('console', (message) => {
    if (message.type() === 'error') problems.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => problems.push(`uncaught: ${error.stack ?? error.message}`));
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    const own = mode.address === '' || `${origin}/` === mode.address;
    if (!own && protocol !== 'data:' && protocol !== 'blob:') problems.push(`request to another host: ${request.url()}`);
  });
}

/** A test must neither use nor depend on the tester's keys and home. */
function withoutKeys(env: NodeJS.ProcessEnv): Record<string, string | undefined> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/_(API_)?KEY$|_TOKEN$/.test(name) && name !== 'TALARIA_HOME'));
}
