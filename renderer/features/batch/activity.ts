import type { TFunction } from 'i18next';

/** What the engine says of an agent besides the tool it uses, in the page's language: in runs, chats and sub-agents. Tool summaries stay as they are. */
export function activityText(activity: string, t: TFunction<['batch', 'app']>): string {
  switch (activity) {
    case 'starting':
      return t('activity.starting');
    case 'waiting for the model':
      return t('activity.waiting');
    case 'thinking':
      return t('activity.thinking');
    case 'answering':
      return t('activity.answering');
    case 'calling a tool':
      return t('activity.calling');
    case 'compressing':
    case 'compressing the context':
      return t('activity.compressing');
    case 'waiting to try again':
      return t('activity.retrying');
    default: {
      const again = /^trying again in (\d+) s: (.*)$/s.exec(activity);
      return again ? t('activity.again', { seconds: again[1], why: again[2] }) : activity;
    }
  }
}
