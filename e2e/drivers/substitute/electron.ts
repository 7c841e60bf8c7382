/**
 * Stands in for the package `electron` in main's process. What a person would see happens in the browser half, in the
 * test's process, over Node's child-process IPC. See README.md for what is modelled and what is not.
 */
import { SubstituteApp } from './app.ts';
import { connect } from './link.ts';
import type { BrowserSide, MainSide } from './link.ts';
import { SubstituteMenu, makeDialogs, makeNativeTheme, makeNotification, makeProtocol, makeSafeStorage, makeSession, makeTray } from './system.ts';
import { SubstituteMessageChannel } from './ports.ts';
import { NotModelledError, strict } from './strict.ts';
import { EventEmitter } from 'node:events';
import { killUtilityProcesses, makeUtilityProcess } from './utility-process.ts';
import { Windows } from './windows.ts';

if (process.send === undefined) throw new Error('The substitute for Electron runs only under its driver (e2e/drivers/shell.ts)');
const settings = JSON.parse(process.env['SUBSTITUTE_ELECTRON'] ?? '{}') as { appPath: string; firstInstance: boolean; storageBackend: 'gnome_libsecret' | 'basic_text' };

const substituteApp = new SubstituteApp(settings);
const { protocol: appProtocol, handlers } = makeProtocol(() => substituteApp.isReady());
const { session: appSession, permitted } = makeSession();

const mine: MainSide = {
  hello: () => substituteApp.becomeReady(),
  async answer(url, method, headers) {
    const handler = handlers.get(url.slice(0, url.indexOf(':')));
    if (handler === undefined) throw new NotModelledError(`a request to ${url}`);
    const response = await handler(new Request(url, { method, headers }));
    return { status: response.status, headers: Object.fromEntries(response.headers), body: new Uint8Array(await response.arrayBuffer()) };
  },
  navigating(windowId, url, isMainFrame) {
    let prevented = false;
    const details = { url, isMainFrame, isSameDocument: false, preventDefault: () => (prevented = true) };
    const contents = windows.contents(windowId);
    contents?.emit('will-frame-navigate', details);
    if (isMainFrame) contents?.emit('will-navigate', details, url);
    return prevented;
  },
  navigated(windowId, url) {
    const contents = windows.contents(windowId);
    if (contents === undefined) return;
    contents.url = url;
    contents.emit('did-navigate', {}, url);
    contents.emit('did-finish-load');
  },
  openingWindow(windowId, url) {
    const handler = windows.contents(windowId)?.openHandler;
    const answer = handler?.({ url, frameName: '', features: '', disposition: 'new-window', referrer: { url: '', policy: 'default' } });
    if (answer === undefined || answer.action !== 'deny') throw new NotModelledError('a second window opened by the page');
    return 'deny';
  },
  ipc(windowId, frame, channel, args) {
    const contents = windows.contents(windowId);
    if (contents !== undefined) ipcMain.emit(channel, contents.messageEvent(frame), ...args);
  },
  portMessage: (port, data) => windows.open.forEach(({ contents }) => contents.ports.message(port, data)),
  portClosed: (port) => windows.open.forEach(({ contents }) => contents.ports.closed(port)),
  windowClosed: (id) => windows.closed(id),
  permitted: (names, origin) => names.map((name) => permitted(name, origin)),
  evaluate(source, argument) {
    // eslint-disable-next-line no-eval -- the specs' own functions, sent over as text
    const run = (0, eval)(`(${source})`) as (electron: unknown, argument: unknown) => unknown;
    return run(electron, argument);
  },
};

const { remote } = connect<BrowserSide>(
  { send: (message) => void (process.connected && process.send?.(message)), onMessage: (listener) => process.on('message', listener) },
  mine,
);
const windows = new Windows(substituteApp, remote);
const { dialog: appDialog, shell: appShell } = makeDialogs((call, args) => void remote.recorded(call, args));

// Without its driver the app has nobody to talk to.
process.on('disconnect', () => substituteApp.exit(1));
process.on('exit', killUtilityProcesses);

export const app = strict('app', substituteApp);
export const BrowserWindow = windows.browserWindowClass();
export const ipcMain = strict('ipcMain', new EventEmitter());
export const MessageChannelMain = SubstituteMessageChannel;
export const utilityProcess = makeUtilityProcess(() => substituteApp.isReady());
export const protocol = appProtocol;
export const session = appSession;
export const dialog = appDialog;
export const shell = appShell;
export const safeStorage = makeSafeStorage(settings.storageBackend);
export const nativeTheme = makeNativeTheme();
export const Menu = strict('Menu', SubstituteMenu);
export const Tray = makeTray(() => substituteApp.isReady(), (call, args) => void remote.recorded(call, args));
export const Notification = makeNotification((call, args) => void remote.recorded(call, args));

const electron = { app, BrowserWindow, ipcMain, MessageChannelMain, utilityProcess, protocol, session, dialog, shell, safeStorage, nativeTheme, Menu, Notification, Tray };
export default electron;
