import { useVirtualizer } from '@tanstack/react-virtual';
import { Archive, MessageSquareDashed, Plus, SearchX } from 'lucide-react';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useCommands } from '../../../lib/commands.tsx';
import { navigate } from '../../../lib/hash-location.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { IconButton } from '../../../ui/Button.tsx';
import { ErrorState, Skeleton } from '../../../ui/Feedback.tsx';
import { SearchInput } from '../../../ui/Input.tsx';
import { BUSY_ROW_PX, ROW_PX, SessionRow } from './SessionRow.tsx';
import { rowsOf, type GroupKey } from './sessions.ts';
import { useSessionActions, type SessionActions } from './use-session-actions.ts';
import { useSessions } from './use-sessions.ts';

const HEAD_PX = 30;

/** All chats, grouped and live; the open one is marked. Moving with keys opens. @param onEnter the person goes on in the open chat */
export function SessionList({ openId, onNew, onEnter, onOpenGone }: { openId: string | null; onNew: () => void; onEnter: () => void; /** The open one left the list, and there is no other. */ onOpenGone: () => void }): ReactNode {
  const { t } = useTranslation('chat');
  const [query, setQuery] = useState('');
  const [archived, setArchived] = useState(false);
  const [renaming, setRenaming] = useState<string | null>(null);
  const sessions = useSessions({ query: query.trim().slice(0, 500), archived });
  const actions = useSessionActions();
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => (sessions.pages ? rowsOf(sessions.pages.items.values(), Date.now()) : []), [sessions.pages]);
  const order = useMemo(() => rows.flatMap((row) => (row.kind === 'session' ? [row.session] : [])), [rows]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (i) => (rows[i]?.kind === 'head' ? HEAD_PX : rows[i]?.kind === 'session' && rows[i].session.state !== 'idle' ? BUSY_ROW_PX : ROW_PX),
    getItemKey: (i) => { const row = rows[i]; return row?.kind === 'session' ? row.session.id : (row?.key ?? i); },
    overscan: 12,
  });
  useEffect(() => virtual.measure(), [virtual, rows]);
  const shown = virtual.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && lastShown >= rows.length - 10) sessions.loadMore();
  }, [lastShown, rows.length, sessions]);

  const open = order.find((s) => s.id === openId) ?? null;
  const move = (step: number): void => {
    const at = order.findIndex((s) => s.id === openId);
    const next = order[at === -1 ? (step > 0 ? 0 : order.length - 1) : at + step];
    if (!next) return;
    navigate(`/chat/${next.id}`, { replace: true });
    virtual.scrollToIndex(rows.findIndex((row) => row.kind === 'session' && row.session.id === next.id), { align: 'auto' });
  };
  // The open chat leaves the list: its neighbour opens.
  const stepAway = (id: string): void => {
    if (id === openId) {
      const at = order.findIndex((s) => s.id === id);
      const next = order[at + 1] ?? order[at - 1];
      if (next) navigate(`/chat/${next.id}`, { replace: true });
      else onOpenGone();
    }
  };
  const newest = useRef(stepAway);
  useEffect(() => {
    newest.current = stepAway;
  });
  // Rows are memoised: what they are given must stay the same object.
  const leaving = useMemo<SessionActions>(
    () => ({
      ...actions,
      archive: (session) => actions.archive(session, () => newest.current(session.id)),
      remove: (session) => actions.remove(session, () => newest.current(session.id)),
    }),
    [actions],
  );

  useCommands(t('keys.sessions'), [
    { id: 'next', label: t('keys.next'), keys: 'alt+ArrowDown', whileTyping: true, keysOnly: true, repeats: true, run: () => move(1) },
    { id: 'previous', label: t('keys.previous'), keys: 'alt+ArrowUp', whileTyping: true, keysOnly: true, repeats: true, run: () => move(-1) },
    { id: 'archived', label: t(archived ? 'list.showOpen' : 'list.showArchived'), run: () => setArchived(!archived) },
  ]);
  useCommands(t('keys.sessions'), [
    { id: 'j', label: t('keys.next'), keys: 'j', also: ['ArrowDown'], keysOnly: true, repeats: true, run: () => move(1) },
    { id: 'k', label: t('keys.previous'), keys: 'k', also: ['ArrowUp'], keysOnly: true, repeats: true, run: () => move(-1) },
    { id: 'enter', label: t('keys.enter'), keys: 'Enter', also: ['i'], keysOnly: true, run: onEnter },
    { id: 'n', label: t('keys.new'), keys: 'n', keysOnly: true, run: onNew },
  ]);
  useCommands(t('keys.sessions'), [
    { id: 'rename', label: t('list.rename'), keys: 'F2', disabled: !open, run: () => open && setRenaming(open.id) },
    { id: 'pin', label: t(open?.pinned ? 'list.unpin' : 'list.pin'), keys: 'p', disabled: !open, run: () => open && actions.pin(open) },
    { id: 'archive', label: t(open?.archived ? 'list.unarchive' : 'list.archive'), keys: 'e', disabled: !open, run: () => open && leaving.archive(open) },
    { id: 'remove', label: t('list.remove'), keys: 'Delete', disabled: !open, run: () => open && leaving.remove(open) },
  ]);

  return (
    <nav aria-label={t('list.label')} className="flex h-full min-h-0 flex-col">
      <div className="flex shrink-0 items-center gap-1 px-2 pt-2 pb-1">
        <SearchInput value={query} onChange={setQuery} label={t('list.search')} placeholder={t(archived ? 'list.searchArchived' : 'list.search')} hotkey="/" className="min-w-0 flex-1" />
        <IconButton icon={Archive} label={t(archived ? 'list.showOpen' : 'list.showArchived')} pressed={archived} onClick={() => setArchived(!archived)} />
        <IconButton icon={Plus} label={t('keys.new')} onClick={onNew} />
      </div>
      {sessions.pages === null && sessions.error !== null ? (
        <ErrorState error={sessions.error} onRetry={sessions.reload} />
      ) : sessions.pages === null ? (
        <div className="grid gap-2 px-4 pt-3" aria-busy="true">{Array.from({ length: 8 }, (_, i) => <Skeleton key={i} className="h-[22px]" />)}</div>
      ) : rows.length === 0 ? (
        <Nothing query={query} archived={archived} />
      ) : (
        <div ref={scroller} className="min-h-0 flex-1 overflow-y-auto px-2 pb-2 [overflow-anchor:none]">
          <ul className="relative" style={{ height: virtual.getTotalSize() }}>
            {shown.map((item) => {
              const row = rows[item.index];
              if (!row) return null;
              return (
                <li key={item.key} className="absolute inset-x-0" style={{ height: item.size, transform: `translateY(${item.start}px)` }}>
                  {row.kind === 'head' ? (
                    <h2 className="px-2 pt-2.5 text-xs text-fg-3"><GroupName of={row.key} /></h2>
                  ) : (
                    <SessionRow session={row.session} open={row.session.id === openId} renaming={renaming === row.session.id} actions={leaving} onRename={setRenaming} />
                  )}
                </li>
              );
            })}
          </ul>
        </div>
      )}
    </nav>
  );
}

function GroupName({ of }: { of: GroupKey }): ReactNode {
  const { t } = useTranslation('chat');
  const { lang } = useFormat();
  if (of.startsWith('month:')) return new Intl.DateTimeFormat(lang, { month: 'long', year: 'numeric' }).format(Number(of.slice(6)));
  return t(`group.${of as 'pinned' | 'running' | 'today' | 'yesterday' | 'week'}`);
}

function Nothing({ query, archived }: { query: string; archived: boolean }): ReactNode {
  const { t } = useTranslation('chat');
  const Icon = query ? SearchX : archived ? Archive : MessageSquareDashed;
  return (
    <div className="grid justify-items-center gap-1.5 px-5 pt-12 text-center text-sm text-fg-3">
      <Icon className="size-5" strokeWidth={1.5} aria-hidden="true" />
      {t(query ? 'list.noMatch' : archived ? 'list.noneArchived' : 'list.none')}
    </div>
  );
}
