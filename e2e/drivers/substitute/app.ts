import { join } from 'node:path';
import { homedir, tmpdir } from 'node:os';
import { readFileSync } from 'node:fs';
import type { App } from 'electron';
import { NotModelledError, StrictEmitter } from './strict.ts';
import { killUtilityProcesses } from './utility-process.ts';

const EMITTED = ['ready', 'web-contents-created', 'browser-window-created', 'window-all-closed', 'before-quit', 'will-quit', 'quit'];
/** Sent by a second instance or the dock: specs emit them by hand. */
const BY_HAND = ['second-instance', 'activate'];

type Modelled = Pick<
  App,
  | 'isPackaged' | 'whenReady' | 'isReady' | 'getVersion' | 'getName' | 'getAppPath' | 'getLocale' | 'getPath' | 'setPath'
  | 'enableSandbox' | 'requestSingleInstanceLock' | 'quit' | 'exit'
>;

/** What the driver tells the substitute by the environment. */
export interface AppSettings {
  appPath: string;
  /** Answer of `requestSingleInstanceLock`. */
  firstInstance: boolean;
}

export class SubstituteApp extends StrictEmitter implements Modelled {
  readonly isPackaged = false;
  sandboxed = false;
  private readonly settings: AppSettings;
  private readonly paths = new Map<string, string>();
  private readonly ready = Promise.withResolvers<void>();
  private readyNow = false;
  private quitting = false;
  /** Set by the windows: closes them all, settles when they are closed. */
  closeWindows: () => Promise<boolean> = () => Promise.resolve(true);

  constructor(settings: AppSettings) {
    super('app', EMITTED, BY_HAND);
    this.settings = settings;
  }

  becomeReady(): void {
    this.readyNow = true;
    this.ready.resolve();
    this.emit('ready', {}, {});
  }

  whenReady(): Promise<void> {
    return this.ready.promise;
  }

  isReady(): boolean {
    return this.readyNow;
  }

  getVersion(): string {
    return this.manifest().version;
  }

  getName(): string {
    const { productName, name } = this.manifest();
    return productName ?? name;
  }

  getAppPath(): string {
    return this.settings.appPath;
  }

  getLocale(): string {
    return 'en-US';
  }

  getPath(name: string): string {
    const path = this.paths.get(name) ?? { home: homedir(), temp: tmpdir() }[name];
    if (path === undefined) throw new NotModelledError(`app.getPath('${name}')`);
    return path;
  }

  setPath(name: string, path: string): void {
    this.paths.set(name, path);
  }

  enableSandbox(): void {
    if (this.readyNow) throw new Error('app.enableSandbox() must be called before app is ready');
    this.sandboxed = true;
  }

  requestSingleInstanceLock(): boolean {
    return this.settings.firstInstance;
  }

  /** before-quit, the windows close, will-quit, quit, exit: each of the first three may be prevented. */
  quit(): void {
    void this.runQuit();
  }

  private async runQuit(): Promise<void> {
    if (this.quitting || this.prevented('before-quit')) return;
    this.quitting = true;
    const closed = await this.closeWindows();
    this.quitting = false;
    if (closed && !this.prevented('will-quit')) this.exit(0);
  }

  get isQuitting(): boolean {
    return this.quitting;
  }

  exit(code = 0): void {
    this.emit('quit', {}, code);
    killUtilityProcesses();
    process.exit(code);
  }

  private prevented(event: 'before-quit' | 'will-quit'): boolean {
    let prevented = false;
    this.emit(event, { preventDefault: () => (prevented = true) });
    return prevented;
  }

  private manifest(): { name: string; version: string; productName?: string } {
    return JSON.parse(readFileSync(join(this.settings.appPath, 'package.json'), 'utf8')) as { name: string; version: string };
  }
}
