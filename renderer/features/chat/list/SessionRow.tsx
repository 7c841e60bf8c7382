import { ContextMenu } from '@base-ui/react/context-menu';
import { Archive, ArchiveRestore, CircleAlert, CircleHelp, MoreHorizontal, Network, Pencil, PenLine, Pin, PinOff, Trash2 } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionSummary } from '#shared/contract/chats.ts';
import { cx } from '../../../lib/cx.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Menu, type MenuItem } from '../../../ui/Menu.tsx';
import { Spinner } from '../../../ui/Spinner.tsx';
import { activityText } from '../../batch/activity.ts';
import { useNow } from '../../batch/use-run.ts';
import type { SessionActions } from './use-session-actions.ts';

export const ROW_PX = 30;
export const BUSY_ROW_PX = 44;

export interface SessionRowProps {
  session: SessionSummary;
  open: boolean;
  renaming: boolean;
  actions: SessionActions;
  onRename: (id: string | null) => void;
}

/** One chat of the list: its title, and what goes on in it. */
export const SessionRow = memo(function SessionRow({ session, open, renaming, actions, onRename }: SessionRowProps): ReactNode {
  const { t } = useTranslation('chat');
  const title = session.title || t('list.untitled');
  const items: (MenuItem | null)[] = [
    { id: 'rename', label: t('list.rename'), icon: Pencil, run: () => onRename(session.id) },
    { id: 'pin', label: t(session.pinned ? 'list.unpin' : 'list.pin'), icon: session.pinned ? PinOff : Pin, run: () => actions.pin(session) },
    { id: 'archive', label: t(session.archived ? 'list.unarchive' : 'list.archive'), icon: session.archived ? ArchiveRestore : Archive, run: () => actions.archive(session) },
    null,
    { id: 'remove', label: t('list.remove'), icon: Trash2, danger: true, run: () => actions.remove(session) },
  ];
  if (renaming) return <RenameRow session={session} actions={actions} onDone={() => onRename(null)} />;
  return (
    <ContextMenu.Root>
      <ContextMenu.Trigger className="group relative block h-full">
        <a
          href={`#/chat/${session.id}`}
          aria-current={open ? 'page' : undefined}
          title={session.error ?? undefined}
          className={cx(
            'focus-inset grid h-full content-center rounded-m px-2 text-md no-underline group-hover:pr-8',
            open ? 'bg-hover text-fg' : 'text-fg-2 hover:bg-hover hover:text-fg',
          )}
        >
          <span className="flex min-w-0 items-center gap-2">
            <span className={cx('min-w-0 flex-1 truncate', session.unread && 'font-semibold text-fg')}>{title}</span>
            <Mark session={session} />
          </span>
          {session.state !== 'idle' && <Activity session={session} />}
        </a>
        <span className="absolute top-1 right-1 opacity-0 group-hover:opacity-100 focus-within:opacity-100 has-[[data-popup-open]]:opacity-100">
          <Menu
            items={items}
            trigger={
              <button type="button" aria-label={t('list.more', { title })} className="grid size-[22px] place-items-center rounded-m text-fg-2 hover:bg-raised hover:text-fg">
                <MoreHorizontal className="size-3.5" aria-hidden="true" />
              </button>
            }
          />
        </span>
      </ContextMenu.Trigger>
      <ContextMenu.Portal>
        <ContextMenu.Positioner className="z-50" data-cover="">
          <ContextMenu.Popup className="min-w-44 rounded-m border border-line bg-raised p-1 shadow-pop outline-none">
            {items.map((item, i) =>
              item === null ? (
                <ContextMenu.Separator key={`line-${i}`} className="my-1 h-px bg-line" />
              ) : (
                <ContextMenu.Item
                  key={item.id}
                  onClick={item.run}
                  className={cx('flex h-7 cursor-default items-center gap-2 rounded-s px-2 text-sm select-none data-highlighted:bg-hover', item.danger ? 'text-bad' : 'text-fg')}
                >
                  {item.icon && <item.icon className="size-3.5" aria-hidden="true" />}
                  {item.label}
                </ContextMenu.Item>
              ),
            )}
          </ContextMenu.Popup>
        </ContextMenu.Positioner>
      </ContextMenu.Portal>
    </ContextMenu.Root>
  );
});

function Mark({ session }: { session: SessionSummary }): ReactNode {
  const { t } = useTranslation('chat');
  const { t: tasks } = useTranslation('tasks');
  if (session.state === 'asking') return <CircleHelp role="img" aria-label={t('state.asking')} className="size-3.5 shrink-0 text-warn" />;
  if (session.state === 'running') return <span role="img" aria-label={t('state.running')} className="flex shrink-0 text-accent"><Spinner className="size-3" /></span>;
  // Those in the background, while the chat itself is at rest.
  if (session.agents) return <span role="img" aria-label={tasks('agents.running', { count: session.agents })} title={tasks('agents.running', { count: session.agents })} className="num flex shrink-0 items-center gap-1 text-xs text-accent"><Network className="size-3" aria-hidden="true" />{session.agents}</span>;
  // Stopped by the person is no failure, though the words for it stand in `error`.
  const failed = session.exitReason !== 'interrupted' && (session.error !== null || session.exitReason === 'provider_error' || session.exitReason === 'error');
  return (
    <span className="num flex shrink-0 items-center gap-1.5 text-xs text-fg-3">
      {session.hasDraft && <PenLine role="img" aria-label={t('state.draft')} className="size-3 text-fg-3" />}
      {failed && <CircleAlert role="img" aria-label={t('state.failed')} className="size-3.5 text-bad" />}
      {session.pinned && !failed && !session.hasDraft && <Pin role="img" aria-label={t('state.pinned')} className="size-3" />}
      {session.unread ? <i role="img" aria-label={t('state.unread')} className="size-[7px] rounded-full bg-accent" /> : <When at={session.updatedAt} />}
    </span>
  );
}

/** The time of today's, the weekday of this week's, else the day. */
function When({ at }: { at: number }): ReactNode {
  const { lang, dateTime } = useFormat();
  const midnight = new Date().setHours(0, 0, 0, 0);
  const options: Intl.DateTimeFormatOptions = at >= midnight ? { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } : at > midnight - 6 * 86_400_000 ? { weekday: 'short' } : { month: 'short', day: 'numeric' };
  return <span title={dateTime(at)}>{new Intl.DateTimeFormat(lang, options).format(at)}</span>;
}

function Activity({ session }: { session: SessionSummary }): ReactNode {
  const { t } = useTranslation('chat');
  const { t: ofBatch } = useTranslation(['batch', 'app']);
  const format = useFormat();
  const now = useNow(true);
  const asking = session.state === 'asking';
  return (
    <span className="flex min-w-0 gap-2 text-xs">
      <span className={cx('min-w-0 flex-1 truncate', asking ? 'text-warn' : 'text-accent')}>{asking ? t('state.asking') : !session.activity || session.activity === 'thinking' || session.activity === 'waiting for the model' ? t('state.thinking') : activityText(session.activity, ofBatch)}</span>
      {session.turnStartedAt != null && <span className="num shrink-0 text-fg-3">{format.duration(Math.max(1000, now - session.turnStartedAt))}</span>}
    </span>
  );
}

function RenameRow({ session, actions, onDone }: { session: SessionSummary; actions: SessionActions; onDone: () => void }): ReactNode {
  const { t } = useTranslation('chat');
  return (
    <input
      autoFocus
      aria-label={t('list.title')}
      defaultValue={session.title}
      maxLength={200}
      spellCheck={false}
      onFocus={(e) => e.currentTarget.select()}
      onBlur={(e) => {
        actions.rename(session, e.currentTarget.value);
        onDone();
      }}
      onKeyDown={(e) => {
        if (e.nativeEvent.isComposing) return;
        if (e.key === 'Enter') e.currentTarget.blur();
        else if (e.key === 'Escape') {
          e.currentTarget.value = '';
          e.currentTarget.blur();
        }
      }}
      className="h-full w-full rounded-m border border-accent bg-raised px-2 text-md outline-none"
    />
  );
}
