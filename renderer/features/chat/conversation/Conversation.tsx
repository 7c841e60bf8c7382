import { MessageSquareOff } from 'lucide-react';
import { ORPCError } from '@orpc/client';
import { useCallback, useEffect, useImperativeHandle, useMemo, useRef, useState, type ReactNode, type Ref } from 'react';
import { useTranslation } from 'react-i18next';
import { useStore } from 'zustand';
import { createStore } from 'zustand/vanilla';
import { typedText } from '#shared/attached.ts';
import type { Answer, SessionState } from '#shared/contract/chats.ts';
import { type Attachment, saidByPerson, type StoredMessage } from '#shared/trajectory.ts';
import { useCommands } from '../../../lib/commands.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../../ui/Feedback.tsx';
import { Spinner } from '../../../ui/Spinner.tsx';
import { Button } from '../../../ui/Button.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';
import { ViewProvider } from '../../library/view/context.tsx';
import { createFolds, toggleTurn } from '../../library/view/folds.ts';
import { answerIndex } from '../../library/view/turns.ts';
import { conversationAsMarkdown } from './as-markdown.ts';
import { forksOf, type Fork } from './branches.ts';
import type { ChatTranscript } from './chat-transcript.ts';
import { EndRow } from './EndRow.tsx';
import { MessageList, type MessageListHandle } from './MessageList.tsx';
import { liveRows, liveShape, RowMaker, type Row } from './rows.ts';
import { TalkProvider, type Editing, type Talk, type TalkActions } from './talk-context.tsx';
import { useChatTranscript } from './use-chat-transcript.ts';

export interface ConversationHandle {
  /** Takes the focus; false while there is nothing to read yet. */
  focus: () => boolean;
  /** To the newest message, reading along from there. */
  toEnd: () => void;
  /** All of this branch as Markdown (messages that are not here yet are fetched first). */
  asMarkdown: () => Promise<string>;
}

export interface ConversationProps {
  state: SessionState;
  /** The branch that is shown: `state.tip`, once there is one. Another id swaps the messages without a flicker. */
  trajectoryId: string;
  handle: Ref<ConversationHandle>;
  /** A person's message is to be said anew; `attachments` are those it had. */
  onEdit: (seq: number, text: string, attachments: readonly Attachment[]) => void;
  /** The last user message is to be answered again. */
  onRetry: () => void;
  /** The turn that ended early is to go on. */
  onContinue: () => void;
  /** A new session with the messages up to `seq`. */
  onFork: (seq: number) => void;
  onBranch: (trajectoryId: string) => void;
  onAnswer: (questionId: string, answer: Answer) => void;
  /** The person wants to see what the files were before. */
  onRollback: () => void;
}

/** The messages of one chat: what was said, what tools did, and what is being written. */
export function Conversation(props: ConversationProps): ReactNode {
  // A session keeps what is unfolded and where one reads; another begins anew.
  return <Loading key={props.state.session.id} {...props} />;
}

function Loading(props: ConversationProps): ReactNode {
  const { t } = useTranslation('chat');
  const { transcript, error, retry } = useChatTranscript(props.trajectoryId, props.state.session.state !== 'idle');
  if (error !== null && !transcript) {
    const gone = error instanceof ORPCError && error.code === 'NOT_FOUND';
    return gone ? <EmptyState icon={MessageSquareOff} title={t('conversation.goneTitle')}>{t('conversation.goneText')}</EmptyState> : <ErrorState error={error} onRetry={retry} />;
  }
  return transcript ? <Opened {...props} transcript={transcript} broken={error} onAgain={retry} /> : <Skeletons />;
}

function Opened({ state, transcript, handle, broken, onAgain, ...on }: ConversationProps & { transcript: ChatTranscript; broken: unknown; onAgain: () => void }): ReactNode {
  const { t } = useTranslation('chat');
  const list = useRef<MessageListHandle>(null);
  const { turns, last, complete, wholes, olderError } = useStore(transcript.state);
  const shape = useStore(transcript.live, (s) => liveShape(s.answer));
  const running = useStore(transcript.live, (s) => s.runs.size > 0);
  const [folds] = useState(() => createFolds(null));
  const [maker] = useState(() => new RowMaker());
  const [editing] = useState(() => createStore<{ editing: Editing | null }>(() => ({ editing: null })));
  const [current, setCurrent] = useState(-1);
  const [active, setActive] = useState(false);
  const [nearStart, setNearStart] = useState(false);
  const busy = state.session.state !== 'idle';

  const rows = useMemo((): Row[] => {
    const { answer } = transcript.live.getState();
    const live = shape === '' || (answer && answer.seq <= last) ? [] : liveRows(answer);
    return [...maker.rows(turns, wholes, complete), ...live, { key: 'end', seq: Infinity, head: false, kind: 'end' }];
  }, [maker, turns, wholes, complete, last, shape, transcript]);
  const openSeq = busy ? (turns.findLast((turn) => turn.kind === 'assistant')?.key ?? -1) : -1;
  const lastAnswer = turns[answerIndex(turns)]?.key ?? -1;
  const branches = JSON.stringify(state.branches);
  const forks = useMemo(() => placeForks(forksOf(JSON.parse(branches) as SessionState['branches'], transcript.id), rows), [branches, transcript, rows]);
  const asksHere = state.question !== null && !rows.some((row) => row.kind === 'call' && row.seq === openSeq && row.pair.result === null && row.pair.call.id === state.question?.callId);

  const actions = useActions(transcript, on);
  const question = JSON.stringify(state.question);
  const talk = useMemo<Talk>(
    () => ({ transcript, actions, editing, busy, question: JSON.parse(question) as SessionState['question'], openSeq, lastAnswer, forks, current }),
    [transcript, actions, editing, busy, question, openSeq, lastAnswer, forks, current],
  );
  const view = useMemo(() => ({ folds, loadContent: (seq: number) => transcript.whole(seq), live: transcript.live }), [folds, transcript]);

  useImperativeHandle(handle, () => ({
    focus: () => {
      list.current?.focus();
      return list.current !== null;
    },
    toEnd: () => list.current?.toEnd(),
    asMarkdown: async () => {
      await transcript.all();
      const spoken = transcript.state.getState().turns.filter((turn) => turn.kind === 'user' || turn.kind === 'assistant');
      for (const { message } of spoken) if (message.contentBytes !== undefined) await transcript.whole(message.seq);
      const now = transcript.state.getState();
      return conversationAsMarkdown(now.turns, (turn) => now.wholes.get(turn.key) ?? turn.message.content, { person: t('conversation.you'), agent: t('conversation.agent'), cut: t('conversation.markdownCut') });
    },
  }), [transcript, t]);

  const step = (by: 1 | -1): void => {
    const heads = rows.flatMap((row, index) => (row.head ? [{ index, seq: row.seq }] : []));
    const known = heads.findIndex((head) => head.seq === current);
    // The first step goes on from where one reads.
    const seen = list.current?.firstSeen() ?? 0;
    const from = known >= 0 ? known + by : heads.findLastIndex((head) => head.index <= seen) + (by > 0 ? 1 : 0);
    const head = heads[Math.min(Math.max(0, from), heads.length - 1)];
    if (!head) return;
    setCurrent(head.seq);
    list.current?.go(head.index);
  };
  const turn = turns.find((one) => one.key === current);
  useCommands(t('conversation.keys.title'), [
    { id: 'next', label: t('conversation.keys.next'), keys: 'j', keysOnly: true, repeats: true, run: () => step(1) },
    { id: 'previous', label: t('conversation.keys.previous'), keys: 'k', keysOnly: true, repeats: true, run: () => step(-1) },
    { id: 'first', label: t('conversation.keys.first'), keys: 'Home', also: ['g g'], keysOnly: true, run: () => void transcript.all().then(() => list.current?.toStart(), () => undefined) },
    { id: 'last', label: t('conversation.keys.last'), keys: 'End', also: ['shift+g'], keysOnly: true, run: () => list.current?.toEnd() },
    { id: 'copy', label: t('conversation.keys.copy'), keys: 'c', keysOnly: true, disabled: !turn, run: () => turn && actions.copyMessage(turn.message) },
    { id: 'fold', label: t('conversation.keys.fold'), keys: 'o', keysOnly: true, disabled: !turn, run: () => turn && toggleTurn(folds, turn) },
    { id: 'edit', label: t('conversation.action.edit'), keys: 'e', keysOnly: true, disabled: busy || turn?.kind !== 'user' || !saidByPerson(turn.message), run: () => turn && void transcript.whole(turn.key).then((text) => editing.setState({ editing: { seq: turn.key, text: typedText(text, turn.message.attachments) } }), () => undefined) },
  ], active);

  return (
    <ViewProvider value={view}>
      <TalkProvider value={talk}>
        <section aria-label={t('conversation.section')} className="relative h-full min-h-0" onFocus={() => setActive(true)} onBlur={(e) => !e.currentTarget.contains(e.relatedTarget) && setActive(false)}>
          <MessageList
            ref={list}
            rows={rows}
            last={last}
            loading={!complete}
            end={<EndRow state={state} quiet={shape !== '' || running} asksHere={asksHere} />}
            onOlder={() => {
              setNearStart(true);
              void transcript.older();
            }}
          />
          {!complete && nearStart && (
            <div className="pointer-events-none absolute inset-x-0 top-2 flex justify-center">
              {olderError === null ? (
                <span className="flex h-6 items-center gap-2 rounded-full border border-line bg-raised px-2.5 text-xs text-fg-3 shadow-pop"><Spinner className="size-3" /> {t('conversation.older')}</span>
              ) : (
                <Button className="pointer-events-auto shadow-pop" onClick={() => void transcript.older()}>{t('conversation.olderFailed')}</Button>
              )}
            </div>
          )}
          {broken !== null && (
            <div role="alert" className="absolute inset-x-0 bottom-3 z-1 flex justify-center">
              <Button className="shadow-pop" onClick={onAgain}>{t('conversation.broken')}</Button>
            </div>
          )}
          <Announcer state={state} transcript={transcript} />
        </section>
      </TalkProvider>
    </ViewProvider>
  );
}

/** Callbacks that stay the same, whatever the screen hands in with each render. */
function useActions(transcript: ChatTranscript, on: Omit<ConversationProps, 'state' | 'trajectoryId' | 'handle'>): TalkActions {
  const { t } = useTranslation('app');
  const toast = useToasts();
  const newest = useRef(on);
  useEffect(() => {
    newest.current = on;
  });
  const copy = useCallback((text: string) => {
    navigator.clipboard.writeText(text).then(() => toast({ title: t('action.copied'), kind: 'good', timeout: 2_000 }), () => toast({ title: t('action.copyFailed'), kind: 'bad' }));
  }, [toast, t]);
  return useMemo(
    () => ({
      copy,
      copyMessage: (message: StoredMessage) => {
        if (message.contentBytes === undefined) copy(typedText(message.content, message.attachments).trim());
        else transcript.whole(message.seq).then(copy, () => toast({ title: t('action.copyFailed'), kind: 'bad' }));
      },
      edit: (seq, text, attachments) => newest.current.onEdit(seq, text, attachments),
      retry: () => newest.current.onRetry(),
      goOn: () => newest.current.onContinue(),
      fork: (seq) => newest.current.onFork(seq),
      branch: (id) => newest.current.onBranch(id),
      answer: (id, answer) => newest.current.onAnswer(id, answer),
      rollback: () => newest.current.onRollback(),
    }),
    [copy, transcript, toast, t],
  );
}

/** Each fork stands at the first message behind it; one without such a message at the end. */
function placeForks(forks: readonly Fork[], rows: readonly Row[]): Map<string, Fork> {
  const heads = rows.filter((row) => row.head);
  const placed = new Map<string, Fork>();
  for (const fork of forks) {
    if ((heads[0]?.seq ?? Infinity) > fork.seq) continue;
    const row = heads.find((head) => head.seq >= fork.seq) ?? rows.findLast((one) => one.kind !== 'end');
    if (row) placed.set(row.key, fork);
  }
  return placed;
}

const ANNOUNCED_CHARS = 400;

/** Says to screen readers that an answer has come, or that the agent asks: once, not with every word. */
function Announcer({ state, transcript }: { state: SessionState; transcript: ChatTranscript }): ReactNode {
  const { t } = useTranslation('chat');
  const { question, session } = state;
  const answer = useStore(transcript.state, (s) => (session.state === 'idle' ? s.turns[answerIndex(s.turns)]?.message.content.slice(0, ANNOUNCED_CHARS) : undefined));
  const [worked, setWorked] = useState(false);
  useEffect(() => {
    if (session.state !== 'idle') setWorked(true);
  }, [session.state]);
  const text = question ? `${t('conversation.end.asking')} ${question.kind === 'clarify' ? question.question : question.reason}` : session.state !== 'idle' ? t('conversation.working') : worked ? (answer ?? '') : '';
  return <div role="status" className="sr-only">{text}</div>;
}

function Skeletons(): ReactNode {
  return (
    <div className="mx-auto grid max-w-[784px] gap-4 p-4" aria-hidden="true">
      {[0, 1].map((i) => (
        <div key={i} className="grid gap-2">
          <Skeleton className="h-10 w-full" />
          <Skeleton className="h-3 w-full" />
          <Skeleton className="h-16 w-full" />
        </div>
      ))}
    </div>
  );
}
