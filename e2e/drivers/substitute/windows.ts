import type { BrowserWindow, BrowserWindowConstructorOptions, IpcMainEvent, MessagePortMain, WebContents, WebFrameMain } from 'electron';
import type { SubstituteApp } from './app.ts';
import type { BrowserSide, FrameSpec, Remote } from './link.ts';
import { PortTable } from './ports.ts';
import { NotModelledError, strict, StrictEmitter } from './strict.ts';

type OpenHandler = Parameters<WebContents['setWindowOpenHandler']>[0];
type Browser = Remote<BrowserSide>;

const CONTENTS_EVENTS = ['will-navigate', 'will-frame-navigate', 'did-finish-load', 'did-navigate', 'destroyed'];
/** Chromium would have to crash, redirect an app: page or show a webview tag for these. */
const CONTENTS_SILENT = ['will-redirect', 'will-attach-webview', 'render-process-gone', 'did-fail-load'];
const WINDOW_OPTIONS = new Set([
  'name', 'windowStatePersistence', 'width', 'height', 'minWidth', 'minHeight', 'show', 'title', 'backgroundColor', 'webPreferences',
]);

export class SubstituteContents
  extends StrictEmitter
  implements Pick<WebContents, 'id' | 'getURL' | 'getType' | 'isDestroyed' | 'send' | 'reload' | 'setWindowOpenHandler'>
{
  readonly id: number;
  readonly ports = new PortTable();
  url = '';
  destroyed = false;
  openHandler: OpenHandler | undefined;
  private readonly browser: Browser;

  constructor(id: number, browser: Browser) {
    super('webContents', CONTENTS_EVENTS, CONTENTS_SILENT);
    this.id = id;
    this.browser = browser;
  }

  getURL(): string {
    return this.url;
  }

  getType(): 'window' {
    return 'window';
  }

  isDestroyed(): boolean {
    return this.destroyed;
  }

  send(channel: string, ...args: unknown[]): void {
    if (this.destroyed) throw new TypeError('Object has been destroyed');
    void this.browser.deliver(this.id, channel, structuredClone(args), []);
  }

  reload(): void {
    void this.browser.reload(this.id);
  }

  setWindowOpenHandler(handler: OpenHandler): void {
    this.openHandler = handler;
  }

  /** The frame that sent a message, with the frames around it. */
  frame(spec: FrameSpec): WebFrameMain {
    const [outer, ...further] = spec.ancestors;
    const parent = outer === undefined ? null : this.frame({ url: outer, ancestors: further });
    const frame = {
      url: spec.url,
      origin: originOf(spec.url),
      parent,
      get top(): WebFrameMain {
        return parent === null ? (frame as unknown as WebFrameMain) : (parent.top as WebFrameMain);
      },
      postMessage: (channel: string, message: unknown, transfer: MessagePortMain[] = []) => {
        if (parent !== null) throw new NotModelledError('a message to a frame inside the page');
        const ports = this.ports.handOver(transfer, (id) => ({
          message: (data) => void this.browser.portMessage(this.id, id, data),
          close: () => void this.browser.portClose(this.id, id),
        }));
        void this.browser.deliver(this.id, channel, [structuredClone(message)], ports);
      },
    } satisfies Pick<WebFrameMain, 'url' | 'origin' | 'parent' | 'top' | 'postMessage'>;
    return strict('WebFrameMain', frame) as unknown as WebFrameMain;
  }

  messageEvent(spec: FrameSpec): IpcMainEvent {
    return strict('IpcMainEvent', { sender: this.proxy(), senderFrame: this.frame(spec), type: 'frame', ports: [] }) as unknown as IpcMainEvent;
  }

  proxy(): WebContents {
    return strict('webContents', this) as unknown as WebContents;
  }
}

function originOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? 'null' : parsed.host === '' ? 'null' : `${parsed.protocol}//${parsed.host}`;
}

/** All windows of one app. */
export class Windows {
  readonly open = new Map<number, { window: StrictEmitter; contents: SubstituteContents }>();
  private lastId = 0;
  private readonly app: SubstituteApp;
  private readonly browser: Browser;

  constructor(app: SubstituteApp, browser: Browser) {
    this.app = app;
    this.browser = browser;
    app.closeWindows = async () => {
      for (const id of [...this.open.keys()]) await browser.closeWindow(id);
      for (const id of [...this.open.keys()]) this.closed(id);
      return true;
    };
  }

  nextId(): number {
    this.lastId += 1;
    return this.lastId;
  }

  contents(id: number): SubstituteContents | undefined {
    return this.open.get(id)?.contents;
  }

  /** The browser has closed a window, on our request or a person's. */
  closed(id: number): void {
    const entry = this.open.get(id);
    if (entry === undefined) return;
    this.open.delete(id);
    entry.contents.destroyed = true;
    entry.contents.ports.closeAll();
    entry.contents.emit('destroyed');
    entry.window.emit('closed');
    if (this.open.size > 0 || this.app.isQuitting) return;
    if (this.app.listenerCount('window-all-closed') > 0) this.app.emit('window-all-closed');
    else this.app.quit();
  }

  /** The class `BrowserWindow`, bound to this app. */
  browserWindowClass() {
    const { app, browser, open } = this;
    const nextId = (): number => this.nextId();

    class SubstituteWindow
      extends StrictEmitter
      implements Pick<BrowserWindow, 'id' | 'loadURL' | 'show' | 'focus' | 'isFocused' | 'isMinimized' | 'restore' | 'isDestroyed' | 'isVisible' | 'close' | 'setBackgroundColor'>
    {
      readonly id = nextId();
      readonly webContents: WebContents;
      readonly options: BrowserWindowConstructorOptions;
      private readonly opened: Promise<void>;
      private visible: boolean;
      private focused = true;

      constructor(options: BrowserWindowConstructorOptions = {}) {
        super('BrowserWindow', ['ready-to-show', 'closed', 'show']);
        if (!app.isReady()) throw new Error('Cannot create BrowserWindow before app is ready');
        for (const name of Object.keys(options)) if (!WINDOW_OPTIONS.has(name)) throw new NotModelledError(`the option ${name} of BrowserWindow`);
        const { preload, contextIsolation, sandbox } = options.webPreferences ?? {};
        if (preload === undefined || contextIsolation === false || (sandbox !== true && !app.sandboxed)) {
          throw new NotModelledError('a window without preload, context isolation and sandbox');
        }
        this.options = options;
        this.visible = options.show !== false;
        const contents = new SubstituteContents(this.id, browser);
        this.webContents = contents.proxy();
        const proxy = strict('BrowserWindow', this as SubstituteWindow);
        open.set(this.id, { window: this, contents });
        app.emit('web-contents-created', {}, this.webContents);
        app.emit('browser-window-created', {}, proxy);
        this.opened = browser.openWindow({ id: this.id, width: options.width ?? 800, height: options.height ?? 600, preload });
        contents.once('did-finish-load', () => this.emit('ready-to-show'));
        return proxy;
      }

      static getAllWindows(): BrowserWindow[] {
        return [...open.values()].map(({ window }) => strict('BrowserWindow', window) as unknown as BrowserWindow);
      }

      async loadURL(url: string): Promise<void> {
        await this.opened;
        await browser.load(this.id, url);
      }

      show(): void {
        this.visible = true;
        this.emit('show');
      }

      focus(): void {
        this.focused = true;
      }

      isFocused(): boolean {
        return this.focused;
      }

      blur(): void {
        this.focused = false;
      }

      restore(): void {}

      isMinimized(): boolean {
        return false;
      }

      isVisible(): boolean {
        return this.visible;
      }

      isDestroyed(): boolean {
        return !open.has(this.id);
      }

      close(): void {
        void browser.closeWindow(this.id);
      }

      setBackgroundColor(color: string): void {
        this.options.backgroundColor = color;
      }
    }
    return SubstituteWindow;
  }
}
