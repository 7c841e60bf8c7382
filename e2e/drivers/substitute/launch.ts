import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import type { Browser, Page } from '@playwright/test';
import { BrowserSideWindow } from './browser-window.ts';
import { APP_ENDED, connect } from './link.ts';
import type { BrowserSide, MainSide, Remote } from './link.ts';

export interface SubstituteOptions {
  /** Folder with package.json and out/. */
  appPath: string;
  args: string[];
  env: Record<string, string | undefined>;
  /** The Node that Electron embeds; this process's own by default. */
  node?: string;
  firstInstance?: boolean;
  storageBackend?: 'gnome_libsecret' | 'basic_text';
  framePreload?: string;
}

const REGISTER = new URL('./register.ts', import.meta.url).href;

/** Main's real bundle on plain Node, its windows in the given browser. */
export class SubstituteApp {
  readonly process: ChildProcess;
  /** Settles with the exit code of main. */
  readonly exited: Promise<number>;
  readonly requests: string[] = [];
  readonly calls: { call: string; args: unknown[] }[] = [];
  output = '';
  private readonly windows = new Map<number, BrowserSideWindow>();
  private readonly main: Remote<MainSide>;
  private readonly everOpened: BrowserSideWindow[] = [];
  private readonly cleared: Promise<void>;
  private waiting: ((page: Page) => void)[] = [];

  private constructor(browser: Browser, options: SubstituteOptions) {
    const settings = {
      appPath: options.appPath,
      firstInstance: options.firstInstance ?? true,
      storageBackend: options.storageBackend ?? 'gnome_libsecret',
    };
    this.process = fork(join(options.appPath, 'out/main/index.js'), options.args, {
      serialization: 'advanced',
      execPath: options.node ?? process.execPath,
      execArgv: ['--import', REGISTER],
      env: { ...options.env, SUBSTITUTE_ELECTRON: JSON.stringify(settings) } as NodeJS.ProcessEnv,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    for (const stream of [this.process.stdout, this.process.stderr]) stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    const { remote, drop } = connect<MainSide>(
      { send: (message) => void (this.process.connected && this.process.send(message as object, () => undefined)), onMessage: (listener) => this.process.on('message', listener) },
      this.side(browser, options),
    );
    this.main = remote;
    this.exited = new Promise((resolve) => this.process.once('exit', (code) => resolve(code ?? 1)));
    this.cleared = this.exited.then(async () => {
      drop(APP_ENDED);
      await Promise.all(this.everOpened.map((window) => window.close().catch(() => undefined)));
    });
  }

  static async launch(browser: Browser, options: SubstituteOptions): Promise<SubstituteApp> {
    const app = new SubstituteApp(browser, options);
    await Promise.race([app.main.hello().catch(() => undefined), app.exited]);
    return app;
  }

  private side(browser: Browser, options: SubstituteOptions): BrowserSide {
    const { windows } = this;
    const of = (id: number): BrowserSideWindow => {
      const window = windows.get(id);
      if (window === undefined) throw new Error('Object has been destroyed');
      return window;
    };
    return {
      openWindow: async (spec) => {
        const window = await BrowserSideWindow.open(browser, spec, {
          main: this.main,
          framePreload: options.framePreload,
          requested: (url) => this.requests.push(url),
          closed: () => {
            windows.delete(spec.id);
            void this.main.windowClosed(spec.id).catch(() => undefined);
          },
        });
        windows.set(spec.id, window);
        this.everOpened.push(window);
        for (const resolve of this.waiting.splice(0)) resolve(window.page);
      },
      load: (id, url) => of(id).load(url),
      reload: (id) => of(id).reload(),
      closeWindow: async (id) => windows.get(id)?.close(),
      deliver: (id, channel, args, ports) => windows.get(id)?.deliver(channel, args, ports),
      portMessage: (id, port, data) => windows.get(id)?.portMessage(port, data),
      portClose: (id, port) => windows.get(id)?.portClose(port),
      recorded: (call, args) => void this.calls.push({ call, args }),
    };
  }

  pages(): Page[] {
    return [...this.windows.values()].map(({ page }) => page);
  }

  /** @throws when the app ends without having opened one */
  async firstWindow(): Promise<Page> {
    const page = this.pages()[0] ?? (await Promise.race([new Promise<Page>((resolve) => this.waiting.push(resolve)), this.exited]));
    if (typeof page === 'number') throw new Error(`The app ended with code ${page} before it opened a window:\n${this.output}`);
    return page;
  }

  /** Runs a function in main's process, with the module `electron`; source text, so it can use nothing from around it. */
  evaluate(source: string, argument: unknown): Promise<unknown> {
    return this.main.evaluate(source, argument);
  }

  /** Ends everything at once, however main is. */
  async kill(): Promise<void> {
    if (this.process.exitCode === null && this.process.signalCode === null) this.process.kill('SIGKILL');
    await this.cleared;
  }
}
