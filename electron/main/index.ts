/** The desktop shell: wires window, page, engine process and system together. What the app does lives in the engine. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { app, dialog, Menu, safeStorage, session, utilityProcess } from 'electron';
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
import { installPermissions } from './permissions.ts';
import { servePorts } from './ports.ts';
import { registerAppScheme, serveAppScheme } from './protocol.ts';
import { closeBeforeQuit } from './quit.ts';
import { wordsFor } from './strings.ts';
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
  const engine = startEngine(() => window);
  const open = (): void => {
    const opened = openWindow(join(import.meta.dirname, '../preload/index.cjs'), !app.isPackaged, log);
    window = opened;
    opened.once('closed', () => (window = undefined));
  };
  open();

  // Phase 3, after: menu, and how the app goes on and ends.
  const words = wordsFor(app.getLocale());
  const options = { platform: process.platform, packaged: app.isPackaged, words };
  Menu.setApplicationMenu(Menu.buildFromTemplate(menuTemplate(options, { restartEngine: () => engine.restart() })));
  const show = (): void => (window === undefined ? open() : showWindow(window));
  app.on('second-instance', show);
  app.on('activate', show);
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit();
  });
  closeBeforeQuit(app, () => engine.close());
}

function startEngine(window: () => BrowserWindow | undefined): EngineProcess {
  const resources = app.isPackaged ? join(process.resourcesPath, 'resources') : join(app.getAppPath(), 'resources');
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
    busy: (message) => void sayBusyAndQuit(message),
    log,
    now: Date.now,
    after: (ms, work) => {
      const timer = setTimeout(work, ms);
      return () => clearTimeout(timer);
    },
  });
  servePorts((port) => engine.connect(port), log);
  engine.start();
  return engine;
}

async function sayBusyAndQuit(message: string): Promise<void> {
  log.error(message);
  await dialog.showMessageBox({ type: 'info', message: wordsFor(app.getLocale()).homeBusy, detail: message, buttons: ['OK'] });
  app.quit();
}
