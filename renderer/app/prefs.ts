import type { i18n } from 'i18next';
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { LANGUAGES, THEMES } from '#shared/contract/settings.ts';
import { resolveLanguage } from '../lib/i18n.ts';
import { readRemembered, remember } from '../lib/remembered.ts';

export type ThemeSetting = (typeof THEMES)[number];
export type LanguageSetting = (typeof LANGUAGES)[number];

export interface Prefs {
  theme: ThemeSetting;
  language: LanguageSetting;
}

const THEME_VALUES: readonly ThemeSetting[] = ['system', 'light', 'dark'];
const LANGUAGE_VALUES: readonly LanguageSetting[] = ['system', 'en', 'zh-CN'];

/** The last known choices, so that the first frame already has them; the engine's settings are the truth. */
export function createPrefs(): StoreApi<Prefs> {
  return createStore<Prefs>(() => ({
    theme: THEME_VALUES.find((v) => v === readRemembered('theme')) ?? 'system',
    language: LANGUAGE_VALUES.find((v) => v === readRemembered('language')) ?? 'system',
  }));
}

/** Keeps the document's theme and language as the prefs and the system say. Returns the way to stop. */
export function applyPrefs(prefs: StoreApi<Prefs>, words: i18n, page: Window): () => void {
  const dark = page.matchMedia('(prefers-color-scheme: dark)');
  const apply = (): void => {
    const { theme, language } = prefs.getState();
    const root = page.document.documentElement;
    const shown = theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme;
    if (root.dataset['theme'] !== shown) {
      // All colours at once: each button fading on its own is restless, and for a moment unreadable.
      root.dataset['switching'] = '';
      root.dataset['theme'] = shown;
      page.getComputedStyle(root).getPropertyValue('color');
      delete root.dataset['switching'];
    }
    const resolved = resolveLanguage(language, page.navigator.languages);
    root.lang = resolved;
    if (words.language !== resolved) void words.changeLanguage(resolved);
    remember('theme', theme);
    remember('language', language);
  };
  apply();
  dark.addEventListener('change', apply);
  const stop = prefs.subscribe(apply);
  return () => {
    dark.removeEventListener('change', apply);
    stop();
  };
}
