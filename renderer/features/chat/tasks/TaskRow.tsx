import { CircleAlert, CircleCheck, CirclePause, CircleX, LoaderCircle, Play, Square, Trash2, type LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Task } from '#shared/contract/tasks.ts';
import { cx } from '../../../lib/cx.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { activityText } from '../../batch/activity.ts';
import { useNow } from '../../batch/use-run.ts';
import { PlainIconButton } from '../../library/view/PlainIconButton.tsx';
import type { TaskActions } from './use-task-actions.ts';

const STATES: Record<Task['state'], { icon: LucideIcon; tone: string }> = {
  running: { icon: LoaderCircle, tone: 'text-accent animate-spin [animation-duration:1.6s]' },
  completed: { icon: CircleCheck, tone: 'text-good' },
  partial: { icon: CircleAlert, tone: 'text-warn' },
  failed: { icon: CircleX, tone: 'text-bad' },
  interrupted: { icon: CirclePause, tone: 'text-fg-3' },
};

/** The beginning of a text without the marks of Markdown that say nothing in a line. */
export function plainLine(text: string): string {
  return text.slice(0, 400).replace(/`+|\*\*|^#+ /gm, '').replace(/\s+/g, ' ').trim();
}

/** One task: what it is asked, how far it is, what it said. */
export function TaskRow({ task, actions, onOpen }: { task: Task; actions: TaskActions; onOpen: () => void }): ReactNode {
  const { t } = useTranslation('tasks');
  const { t: ofBatch } = useTranslation(['batch', 'app']);
  const format = useFormat();
  const running = task.state === 'running';
  const now = useNow(running);
  const { icon: Icon, tone } = STATES[task.state];
  const title = task.title || task.prompt;
  const took = Math.max(0, (task.endedAt ?? now) - task.startedAt);
  const numbers = [
    t('turns', { turns: format.exact(task.turns), max: format.exact(task.maxTurns) }),
    took < 1_000 ? null : format.duration(Math.floor(took / 1_000) * 1_000),
    task.tokens > 0 ? t('tokens', { shown: format.compact(task.tokens) }) : null,
    task.costUsd === null || task.costUsd === 0 ? null : format.money(task.costUsd),
  ].filter(Boolean);
  const saying = running ? null : task.state === 'failed' ? (task.error ?? task.result) : (task.result ?? task.error);
  return (
    <li className="grid grid-cols-[14px_minmax(0,1fr)_auto] gap-x-2 gap-y-0.5 border-b border-line px-3 py-2 last:border-b-0">
      <Icon role="img" aria-label={t(`state.${task.state}`)} className={cx('mt-[3px] size-3.5', tone)} />
      <a href={`#/chat/${task.id}`} title={task.prompt.slice(0, 600)} onClick={onOpen} className={cx('min-w-0 truncate rounded-s text-md no-underline hover:underline', task.unread ? 'font-semibold text-fg' : 'text-fg')}>
        {title}
        {task.unread && <span className="sr-only"> {t('unread')}</span>}
      </a>
      <span className="-my-0.5 flex">
        {running && <PlainIconButton icon={Square} label={t('stop', { title: title.slice(0, 60) })} onClick={() => actions.stop(task)} />}
        {!running && task.state !== 'completed' && <PlainIconButton icon={Play} label={t('resume', { title: title.slice(0, 60) })} onClick={() => actions.resume(task)} />}
        <PlainIconButton icon={Trash2} label={t('remove', { title: title.slice(0, 60) })} onClick={() => actions.remove(task)} />
      </span>
      <p className="num col-start-2 col-end-4 flex min-w-0 gap-2 text-xs text-fg-3">
        <span className={cx('min-w-0 truncate', running && 'text-accent')}>{running ? (task.activity === null ? t('state.running') : activityText(task.activity, ofBatch)) : t(`state.${task.state}`)}</span>
        <span className="shrink-0">{numbers.join(' · ')}</span>
      </p>
      {saying !== null && saying.trim() !== '' && <p className={cx('col-start-2 col-end-4 line-clamp-2 text-sm wrap-anywhere', task.state === 'failed' ? 'text-bad' : 'text-fg-2')}>{plainLine(saying)}</p>}
    </li>
  );
}
