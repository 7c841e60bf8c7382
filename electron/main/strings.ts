/** The few words that main itself shows; the page has its own. Menu roles are named by the system. */
const WORDS = {
  en: {
    view: 'View',
    help: 'Help',
    restartEngine: 'Restart Engine',
    homeBusy: 'Talaria is already open',
  },
  zh: {
    view: '显示',
    help: '帮助',
    restartEngine: '重新启动引擎',
    homeBusy: 'Talaria 已经打开',
  },
} as const;

export type Words = Record<keyof (typeof WORDS)['en'], string>;

/** @param locale as of `app.getLocale()`; English for all but Chinese */
export function wordsFor(locale: string): Words {
  return locale.toLowerCase().startsWith('zh') ? WORDS.zh : WORDS.en;
}
