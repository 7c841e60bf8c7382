import { MessageSquareOff } from 'lucide-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useCommands } from '../../lib/commands.tsx';
import { useClient, useLoad } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { navigate } from '../../lib/hash-location.ts';
import { readRemembered, remember } from '../../lib/remembered.ts';
import { Button } from '../../ui/Button.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../ui/Feedback.tsx';
import { Panes, type Pane } from '../../ui/Panes.tsx';
import { Screen } from '../../ui/Screen.tsx';
import { useToasts } from '../../ui/Toasts.tsx';
import { useWide } from '../library/use-wide.ts';
import { ChatBar, ChatTitle } from './ChatBar.tsx';
import type { ComposerHandle } from './composer/Composer.tsx';
import { LeaveQuestion } from './list/leave-question.tsx';
import { SessionList } from './list/SessionList.tsx';
import { useSessionActions } from './list/use-session-actions.ts';
import { lastChat, openNewChat, rememberChat } from './new-chat.ts';
import { OpenChat } from './OpenChat.tsx';
import { Delegations } from './delegation/delegations.tsx';
import { SidePanel } from './side/SidePanel.tsx';
import { useChatCommands } from './use-chat-commands.ts';
import { useSession } from './use-session.ts';
import type { ConversationHandle } from './conversation/Conversation.tsx';

/** Below these widths the side panel, then the list, lie over the talk and come by their buttons. */
const SIDE_PX = 1180;
const LIST_PX = 780;

/** @param props.id the open chat, from `/chat/:id`; without one the last open chat, else a new one */
export function ChatScreen({ id }: { id: string | null }): ReactNode {
  return id === null ? <WayIn /> : <LeaveQuestion><ChatPlace id={id} /></LeaveQuestion>;
}

/** `/chat`: where one was, else a new chat. */
function WayIn(): ReactNode {
  const { t } = useTranslation('chat');
  const client = useClient();
  const [error, setError] = useState<unknown>(null);
  const [tries, setTries] = useState(0);
  const started = useRef(-1);
  useEffect(() => {
    // Effects run twice in development; two chats would be made.
    if (started.current === tries) return;
    started.current = tries;
    setError(null);
    const last = lastChat();
    const there = last === null ? Promise.reject(new Error('none')) : client.chats.get({ id: last });
    there
      .then(({ session }) => !session.archived, () => false)
      .then(async (usable) => {
        if (usable) navigate(`/chat/${last}`, { replace: true });
        else await openNewChat(client, { replace: true });
      })
      .catch(setError);
  }, [client, tries]);
  return (
    <Screen title={t('title')}>
      {error === null ? <Skeleton className="m-6 h-24 w-80" /> : <ErrorState error={error} onRetry={() => setTries(tries + 1)} />}
    </Screen>
  );
}

/** One place for all chats: the list stays as it is while one goes from chat to chat. */
function ChatPlace({ id }: { id: string }): ReactNode {
  const { t } = useTranslation('chat');
  const { state, set, gone, error } = useSession(id);
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const actions = useSessionActions();
  const composer = useRef<ComposerHandle>(null);
  const talk = useRef<ConversationHandle>(null);
  const [asMarkdown] = useState(() => () => talk.current?.asMarkdown() ?? Promise.resolve(''));
  const commands = useChatCommands(id, state, set, composer, asMarkdown);
  const info = useLoad((c, signal) => c.app.info(undefined, { signal }), []);
  const wideList = useWide(LIST_PX);
  const wideSide = useWide(SIDE_PX);
  const [listOver, setListOver] = useState(false);
  const [sideWanted, setSideWanted] = useState(() => readRemembered('chat.side') !== 'off');
  const [sideOver, setSideOver] = useState(false);
  const there = state !== null;
  useEffect(() => {
    if (there) rememberChat(id);
    setListOver(false);
  }, [id, there]);
  const openNew = (): void => void openNewChat(client).then(() => composer.current?.focus(), (e: unknown) => toast({ title: errorText(e), kind: 'bad' }));
  const kill = (processId: string): void => void client.chats.killProcess({ id, processId }).then(set, (e: unknown) => toast({ title: errorText(e), kind: 'bad' }));
  const sideShown = wideSide ? sideWanted : sideOver;
  const toggleSide = (): void => {
    if (!wideSide) return setSideOver(!sideOver);
    remember('chat.side', sideWanted ? 'off' : 'on');
    setSideWanted(!sideWanted);
  };
  useCommands(t('keys.chat'), [
    { id: 'stop', label: t('composer.stop'), keys: 'Escape', disabled: !state || state.session.state === 'idle', run: commands.stop },
    { id: 'model', label: t('keys.model'), run: () => commands.setMenu('model') },
    { id: 'tools', label: t('keys.tools'), run: () => commands.setMenu('tools') },
    { id: 'side', label: t('bar.side'), keys: 'mod+.', whileTyping: true, run: toggleSide },
    { id: 'fork', label: t('bar.fork'), disabled: !state?.tip, run: () => commands.fork() },
    { id: 'export', label: t('bar.export'), disabled: !state?.tip, run: () => commands.setDialog('export') },
    { id: 'usage', label: t('usage.title'), run: () => commands.setDialog('usage') },
    { id: 'rollback', label: t('rollback.title'), disabled: !state || state.checkpoints === 0, run: () => commands.setDialog('rollback') },
  ], there);

  const list = <SessionList openId={id} onNew={openNew} onEnter={() => composer.current?.focus()} onOpenGone={openNew} />;
  const side = state && <SidePanel key={id} state={state} onConfigure={commands.configure} onCompress={() => commands.compress()} onRollback={() => commands.setDialog('rollback')} onKill={kill} />;
  const middle = state ? (
    <OpenChat key={id} state={state} set={set} commands={commands} composer={composer} talk={talk} home={info.data?.home ?? ''} />
  ) : gone ? (
    <EmptyState icon={MessageSquareOff} title={t('gone.title')} action={<Button variant="primary" onClick={openNew}>{t('keys.new')}</Button>}>{t('gone.text')}</EmptyState>
  ) : error ? (
    <ErrorState error={error} />
  ) : (
    <div className="mx-auto grid max-w-[784px] gap-3 px-4 pt-6" aria-busy="true"><Skeleton className="h-11" /><Skeleton className="h-24" /></div>
  );
  const panes: Pane[] = [
    ...(wideList ? [{ id: 'list', defaultSize: '232px', minSize: '180px', maxSize: '420px', fixed: true, children: list }] : []),
    { id: 'talk', minSize: '320px', children: middle },
    ...(wideSide && sideShown ? [{ id: 'side', defaultSize: '258px', minSize: '200px', maxSize: '420px', fixed: true, children: side }] : []),
  ];
  const screen = (
    <Screen
      title={state ? <ChatTitle key={id} state={state} actions={actions} /> : t('title')}
      documentTitle={state ? state.session.title || t('new.title') : t('title')}
      bar={state && <ChatBar state={state} commands={commands} actions={actions} listShown={wideList ? null : listOver} sideShown={sideShown} onList={() => setListOver(!listOver)} onSide={toggleSide} />}
    >
      <div className="relative h-full">
        <Panes key={panes.map((p) => p.id).join()} id="chat" panes={panes} />
        {!wideList && listOver && <Over side="left" onClose={() => setListOver(false)}>{list}</Over>}
        {!wideSide && sideOver && <Over side="right" onClose={() => setSideOver(false)}>{side}</Over>}
      </div>
    </Screen>
  );
  return id === null ? screen : <Delegations whose={{ sessionId: id }}>{screen}</Delegations>;
}

function Over({ side, onClose, children }: { side: 'left' | 'right'; onClose: () => void; children: ReactNode }): ReactNode {
  return (
    <div onKeyDown={(e) => e.key === 'Escape' && onClose()} className={`absolute inset-y-0 z-20 w-72 border-line bg-bg shadow-pop ${side === 'left' ? 'left-0 border-r' : 'right-0 border-l'}`}>
      {children}
    </div>
  );
}
