import type { BrowserWindowConstructorOptions } from 'electron';

/** The page's `--bg` in both themes, so that nothing flashes before the first paint. */
const BACKGROUND = { light: '#fbfaf8', dark: '#161513' } as const;

/** @param dark whether the system shows dark windows */
export function backgroundColor(dark: boolean): string {
  return dark ? BACKGROUND.dark : BACKGROUND.light;
}

/**
 * The options of the one window. What keeps the page powerless is spelled out even where it is Electron's default.
 * @param preload absolute path of the preload bundle
 * @param devTools whether developer tools may be opened
 */
export function windowOptions(preload: string, dark: boolean, devTools: boolean): BrowserWindowConstructorOptions {
  return {
    // Under this name Electron remembers size, place and whether it was maximised.
    name: 'main',
    windowStatePersistence: true,
    width: 1440,
    height: 900,
    minWidth: 1024,
    minHeight: 640,
    show: false,
    title: 'Talaria',
    backgroundColor: backgroundColor(dark),
    webPreferences: {
      preload,
      devTools,
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webviewTag: false,
      spellcheck: false,
    },
  };
}
