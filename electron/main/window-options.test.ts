import { expect, test } from 'vitest';
import { windowOptions } from './window-options.ts';

test('the window is the powerless one that the design asks for, to the last option', () => {
  expect(windowOptions('/app/preload.cjs', true, false)).toEqual({
    name: 'main',
    windowStatePersistence: true,
    width: 1440,
    height: 900,
    minWidth: 1024,
    minHeight: 640,
    show: false,
    title: 'Talaria',
    backgroundColor: '#161513',
    webPreferences: {
      preload: '/app/preload.cjs',
      devTools: false,
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      nodeIntegrationInWorker: false,
      nodeIntegrationInSubFrames: false,
      webviewTag: false,
      spellcheck: false,
    },
  });
});
