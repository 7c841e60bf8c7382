/** The fixture of the shell's specs: the same interface over the substitute for Electron and over the real binary. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { _electron, test as base } from '@playwright/test';
import type { Browser, Page } from '@playwright/test';
import type * as Electron from 'electron';
import { findElectron } from '../../scripts/lib/electron.mjs';
import { SubstituteApp } from './substitute/launch.ts';

export type DriverName = 'substitute' | 'electron';

/** The repository: package.json and out/ are here. */
export const APP_PATH = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

export interface ShellOptions {
  /** Talaria home; a fresh one by default. */
  home?: string;
  /** Folder with package.json and out/; the repository by default. */
  appPath?: string;
  env?: Record<string, string>;
  /** Substitute only: what `requestSingleInstanceLock` answers. */
  firstInstance?: boolean;
  /** Substitute only: the backend of safeStorage. */
  storageBackend?: 'gnome_libsecret' | 'basic_text';
  /** Substitute only: source of a hostile preload for the frames inside the page, which Electron gives none. */
  framePreload?: string;
}

/** A running app. */
export interface Shell {
  driver: DriverName;
  home: string;
  /** The first window, its page loaded. */
  firstWindow(): Promise<Page>;
  /** Runs a function in main's process with the module `electron`; it can use nothing from around it but its argument. */
  evaluate<R, A>(run: (electron: typeof Electron, argument: A) => R | Promise<R>, argument: A): Promise<R>;
  /** Every address that a page has asked for so far. */
  requests(): string[];
  /** Substitute only: the dialogs and links that a person would have seen. */
  calls(): { call: string; args: unknown[] }[];
  /** Everything that main and the engine have printed. */
  output(): string;
  exited: Promise<number>;
  kill(): Promise<void>;
}

interface Fixtures {
  driver: DriverName;
  /** A fresh folder of this test. */
  folder: string;
  launch(options?: ShellOptions): Promise<Shell>;
}

export const test = base.extend<Fixtures>({
  driver: async ({}, use, info) => use(info.project.name === 'electron' ? 'electron' : 'substitute'),
  folder: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'talaria-shell-'));
    await use(folder);
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  },
  launch: async ({ driver, browser, folder }, use, info) => {
    const shells: Shell[] = [];
    await use(async (options = {}) => {
      const home = options.home ?? join(folder, `home-${shells.length}`);
      const shell = driver === 'electron' ? await launchElectron(home, options) : await launchSubstitute(browser, home, options);
      shells.push(shell);
      return shell;
    });
    for (const shell of shells) await shell.kill();
    if (info.status !== info.expectedStatus) {
      for (const shell of shells) await info.attach('main-and-engine.log', { body: shell.output(), contentType: 'text/plain' });
    }
  },
});
export { expect } from '@playwright/test';

async function launchSubstitute(browser: Browser, home: string, options: ShellOptions): Promise<Shell> {
  const { appPath = APP_PATH, env = {}, ...rest } = options;
  const app = await SubstituteApp.launch(browser, { ...rest, appPath, args: ['--home', home], env: { ...process.env, ...env } });
  return {
    driver: 'substitute',
    home,
    firstWindow: async () => loaded(await app.firstWindow()),
    evaluate: async (run, argument) => (await app.evaluate(run.toString(), argument)) as never,
    requests: () => app.requests,
    calls: () => app.calls,
    output: () => app.output,
    exited: app.exited,
    kill: () => app.kill(),
  };
}

async function launchElectron(home: string, options: ShellOptions): Promise<Shell> {
  const executablePath = findElectron();
  if (executablePath === undefined) throw new Error('No Electron binary is installed; the project "electron" should not exist then.');
  const args = [...(process.getuid?.() === 0 ? ['--no-sandbox'] : []), options.appPath ?? APP_PATH, '--home', home];
  const app = await _electron.launch({ executablePath, args, env: { ...definedEnv(), ...options.env } });
  const requests: string[] = [];
  app.context().on('request', (request) => requests.push(request.url()));
  let output = '';
  for (const stream of [app.process().stdout, app.process().stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<number>((resolve) => app.process().once('exit', (code) => resolve(code ?? 1)));
  return {
    driver: 'electron',
    home,
    firstWindow: async () => loaded(await app.firstWindow()),
    evaluate: async (run, argument) => (await app.evaluate(run as never, argument)) as never,
    requests: () => requests,
    calls: () => [],
    output: () => output,
    exited,
    async kill() {
      if (app.process().exitCode === null && app.process().signalCode === null) app.process().kill('SIGKILL');
      await exited;
    },
  };
}

/** The page of the app, not the empty one that every window starts with. */
async function loaded(page: Page): Promise<Page> {
  await page.waitForURL(/^(?:app:\/\/bundle|https:\/\/bundle\.app\.test)\//);
  return page;
}

function definedEnv(): Record<string, string> {
  return Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined));
}
