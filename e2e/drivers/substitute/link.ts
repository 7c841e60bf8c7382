/**
 * Calls between the two halves of the substitute: the half inside main's process (the `electron` module) and the half in
 * the test's process (which holds the browser). Both run over Node's child-process IPC, in order.
 */
/** Why a call fails that the app can no longer answer. */
export const APP_ENDED = 'The app has ended';

type Calls = { [name: string]: (...args: never[]) => unknown };
export type Remote<T> = { [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never };

interface Wire {
  send(message: unknown): void;
  onMessage(listener: (message: unknown) => void): void;
}

type Envelope =
  | { link: 'call'; id: number; name: string; args: never[] }
  | { link: 'answer'; id: number; ok: true; value: unknown }
  | { link: 'answer'; id: number; ok: false; message: string };

/** Serves `mine` to the other side and returns its calls. A call that throws there rejects here with the same message. */
export function connect<Theirs>(wire: Wire, mine: object): { remote: Remote<Theirs>; drop(reason: string): void } {
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let lastId = 0;
  let dropped: string | undefined;

  async function serve({ id, name, args }: Extract<Envelope, { link: 'call' }>): Promise<void> {
    let answer: Envelope;
    try {
      const handler = (mine as Calls)[name];
      if (handler === undefined) throw new Error(`The substitute has no call "${name}"`);
      answer = { link: 'answer', id, ok: true, value: await handler.apply(mine, args) };
    } catch (error) {
      answer = { link: 'answer', id, ok: false, message: error instanceof Error ? error.message : String(error) };
    }
    if (dropped === undefined) wire.send(answer);
  }

  wire.onMessage((raw) => {
    const message = raw as Envelope;
    if (message.link === 'call') return void serve(message);
    const waiting = pending.get(message.id);
    pending.delete(message.id);
    if (message.ok) waiting?.resolve(message.value);
    else waiting?.reject(new Error(message.message));
  });

  const call = (name: string, args: unknown[]): Promise<unknown> =>
    new Promise((resolve, reject) => {
      if (dropped !== undefined) return reject(new Error(dropped));
      lastId += 1;
      pending.set(lastId, { resolve, reject });
      wire.send({ link: 'call', id: lastId, name, args });
    });
  const remote = new Proxy({}, { get: (_target, name) => (...args: unknown[]) => call(String(name), args) }) as Remote<Theirs>;
  return {
    remote,
    drop(reason) {
      dropped = reason;
      for (const { reject } of pending.values()) reject(new Error(reason));
      pending.clear();
    },
  };
}

export interface WindowSpec {
  id: number;
  width: number;
  height: number;
  /** Absolute path of the preload bundle. */
  preload: string;
}

/** A frame as main sees it: its address and those of the frames around it, innermost first. */
export interface FrameSpec {
  url: string;
  ancestors: string[];
}

/** What the `electron` half asks of the browser half. */
export interface BrowserSide {
  openWindow(spec: WindowSpec): Promise<void>;
  load(windowId: number, url: string): Promise<void>;
  reload(windowId: number): Promise<void>;
  closeWindow(windowId: number): Promise<void>;
  /** To the preload world of the window's top frame; `ports` are ids of ports handed over. */
  deliver(windowId: number, channel: string, args: unknown[], ports: number[]): void;
  portMessage(windowId: number, port: number, data: unknown): void;
  portClose(windowId: number, port: number): void;
  /** A call to the system (dialog, shell, …) that only a person would see. */
  recorded(call: string, args: unknown[]): void;
}

/** What the browser half asks of the `electron` half. */
export interface MainSide {
  /** Everything is in place: `app` becomes ready. */
  hello(): void;
  answer(url: string, method: string, headers: Record<string, string>): Promise<{ status: number; headers: Record<string, string>; body: Uint8Array }>;
  navigating(windowId: number, url: string, isMainFrame: boolean): boolean;
  navigated(windowId: number, url: string): void;
  openingWindow(windowId: number, url: string): 'allow' | 'deny';
  ipc(windowId: number, frame: FrameSpec, channel: string, args: unknown[]): void;
  portMessage(port: number, data: unknown): void;
  portClosed(port: number): void;
  windowClosed(windowId: number): void;
  permitted(names: string[], origin: string): boolean[];
  /** Runs a function's source text with the module and one argument, as Playwright's ElectronApplication.evaluate does. */
  evaluate(source: string, argument: unknown): unknown;
}
