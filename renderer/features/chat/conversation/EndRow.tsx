import { CircleAlert, CircleSlash, CircleX } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionState } from '#shared/contract/chats.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button, LinkButton } from '../../../ui/Button.tsx';
import { Spinner } from '../../../ui/Spinner.tsx';
import { ReviewLine } from '../../reviews/ReviewLine.tsx';
import { QuestionCard } from './QuestionCard.tsx';
import { useNow } from './QuietRows.tsx';
import { useTalk } from './talk-context.tsx';

/** Below the last message: what is going on, or how the turn ended and what can be done. Its height does not change while a turn goes on. */
export function EndRow({ state, quiet, asksHere }: {
  state: SessionState;
  /** Something above shows already that it works: text that is written, a tool that runs. */
  quiet: boolean;
  /** The question belongs to no call that is shown. */
  asksHere: boolean;
}): ReactNode {
  const { session } = state;
  if (session.state === 'idle') return <Ended state={state} />;
  return (
    <div className="min-h-12 pt-3 text-sm text-fg-3">
      {asksHere && state.question ? (
        <div className="overflow-hidden rounded-m border border-line">
          <QuestionCard question={state.question} />
        </div>
      ) : state.retry ? <Countdown at={state.retry.at} message={state.retry.message} /> : !quiet && <Working state={state} />}
    </div>
  );
}

function Working({ state }: { state: SessionState }): ReactNode {
  const { t } = useTranslation('chat');
  const text = state.compressing ? t('conversation.end.compressing') : state.session.state === 'asking' ? t('conversation.end.asking') : t('conversation.end.waiting');
  return (
    <p className="flex h-6 items-center gap-2">
      <Spinner className="size-3" />
      <span className="min-w-0 truncate">{text}</span>
    </p>
  );
}

function Countdown({ at, message }: { at: number; message: string }): ReactNode {
  const { t } = useTranslation('chat');
  const format = useFormat();
  const now = useNow(true);
  return (
    <p className="flex min-h-6 items-start gap-2">
      <Spinner className="mt-1 size-3 shrink-0" />
      <span className="min-w-0 wrap-anywhere"><span className="num text-warn">{t('conversation.end.retrying', { time: format.clock(Math.max(0, at - now)) })}</span> · {message.slice(0, 1_000)}</span>
    </p>
  );
}

const PLAIN = new Set(['interrupted', 'max_turns', 'truncated', 'budget_exceeded']);

function Ended({ state: { session, checkpoints } }: { state: SessionState }): ReactNode {
  const { t } = useTranslation('chat');
  const { actions } = useTalk();
  const reason = session.exitReason;
  const learnt = reason === null ? null : <ReviewLine sessionId={session.id} since={session.updatedAt} />;
  if (reason === null || reason === 'completed') return <div className="h-12 pt-1.5">{learnt}</div>;
  const Icon = reason === 'interrupted' ? CircleSlash : PLAIN.has(reason) ? CircleAlert : CircleX;
  const tone = reason === 'interrupted' ? 'text-fg-3' : PLAIN.has(reason) ? 'text-warn' : 'text-bad';
  // The reason says it all when a person stopped it.
  const detail = reason === 'interrupted' ? null : session.error;
  return (
    <div className="pt-3 pb-4">
      {learnt}
      <div className="flex flex-wrap items-start gap-x-3 gap-y-2 rounded-m border border-line bg-raised px-3 py-2">
        <Icon className={`mt-0.5 size-4 shrink-0 ${tone}`} aria-hidden="true" />
        <div className="min-w-48 flex-1 text-sm">
          <p>{t(`conversation.end.reason.${reason}`)}</p>
          {detail !== null && <p className="wrap-anywhere text-fg-2">{detail.slice(0, 2_000)}</p>}
          <p className="text-fg-3">{t(`conversation.end.next.${reason}`)}</p>
        </div>
        <div className="flex flex-wrap gap-2">
          {reason === 'budget_exceeded' && <LinkButton to="/settings">{t('conversation.end.settings')}</LinkButton>}
          {checkpoints > 0 && <Button variant="ghost" onClick={actions.rollback}>{t('conversation.end.rollback')}</Button>}
          <Button onClick={actions.retry}>{t('conversation.end.retry')}</Button>
          <Button onClick={actions.goOn}>{t('conversation.end.continue')}</Button>
        </div>
      </div>
    </div>
  );
}
