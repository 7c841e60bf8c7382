import { existsSync } from 'node:fs';
import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto';
import type { Dialog, MenuItemConstructorOptions, MessageBoxOptions, NativeTheme, Notification, NotificationConstructorOptions, Protocol, SafeStorage, Session, Shell, Tray } from 'electron';
import { NotModelledError, strict, StrictEmitter } from './strict.ts';

type Record_ = (call: string, args: unknown[]) => void;
type AppProtocol = Pick<Protocol, 'registerSchemesAsPrivileged' | 'handle' | 'isProtocolHandled'>;
type Handler = (request: Request) => Response | Promise<Response>;

export function makeProtocol(isReady: () => boolean) {
  const handlers = new Map<string, Handler>();
  const privileged = new Set<string>();
  const protocol = strict('protocol', {
    registerSchemesAsPrivileged(schemes) {
      if (isReady()) throw new Error('protocol.registerSchemesAsPrivileged should be called before app is ready');
      for (const { scheme, privileges } of schemes) if (privileges?.standard && privileges.secure) privileged.add(scheme);
    },
    handle(scheme, handler) {
      if (!privileged.has(scheme)) throw new NotModelledError(`the scheme ${scheme}:, which is not registered as standard and secure`);
      if (handlers.has(scheme)) throw new Error(`Failed to register protocol: ${scheme}`);
      handlers.set(scheme, handler as unknown as Handler);
    },
    isProtocolHandled: (scheme) => handlers.has(scheme),
  } satisfies AppProtocol);
  return { protocol, handlers };
}

type Modelled = Pick<
  Session,
  | 'setPermissionCheckHandler' | 'setPermissionRequestHandler' | 'setDevicePermissionHandler' | 'setDisplayMediaRequestHandler'
  | 'setBluetoothPairingHandler'
>;
type Check = NonNullable<Parameters<Session['setPermissionCheckHandler']>[0]>;
type Ask = NonNullable<Parameters<Session['setPermissionRequestHandler']>[0]>;

/** Both handlers must agree to a permission; where none is set, Electron grants, and so does this. */
export function makeSession() {
  let check: Check | null = null;
  let ask: Ask | null = null;
  const defaultSession = strict('session.defaultSession', {
    setPermissionCheckHandler: (handler) => void (check = handler),
    setPermissionRequestHandler: (handler) => void (ask = handler),
    setDevicePermissionHandler: () => undefined,
    setDisplayMediaRequestHandler: () => undefined,
    setBluetoothPairingHandler: () => undefined,
  } satisfies Modelled);
  const permitted = (name: string, origin: string): boolean => {
    const url = `${origin}/`;
    const checked = check === null || check(null, name as Parameters<Check>[1], url, { isMainFrame: true, requestingUrl: url });
    let granted = ask === null;
    ask?.(null as never, name as Parameters<Ask>[1], (answer) => (granted = answer), { isMainFrame: true, requestingUrl: url });
    return checked && granted;
  };
  return { session: strict('session', { defaultSession }), permitted };
}

/** Dialogs that answer at once with their first button, and a shell that opens nothing. Both tell the driver. */
export function makeDialogs(record: Record_) {
  const dialog = strict('dialog', {
    showMessageBox(...args: unknown[]) {
      record('dialog.showMessageBox', [args.at(-1) as MessageBoxOptions]);
      return Promise.resolve({ response: 0, checkboxChecked: false });
    },
    showErrorBox: (title, content) => record('dialog.showErrorBox', [title, content]),
  } satisfies Pick<Dialog, 'showMessageBox' | 'showErrorBox'>);
  const shell = strict('shell', {
    openExternal(url) {
      record('shell.openExternal', [url]);
      return Promise.resolve();
    },
  } satisfies Pick<Shell, 'openExternal'>);
  return { dialog, shell };
}

/** Notifications that tell the driver of themselves; specs press one by hand, through `shown`. */
export function makeNotification(record: Record_) {
  class SubstituteNotification extends StrictEmitter implements Pick<Notification, 'show' | 'title' | 'body'> {
    static readonly shown: SubstituteNotification[] = [];
    readonly title: string;
    readonly body: string;

    constructor({ title = '', body = '', ...rest }: NotificationConstructorOptions) {
      super('Notification', ['show', 'click', 'close']);
      const [other] = Object.keys(rest);
      if (other !== undefined) throw new NotModelledError(`the option ${other} of Notification`);
      this.title = title;
      this.body = body;
    }

    static isSupported(): boolean {
      return true;
    }

    show(): void {
      SubstituteNotification.shown.push(this);
      record('Notification.show', [this.title, this.body]);
      this.emit('show', {});
    }
  }
  return strict('Notification', SubstituteNotification);
}

/** Icons in a tray that nobody sees: they tell the driver of themselves, and specs press what is in their menu, through `shown`. */
export function makeTray(isReady: () => boolean, record: Record_) {
  class SubstituteTray extends StrictEmitter implements Pick<Tray, 'setToolTip' | 'destroy' | 'isDestroyed'> {
    static readonly shown: SubstituteTray[] = [];
    menu: SubstituteMenu | null = null;
    toolTip = '';

    constructor(image: string) {
      super('Tray', ['click']);
      if (!isReady()) throw new Error('Cannot create Tray before app is ready');
      if (!existsSync(image)) throw new Error(`Failed to load image from path '${image}'`);
      SubstituteTray.shown.push(this);
      record('Tray', [image]);
    }

    setToolTip(text: string): void {
      this.toolTip = text;
    }

    setContextMenu(menu: SubstituteMenu | null): void {
      this.menu = menu;
    }

    destroy(): void {
      const at = SubstituteTray.shown.indexOf(this);
      if (at === -1) return;
      SubstituteTray.shown.splice(at, 1);
      record('Tray.destroy', []);
    }

    isDestroyed(): boolean {
      return !SubstituteTray.shown.includes(this);
    }
  }
  return strict('Tray', SubstituteTray);
}

/** AES with a key that everybody knows: what is stored looks encrypted and can be read again by the next start. */
export function makeSafeStorage(backend: ReturnType<SafeStorage['getSelectedStorageBackend']>) {
  const key = createHash('sha256').update('substitute').digest();
  return strict('safeStorage', {
    isAsyncEncryptionAvailable: () => Promise.resolve(true),
    getSelectedStorageBackend: () => backend,
    encryptStringAsync(text) {
      const iv = randomBytes(12);
      const cipher = createCipheriv('aes-256-gcm', key, iv);
      const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
      return Promise.resolve(Buffer.concat([iv, cipher.getAuthTag(), body]));
    },
    decryptStringAsync(data) {
      const decipher = createDecipheriv('aes-256-gcm', key, data.subarray(0, 12)).setAuthTag(data.subarray(12, 28));
      const result = Buffer.concat([decipher.update(data.subarray(28)), decipher.final()]).toString('utf8');
      return Promise.resolve({ result, shouldReEncrypt: false });
    },
  } satisfies Pick<SafeStorage, 'isAsyncEncryptionAvailable' | 'getSelectedStorageBackend' | 'encryptStringAsync' | 'decryptStringAsync'>);
}

export function makeNativeTheme() {
  class Theme extends StrictEmitter implements Pick<NativeTheme, 'shouldUseDarkColors'> {
    shouldUseDarkColors = false;
  }
  return strict('nativeTheme', new Theme('nativeTheme', ['updated']));
}

interface SubstituteMenuItem {
  id: string | undefined;
  label: string;
  role: string | undefined;
  type: string;
  submenu: SubstituteMenu | undefined;
  click(): void;
}

/** A menu that can be walked and clicked, not seen. Roles do nothing. */
export class SubstituteMenu {
  private static application: SubstituteMenu | null = null;
  readonly items: SubstituteMenuItem[] = [];

  static buildFromTemplate(template: MenuItemConstructorOptions[]): SubstituteMenu {
    const menu = new SubstituteMenu();
    for (const item of template) {
      const { id, label = '', role, type = 'normal', submenu, click } = item;
      menu.items.push({
        id,
        label,
        role,
        type,
        submenu: Array.isArray(submenu) ? SubstituteMenu.buildFromTemplate(submenu) : undefined,
        click: () => (click as (() => void) | undefined)?.(),
      });
    }
    return menu;
  }

  static setApplicationMenu(menu: SubstituteMenu | null): void {
    SubstituteMenu.application = menu;
  }

  static getApplicationMenu(): SubstituteMenu | null {
    return SubstituteMenu.application;
  }

  getMenuItemById(id: string): SubstituteMenuItem | null {
    for (const item of this.items) {
      if (item.id === id) return item;
      const inside = item.submenu?.getMenuItemById(id);
      if (inside) return inside;
    }
    return null;
  }
}
