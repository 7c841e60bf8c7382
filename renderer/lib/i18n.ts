import i18next, { type i18n } from 'i18next';
import { useMemo } from 'react';
import { initReactI18next, useTranslation } from 'react-i18next';
import * as format from './format.ts';
import appEn from '../app/locales/en.json';
import appZh from '../app/locales/zh-CN.json';
import batchEn from '../features/batch/locales/en.json';
import batchZh from '../features/batch/locales/zh-CN.json';
import chatEn from '../features/chat/locales/en.json';
import chatZh from '../features/chat/locales/zh-CN.json';
import tasksEn from '../features/chat/tasks/locales/en.json';
import tasksZh from '../features/chat/tasks/locales/zh-CN.json';
import libraryEn from '../features/library/locales/en.json';
import libraryZh from '../features/library/locales/zh-CN.json';
import memoryEn from '../features/memory/locales/en.json';
import memoryZh from '../features/memory/locales/zh-CN.json';
import reviewsEn from '../features/reviews/locales/en.json';
import reviewsZh from '../features/reviews/locales/zh-CN.json';
import settingsEn from '../features/settings/locales/en.json';
import settingsZh from '../features/settings/locales/zh-CN.json';
import skillsEn from '../features/skills/locales/en.json';
import skillsZh from '../features/skills/locales/zh-CN.json';
import skillImportEn from '../features/skills/import/locales/en.json';
import skillImportZh from '../features/skills/import/locales/zh-CN.json';
import skillTrialEn from '../features/skills/trial/locales/en.json';
import skillTrialZh from '../features/skills/trial/locales/zh-CN.json';

/** One namespace per feature; `app` also holds the words that all share (Close, Copy, outcomes). */
export const resources = {
  en: { app: appEn, batch: batchEn, chat: chatEn, library: libraryEn, memory: memoryEn, reviews: reviewsEn, settings: settingsEn, skills: skillsEn, tasks: tasksEn, skillImport: skillImportEn, skillTrial: skillTrialEn },
  'zh-CN': { app: appZh, batch: batchZh, chat: chatZh, library: libraryZh, memory: memoryZh, reviews: reviewsZh, settings: settingsZh, skills: skillsZh, tasks: tasksZh, skillImport: skillImportZh, skillTrial: skillTrialZh },
} as const;

export type Language = keyof typeof resources;

declare module 'i18next' {
  interface CustomTypeOptions {
    defaultNS: 'app';
    resources: (typeof resources)['en'];
  }
}

/** What the page speaks for a setting. @param wanted the setting @param preferred the browser's languages, best first */
export function resolveLanguage(wanted: 'system' | Language, preferred: readonly string[]): Language {
  if (wanted !== 'system') return wanted;
  for (const tag of preferred) {
    if (/^zh\b/i.test(tag)) return 'zh-CN';
    if (/^en\b/i.test(tag)) return 'en';
  }
  return 'en';
}

export async function createI18n(language: Language): Promise<i18n> {
  const instance = i18next.createInstance();
  await instance.use(initReactI18next).init({
    lng: language,
    fallbackLng: 'en',
    resources,
    defaultNS: 'app',
    interpolation: { escapeValue: false },
    returnNull: false,
  });
  return instance;
}

export interface Format {
  lang: string;
  exact: (n: number) => string;
  compact: (n: number) => string;
  percent: (share: number, digits?: number) => string;
  duration: (ms: number) => string;
  clock: (ms: number) => string;
  bytes: (n: number) => string;
  money: (usd: number) => string;
  ago: (then: number, now?: number) => string;
  dateTime: (at: number) => string;
}

/** The format helpers in the page's language. */
export function useFormat(): Format {
  const lang = useTranslation().i18n.language;
  return useMemo(
    () => ({
      lang,
      exact: (n) => format.exact(n, lang),
      compact: format.compact,
      percent: format.percent,
      duration: (ms) => format.duration(ms, lang),
      clock: format.clock,
      bytes: format.bytes,
      money: format.money,
      ago: (then, now = Date.now()) => format.ago(then, now, lang),
      dateTime: (at) => format.dateTime(at, lang),
    }),
    [lang],
  );
}
