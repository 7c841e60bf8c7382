import { Popover } from '@base-ui/react/popover';
import { Layers } from 'lucide-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../../../lib/cx.ts';
import { useCommands } from '../../../lib/commands.tsx';
import { Button } from '../../../ui/Button.tsx';
import { EmptyState } from '../../../ui/Feedback.tsx';
import { Input } from '../../../ui/Input.tsx';
import { Kbd } from '../../../ui/Kbd.tsx';
import { Spinner } from '../../../ui/Spinner.tsx';
import { useTasks } from './task-feed.tsx';
import { TaskRow } from './TaskRow.tsx';
import { useTaskActions } from './use-task-actions.ts';

/** In the status line: how many tasks work, and the list of all of them. */
export function TaskTray({ running, unread }: { running: number; unread: number }): ReactNode {
  const { t } = useTranslation(['tasks', 'app']);
  const { items, open, setOpen } = useTasks();
  const actions = useTaskActions();
  const popup = useRef<HTMLDivElement>(null);
  useCommands(t('app:keys.everywhere'), [{ id: 'tasks', label: t('show'), keys: 'g t', run: () => setOpen(true) }]);

  // What was in the list when it is closed has been seen.
  const close = (): void => {
    for (const task of items ?? []) if (task.unread) actions.seen(task);
    setOpen(false);
  };
  const label = running > 0 ? t('running', { count: running }) : unread > 0 ? t('ended', { count: unread }) : t('title');
  return (
    <Popover.Root open={open} onOpenChange={(next) => (next ? setOpen(true) : close())}>
      <Popover.Trigger
        render={
          <button type="button" className={cx('focus-inset -mx-1 flex h-full items-center gap-[5px] rounded-s px-1 hover:bg-hover hover:text-fg', (running > 0 || unread > 0) && 'text-fg-2')}>
            {running > 0 ? <Spinner className="size-3 text-accent" /> : <Layers className="size-3" aria-hidden="true" />}
            {label}
            {unread > 0 && <i role="img" aria-label={t('unreadCount', { count: unread })} className="size-[7px] rounded-full bg-accent" />}
          </button>
        }
      />
      <Popover.Portal>
        <Popover.Positioner side="top" align="start" sideOffset={6} collisionPadding={8} className="z-40" data-cover="">
          <Popover.Popup ref={popup} initialFocus={popup} aria-label={t('title')} className="flex max-h-[min(70vh,34rem)] w-[min(30rem,calc(100vw-1rem))] flex-col overflow-hidden rounded-m border border-line bg-raised shadow-pop outline-none">
            <h2 className="flex shrink-0 items-center gap-2 border-b border-line px-3 py-1.5 text-xs font-semibold text-fg-3">
              <span className="flex-1">{t('title')}</span>
              <Kbd keys="g t" />
            </h2>
            {items !== null && items.length > 0 ? (
              <ul aria-label={t('list')} tabIndex={0} className="focus-inset min-h-0 flex-1 overflow-y-auto">
                {items.map((task) => <TaskRow key={task.id} task={task} actions={actions} onOpen={close} />)}
              </ul>
            ) : (
              <EmptyState icon={Layers} title={t('empty')}>{t('emptyText')}</EmptyState>
            )}
            <NewTask onStart={(prompt) => actions.start(prompt)} />
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** Starts a task as new chats are set. */
function NewTask({ onStart }: { onStart: (prompt: string) => Promise<boolean> }): ReactNode {
  const { t } = useTranslation('tasks');
  const [text, setText] = useState('');
  const [busy, setBusy] = useState(false);
  const here = useRef(true);
  useEffect(() => () => void (here.current = false), []);
  const start = (): void => {
    const prompt = text.trim();
    if (prompt === '' || busy) return;
    setBusy(true);
    void onStart(prompt).then((begun) => {
      if (!here.current) return;
      setBusy(false);
      if (begun) setText('');
    });
  };
  return (
    <form
      className="flex shrink-0 items-center gap-2 border-t border-line bg-sunken px-3 py-2"
      onSubmit={(e) => {
        e.preventDefault();
        start();
      }}
    >
      <Input aria-label={t('new')} placeholder={t('new')} value={text} onChange={(e) => setText(e.target.value)} className="min-w-0 flex-1" />
      <Button type="submit" busy={busy} dim={text.trim() === ''}>{t('start')}</Button>
    </form>
  );
}
