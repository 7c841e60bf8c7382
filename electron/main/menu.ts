import type { MenuItemConstructorOptions } from 'electron';
import type { Words } from './strings.ts';

/**
 * The application menu: standard roles, and a way to restart the engine. Reload and developer tools exist only while
 * the app is not packaged.
 */
export function menuTemplate(
  options: { platform: NodeJS.Platform; packaged: boolean; words: Words },
  actions: { restartEngine(): void },
): MenuItemConstructorOptions[] {
  const { platform, packaged, words } = options;
  const separator: MenuItemConstructorOptions = { type: 'separator' };
  const developer: MenuItemConstructorOptions[] = packaged ? [] : [{ role: 'reload' }, { role: 'toggleDevTools' }, separator];
  return [
    ...(platform === 'darwin' ? [{ role: 'appMenu' } as const] : []),
    { role: 'fileMenu' },
    { role: 'editMenu' },
    {
      label: words.view,
      submenu: [
        ...developer,
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        separator,
        { role: 'togglefullscreen' },
      ],
    },
    { role: 'windowMenu' },
    {
      role: 'help',
      label: words.help,
      submenu: [{ id: 'restart-engine', label: words.restartEngine, click: () => actions.restartEngine() }],
    },
  ];
}
