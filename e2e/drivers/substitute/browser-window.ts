import { readFileSync } from 'node:fs';
import type { Browser, BrowserContext, CDPSession, Page, Route } from '@playwright/test';
import { APP_ENDED } from './link.ts';
import type { FrameSpec, MainSide, Remote, WindowSpec } from './link.ts';
import { fromWire, toAppUrl, toBrowserUrl, toWire } from './wire.ts';
import type { WireValue } from './wire.ts';

const WORLD = 'preload';
const WORLD_SCRIPT = readFileSync(new URL('./preload-world.js', import.meta.url), 'utf8');

/** Chromium's permissions that a page can ask for, with the name under which Electron asks main. */
const PERMISSIONS: Record<string, string> = {
  geolocation: 'geolocation',
  notifications: 'notifications',
  camera: 'media',
  microphone: 'media',
  midi: 'midi',
  'clipboard-read': 'clipboard-read',
  'clipboard-write': 'clipboard-sanitized-write',
  'display-capture': 'display-capture',
  'local-fonts': 'local-fonts',
  'idle-detection': 'idle-detection',
  'screen-wake-lock': 'screen-wake-lock',
  'window-management': 'window-management',
};

type Outgoing =
  | { kind: 'ipc'; channel: string; args: WireValue[]; ports: number[] }
  | { kind: 'port'; id: number; data: WireValue }
  | { kind: 'port-close'; id: number };
type Incoming = { kind: 'ipc'; channel: string; args: WireValue[] } | { kind: 'port'; id: number; data: WireValue };

interface World {
  context: number;
  frame: string;
  ports: Set<number>;
}

export interface WindowHooks {
  main: Remote<MainSide>;
  /** Hostile set-up: the source of a preload for frames inside the page. */
  framePreload: string | undefined;
  /** Every address that the page tried to reach, as the app names it. */
  requested(url: string): void;
  closed(): void;
}

/** One window: a browser context with one page, whose preload lives in an isolated world of its own. */
export class BrowserSideWindow {
  readonly page: Page;
  private readonly context: BrowserContext;
  private readonly cdp: CDPSession;
  private readonly hooks: WindowHooks;
  private readonly id: number;
  private readonly worlds = new Map<number, World>();
  private readonly frames = new Map<string, { url: string; parent: string | undefined }>();
  private topFrame = '';
  /** The address that main itself is loading: no `will-navigate` for it. */
  private loading: string | undefined;
  private permissions: CDPSession | undefined;
  private closing: Promise<void> | undefined;
  private outgoing: Outgoing[] = [];
  private flushing = false;

  private constructor(id: number, context: BrowserContext, page: Page, cdp: CDPSession, hooks: WindowHooks) {
    this.id = id;
    this.context = context;
    this.page = page;
    this.cdp = cdp;
    this.hooks = hooks;
  }

  static async open(browser: Browser, spec: WindowSpec, hooks: WindowHooks): Promise<BrowserSideWindow> {
    const context = await browser.newContext({ viewport: { width: spec.width, height: spec.height }, serviceWorkers: 'block' });
    const page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    const window = new BrowserSideWindow(spec.id, context, page, cdp, hooks);
    await window.setUp(browser, readFileSync(spec.preload, 'utf8'));
    return window;
  }

  private async setUp(browser: Browser, preload: string): Promise<void> {
    const { cdp, context, page, hooks } = this;
    page.on('close', () => {
      hooks.closed();
      void this.close().catch(ignore);
    });
    page.on('load', () => void hooks.main.navigated(this.id, toAppUrl(page.url())).catch(ignore));
    context.on('page', (other) => void (other !== page && other.close().catch(ignore)));
    cdp.on('Page.windowOpen', ({ url }) => void hooks.main.openingWindow(this.id, toAppUrl(url)).catch(report));
    cdp.on('Page.frameAttached', ({ frameId, parentFrameId }) => this.frames.set(frameId, { url: 'about:blank', parent: parentFrameId }));
    cdp.on('Page.frameNavigated', ({ frame }) => this.frames.set(frame.id, { url: toAppUrl(frame.url), parent: frame.parentId }));
    cdp.on('Page.frameDetached', ({ frameId }) => this.frames.delete(frameId));
    cdp.on('Runtime.executionContextCreated', ({ context: created }) => {
      if (created.name !== WORLD) return;
      const frame = String((created.auxData as { frameId?: string } | undefined)?.frameId);
      this.worlds.set(created.id, { context: created.id, frame, ports: new Set() });
    });
    cdp.on('Runtime.executionContextDestroyed', ({ executionContextId }) => this.worldGone(executionContextId));
    cdp.on('Runtime.executionContextsCleared', () => [...this.worlds.keys()].forEach((context) => this.worldGone(context)));
    cdp.on('Runtime.bindingCalled', ({ payload, executionContextId }) => this.receive(JSON.parse(payload) as Incoming, executionContextId));
    await cdp.send('Page.enable');
    await cdp.send('Runtime.enable');
    const { frameTree } = await cdp.send('Page.getFrameTree');
    this.topFrame = frameTree.frame.id;
    await cdp.send('Runtime.addBinding', { name: '__substitute', executionContextName: WORLD });
    const asFunction = (source: string | undefined): string => (source === undefined ? 'undefined' : `(require, module, exports) => {\n${source}\n}`);
    const source = `${WORLD_SCRIPT}\n__substituteWorld(${asFunction(preload)}, ${asFunction(hooks.framePreload)});`;
    await cdp.send('Page.addScriptToEvaluateOnNewDocument', { worldName: WORLD, source });
    await context.route('**/*', (route) => this.answer(route).catch(report));
    await this.applyPermissions(browser);
  }

  /** Chromium asks nobody in a headless browser, so main's answers are set before the page loads. */
  private async applyPermissions(browser: Browser): Promise<void> {
    const names = Object.keys(PERMISSIONS);
    const origin = 'app://bundle';
    const granted = await this.hooks.main.permitted(Object.values(PERMISSIONS), origin);
    const { targetInfo } = await this.cdp.send('Target.getTargetInfo');
    // They are forgotten with the session that set them, so it stays as long as the window.
    const session = await browser.newBrowserCDPSession();
    this.permissions = session;
    for (const [index, name] of names.entries()) {
      await session.send('Browser.setPermission', {
        permission: { name },
        setting: granted[index] ? 'granted' : 'denied',
        origin: toBrowserUrl(origin),
        browserContextId: targetInfo.browserContextId,
      });
    }
  }

  private async answer(route: Route): Promise<void> {
    const request = route.request();
    const url = toAppUrl(request.url());
    this.hooks.requested(url);
    if (request.isNavigationRequest() && url !== this.loading) {
      const frame = this.frameOf(route);
      // No frame of ours: a window that the page opened, which `setWindowOpenHandler` decides.
      if (frame === undefined) return route.abort('aborted');
      if (await this.hooks.main.navigating(this.id, url, frame === 'top')) return route.abort('aborted');
    }
    if (!url.startsWith('app:')) return route.abort('blockedbyclient');
    const { status, headers, body } = await this.hooks.main.answer(url, request.method(), request.headers());
    await route.fulfill({ status, headers, body: Buffer.from(body) });
  }

  private frameOf(route: Route): 'top' | 'inner' | undefined {
    try {
      const frame = route.request().frame();
      if (frame === this.page.mainFrame()) return 'top';
      return frame.page() === this.page ? 'inner' : undefined;
    } catch {
      return undefined;
    }
  }

  async load(url: string): Promise<void> {
    this.loading = url;
    try {
      await this.page.goto(toBrowserUrl(url));
    } finally {
      this.loading = undefined;
    }
  }

  async reload(): Promise<void> {
    this.loading = toAppUrl(this.page.url());
    try {
      await this.page.reload();
    } finally {
      this.loading = undefined;
    }
  }

  /** Safe to call by everyone who has a reason to. */
  close(): Promise<void> {
    this.closing ??= this.context.close().then(() => this.permissions?.detach().catch(ignore));
    return this.closing;
  }

  deliver(channel: string, args: unknown[], ports: number[]): void {
    this.post({ kind: 'ipc', channel, args: args.map(toWire), ports });
  }

  portMessage(id: number, data: unknown): void {
    this.post({ kind: 'port', id, data: toWire(data) });
  }

  portClose(id: number): void {
    for (const world of this.worlds.values()) world.ports.delete(id);
    this.post({ kind: 'port-close', id });
  }

  private post(message: Outgoing): void {
    this.outgoing.push(message);
    if (!this.flushing) void this.flush();
  }

  /** What gathers during one round trip crosses together, in order. Without a document there is nobody to tell. */
  private async flush(): Promise<void> {
    this.flushing = true;
    while (this.outgoing.length > 0) {
      const batch = this.outgoing.splice(0);
      const world = [...this.worlds.values()].findLast(({ frame }) => frame === this.topFrame);
      if (world === undefined) continue;
      for (const message of batch) if (message.kind === 'ipc') for (const id of message.ports) world.ports.add(id);
      const expression = `__substituteDeliver(${JSON.stringify(batch)})`;
      const answer = await this.cdp.send('Runtime.evaluate', { contextId: world.context, expression }).catch(() => undefined);
      if (answer?.exceptionDetails) report(new Error(`The preload threw: ${answer.exceptionDetails.exception?.description ?? answer.exceptionDetails.text}`));
    }
    this.flushing = false;
  }

  private receive(message: Incoming, context: number): void {
    const world = this.worlds.get(context);
    const { main } = this.hooks;
    if (message.kind === 'ipc') {
      if (world !== undefined) void main.ipc(this.id, this.frameSpec(world.frame), message.channel, message.args.map(fromWire)).catch(report);
    } else {
      void main.portMessage(message.id, fromWire(message.data)).catch(ignore);
    }
  }

  private frameSpec(id: string): FrameSpec {
    const urls: string[] = [];
    for (let at: string | undefined = id; at !== undefined; at = this.frames.get(at)?.parent) urls.push(this.frames.get(at)?.url ?? 'about:blank');
    return { url: urls[0] ?? 'about:blank', ancestors: urls.slice(1) };
  }

  /** A document is gone, and with it the ends of its ports. */
  private worldGone(context: number): void {
    const world = this.worlds.get(context);
    this.worlds.delete(context);
    for (const port of world?.ports ?? []) void this.hooks.main.portClosed(port).catch(ignore);
  }
}

function ignore(): void {
  // The other side has gone: there is nobody left to tell.
}

function report(error: unknown): void {
  if (error instanceof Error && error.message === APP_ENDED) return;
  console.error(error instanceof Error ? error.message : error);
}
