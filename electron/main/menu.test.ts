import type { MenuItemConstructorOptions } from 'electron';
import { expect, test } from 'vitest';
import { menuTemplate } from './menu.ts';
import { wordsFor } from './strings.ts';

const roles = (items: MenuItemConstructorOptions[]): string[] =>
  items.flatMap((item) => [...(item.role ? [item.role] : []), ...(Array.isArray(item.submenu) ? roles(item.submenu) : [])]);
const template = (packaged: boolean, platform: NodeJS.Platform = 'linux', restartEngine = (): void => undefined): MenuItemConstructorOptions[] =>
  menuTemplate({ platform, packaged, words: wordsFor('en-US') }, { restartEngine });

test('a packaged app has neither developer tools nor reload', () => {
  expect(roles(template(true)).filter((role) => /reload|devtools/i.test(role))).toEqual([]);
  expect(roles(template(false))).toEqual(expect.arrayContaining(['reload', 'toggleDevTools']));
});

test('copy and paste work on macOS, which takes them from the menu', () => {
  expect(roles(template(true, 'darwin'))).toEqual(expect.arrayContaining(['appMenu', 'editMenu']));
});

test('the engine can be restarted from the menu, in both languages', () => {
  let restarted = 0;
  const help = template(true, 'linux', () => (restarted += 1)).at(-1)?.submenu as MenuItemConstructorOptions[];
  (help[0]?.click as () => void)();
  expect(restarted).toBe(1);
  expect(wordsFor('zh-CN').restartEngine).toBe('重新启动引擎');
  expect(wordsFor('de').restartEngine).toBe('Restart Engine');
});
