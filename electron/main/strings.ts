/** The few words that main itself shows; the page has its own. Menu roles are named by the system. */
const WORDS = {
  en: {
    view: 'View',
    help: 'Help',
    restartEngine: 'Restart Engine',
    homeBusy: 'Talaria is already open',
    open: 'Open Talaria',
    quit: 'Quit Talaria',
    atRest: 'Nothing is running',
    oneTask: '1 task is running',
    tasks: '{n} tasks are running',
    working: 'Agents are working',
    task: 'Task in the background',
    taskCompleted: 'The task is done.',
    taskPartial: 'The task ended before it was done.',
    taskFailed: 'The task failed.',
  },
  zh: {
    view: '显示',
    help: '帮助',
    restartEngine: '重新启动引擎',
    homeBusy: 'Talaria 已经打开',
    open: '打开 Talaria',
    quit: '退出 Talaria',
    atRest: '没有正在运行的任务',
    oneTask: '1 个任务正在运行',
    tasks: '{n} 个任务正在运行',
    working: '智能体正在工作',
    task: '后台任务',
    taskCompleted: '任务已完成。',
    taskPartial: '任务未完成就结束了。',
    taskFailed: '任务失败。',
  },
} as const;

export type Words = Record<keyof (typeof WORDS)['en'], string>;

/** @param locale as of `app.getLocale()`; English for all but Chinese */
export function wordsFor(locale: string): Words {
  return locale.toLowerCase().startsWith('zh') ? WORDS.zh : WORDS.en;
}
