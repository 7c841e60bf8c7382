import { BrowserWindow, nativeTheme } from 'electron';
import type { Logger } from '#engine/store/types.ts';
import { START_URL } from './origin.ts';
import { backgroundColor, windowOptions } from './window-options.ts';

/** Reloads after a crash of the page within this time would only go round in circles, ms. */
const RELOAD_PAUSE_MS = 10_000;

/**
 * Opens the app's window and loads the page. It shows itself with the first paint.
 * @param place path in the page where it opens; where the person last was when left out
 */
export function openWindow(preload: string, devTools: boolean, log: Logger, place?: string): BrowserWindow {
  const window = new BrowserWindow(windowOptions(preload, nativeTheme.shouldUseDarkColors, devTools));
  window.once('ready-to-show', () => window.show());
  const followTheme = (): void => window.setBackgroundColor(backgroundColor(nativeTheme.shouldUseDarkColors));
  nativeTheme.on('updated', followTheme);
  window.once('closed', () => nativeTheme.off('updated', followTheme));
  let reloadedAt = -Infinity;
  window.webContents.on('render-process-gone', (_event, details) => {
    log.error(`The page's process ended: ${details.reason}`);
    if (details.reason === 'clean-exit' || window.isDestroyed() || Date.now() - reloadedAt < RELOAD_PAUSE_MS) return;
    reloadedAt = Date.now();
    window.webContents.reload();
  });
  window.loadURL(place === undefined ? START_URL : `${START_URL}#${place}`).catch((error: unknown) => log.error('The page could not be loaded', error));
  return window;
}

/** Brings a window to the front. */
export function showWindow(window: BrowserWindow): void {
  if (window.isMinimized()) window.restore();
  window.show();
  window.focus();
}
