import { Copy, Download, GitFork, LibraryBig, ListRestart, MoreHorizontal, PanelLeft, PanelRight, Pin, PinOff } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionState } from '#shared/contract/chats.ts';
import { Button, IconButton, LinkButton } from '../../ui/Button.tsx';
import { Menu } from '../../ui/Menu.tsx';
import type { SessionActions } from './list/use-session-actions.ts';
import type { ChatCommands } from './use-chat-commands.ts';

/** The title, which is edited where it stands. */
export function ChatTitle({ state, actions }: { state: SessionState; actions: SessionActions }): ReactNode {
  const { t } = useTranslation('chat');
  const [editing, setEditing] = useState(false);
  const { session } = state;
  if (!editing) {
    return (
      <button type="button" title={t('bar.rename')} onClick={() => setEditing(true)} className="focus-inset block max-w-[min(40vw,100%)] truncate rounded-s font-semibold hover:text-accent">
        {session.title || t(session.messageCount === 0 ? 'new.title' : 'list.untitled')}
      </button>
    );
  }
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
        setEditing(false);
      }}
      onKeyDown={(e) => {
        if (e.nativeEvent.isComposing) return;
        if (e.key === 'Enter') e.currentTarget.blur();
        else if (e.key === 'Escape') setEditing(false);
      }}
      className="h-[26px] w-[min(420px,40vw)] rounded-m border border-accent bg-raised px-2 font-semibold outline-none"
    />
  );
}

export function ChatBar({ state, commands, actions, listShown, sideShown, onList, onSide }: { state: SessionState; commands: ChatCommands; actions: SessionActions; /** null: it always is. */ listShown: boolean | null; sideShown: boolean; onList: () => void; onSide: () => void }): ReactNode {
  const { t } = useTranslation('chat');
  const { session, settings, tip } = state;
  const said = tip !== null;
  return (
    <>
      <span className="min-w-0 shrink-[9999] truncate text-fg-3 max-md:sr-only">{[settings.model.split('/').at(-1), settings.toolsets.join(', ')].filter(Boolean).join(' · ')}</span>
      <span className="flex-1" />
      {said && (
        <>
          <Button variant="ghost" icon={GitFork} className="max-lg:hidden" onClick={() => commands.fork()}>{t('bar.fork')}</Button>
          <Button variant="ghost" icon={Copy} className="max-lg:hidden" onClick={() => commands.run('copy', '')}>{t('bar.copy')}</Button>
          <LinkButton to={`/library/${tip}`} icon={LibraryBig}>{t('bar.library')}</LinkButton>
        </>
      )}
      <Menu
        trigger={<IconButton icon={MoreHorizontal} label={t('bar.more')} />}
        items={[
          { id: 'fork', label: t('bar.fork'), icon: GitFork, disabled: !said, run: () => commands.fork() },
          { id: 'copy', label: t('bar.copy'), icon: Copy, disabled: !said, run: () => commands.run('copy', '') },
          { id: 'retry', label: t('bar.retryWith'), icon: ListRestart, disabled: !said || session.state !== 'idle', run: () => commands.setDialog('retry') },
          { id: 'export', label: t('bar.export'), icon: Download, disabled: !said, run: () => commands.setDialog('export') },
          null,
          { id: 'pin', label: t(session.pinned ? 'list.unpin' : 'list.pin'), icon: session.pinned ? PinOff : Pin, run: () => actions.pin(session) },
        ]}
      />
      {listShown !== null && <IconButton icon={PanelLeft} label={t('bar.list')} pressed={listShown} onClick={onList} />}
      <IconButton icon={PanelRight} label={t('bar.side')} pressed={sideShown} onClick={onSide} />
    </>
  );
}
