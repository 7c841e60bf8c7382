/** The desktop shell: wires window, page, engine process and system together. What the app does lives in the engine. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { app, dialog, Menu, safeStorage, session, Tray, utilityProcess } from 'electron';
import type { BrowserWindow } from 'electron';
import { ensureHome } from '#engine/store/home.ts';
import type { Logger } from '#engine/store/types.ts';
import { SHELL_ENGINE } from '#shared/shell.ts';
import { engineEnv } from './engine-env.ts';
import { superviseEngine } from './engine-process.ts';
import type { EngineProcess } from './engine-process.ts';
import { installGuards } from './guards.ts';
import { homeFolder } from './home.ts';
import { systemKeychain } from './keychain.ts';
import { menuTemplate } from './menu.ts';
import { type SystemNotices, systemNotices } from './notices.ts';
import { installPermissions } from './permissions.ts';
import { servePage } from './ports.ts';
import { registerAppScheme, serveAppScheme } from './protocol.ts';
import { closeBeforeQuit } from './quit.ts';
import { endedNotice } from './notice.ts';
import { type Words, wordsFor } from './strings.ts';
import { type TrayParts, WorkTray } from './tray.ts';
import { openWindow, showWindow } from './window.ts';

const log: Logger = {
  info: (message) => console.log(message),
  error: (message, error) => console.error(message, error ?? ''),
};

// Phase 1, before ready: what Electron only takes now. One instance per home, so each home has its own profile folder.
const home = homeFolder(process.argv, process.env);
app.enableSandbox();
registerAppScheme();
installGuards(log);
if (!prepareHome()) app.exit(1);
// A first instance with the same profile is told by Electron and shows its window.
else if (!app.requestSingleInstanceLock()) app.quit();
else void app.whenReady().then(run);

/** Makes the home and, in it, the folder of Chromium's profile; says what is wrong when it cannot. */
function prepareHome(): boolean {
  try {
    const profile = join(ensureHome(home).root, 'desktop');
    mkdirSync(profile, { recursive: true, mode: 0o700 });
    app.setPath('userData', profile);
    return true;
  } catch (error) {
    log.error('The home cannot be used', error);
    dialog.showErrorBox('Talaria', error instanceof Error ? error.message : String(error));
    return false;
  }
}

/** Phase 2, ready: locks first, then the engine, then the window, so that the page finds everything in place. */
function run(): void {
  installPermissions(session.defaultSession);
  serveAppScheme(join(import.meta.dirname, '../renderer'));
  let window: BrowserWindow | undefined;
  const words = wordsFor(app.getLocale());
  const open = (place?: string): void => {
    const opened = openWindow(join(import.meta.dirname, '../preload/index.cjs'), !app.isPackaged, log, place);
    window = opened;
    opened.once('closed', () => (window = undefined));
    tray.opened();
  };
  const show = (): void => (window === undefined ? open() : showWindow(window));
  const notices = systemNotices(() => window, open);
  const tray: WorkTray = new WorkTray({
    create: createTray,
    words,
    work: () => engine.work(),
    windowOpen: () => window !== undefined,
    open: show,
    quit: () => app.quit(),
    log,
  });
  const engine = startEngine(() => window, notices, tray, words);
  open();

  // Phase 3, after: menu, and how the app goes on and ends.
  const options = { platform: process.platform, packaged: app.isPackaged, words };
  Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate(options, { restartEngine: () => engine.restart() })));
  app.on('second-instance', show);
  app.on('activate', show);
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') void tray.windowsClosed();
  });
  closeBeforeQuit(app, () => engine.close());
}

function resourcesFolder(): string {
  return app.isPackaged ? join(process.resourcesPath, 'resources') : join(app.getAppPath(), 'resources');
}

function createTray(): ReturnType<TrayParts['create']> {
  // macOS colours a template by its menu bar.
  const icon = new Tray(join(resourcesFolder(), 'icons', process.platform === 'darwin' ? 'trayTemplate.png' : 'tray.png'));
  return {
    setToolTip: (text) => icon.setToolTip(text),
    setMenu: (template) => icon.setContextMenu(Menu.buildFromTemplate(template)),
    onClick: (work) => void icon.on('click', work),
    destroy: () => icon.destroy(),
  };
}

function startEngine(window: () => BrowserWindow | undefined, notices: SystemNotices, tray: WorkTray, words: Words): EngineProcess {
  const resources = resourcesFolder();
  const engine = superviseEngine({
    fork: () =>
      utilityProcess.fork(join(import.meta.dirname, 'utility.js'), [], {
        env: engineEnv(process.env),
        stdio: 'inherit',
        serviceName: 'Talaria engine',
      }),
    start: { home, version: app.getVersion(), paths: { resources, reader: join(import.meta.dirname, 'reader.js') } },
    keychain: systemKeychain(safeStorage, process.platform),
    notify: (notice) => window()?.webContents.send(SHELL_ENGINE, notice),
    worked: (work) => tray.worked(work),
    ended: (task) => notices.fromEngine(endedNotice(task, words)),
    busy: (message) => void sayBusyAndQuit(message),
    log,
    now: Date.now,
    after: (ms, work) => {
      const timer = setTimeout(work, ms);
      return () => clearTimeout(timer);
    },
  });
  servePage((port) => engine.connect(port), notices.fromPage, log);
  engine.start();
  return engine;
}

async function sayBusyAndQuit(message: string): Promise<void> {
  log.error(message);
  await dialog.showMessageBox({ type: 'info', message: wordsFor(app.getLocale()).homeBusy, detail: message, buttons: ['OK'] });
  app.quit();
}
