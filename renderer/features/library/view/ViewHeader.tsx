import { Braces, Copy, Lightbulb, Link, Medal, MoreHorizontal, UnfoldVertical, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { outcomeOf, type TrajectoryDetail } from '#shared/trajectory.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button, IconButton } from '../../../ui/Button.tsx';
import { Chip, OutcomeChip } from '../../../ui/Chip.tsx';
import { Skeleton } from '../../../ui/Feedback.tsx';
import { Menu } from '../../../ui/Menu.tsx';
import { scoreText } from '../scores/detail.ts';
import { Rating } from '../scores/Rating.tsx';

/** Title, outcome and numbers of the open trajectory; stays while the turns scroll. */
export function ViewHeader({ detail, raw, onRaw, scoresOpen, onScores, onRate, onLearn, onFoldAll, onCopyId, onCopyLink, onClose }: {
  detail: TrajectoryDetail | null; raw: boolean; onRaw: () => void; scoresOpen: boolean; onScores: () => void; onRate: (rating: number | null) => void; onLearn: () => void; onFoldAll: () => void; onCopyId: () => void; onCopyLink: () => void; onClose: () => void;
}): ReactNode {
  const { t } = useTranslation(['library', 'reviews']);
  return (
    <header className="shrink-0 border-b border-line py-2.5 pr-3 pl-4">
      <div className="flex items-start gap-2">
        {detail ? <h2 className="line-clamp-2 min-w-0 flex-1 text-lg leading-[1.35] font-semibold wrap-anywhere" title={detail.title}>{detail.title || t('list.untitled')}</h2> : <Skeleton className="h-5 flex-1" />}
        {detail && (
          <Button variant="ghost" icon={Medal} hotkey="s" hotkeyLabel={t('keys.scores')} aria-pressed={scoresOpen} title={t('keys.scores')} onClick={onScores} className={scoresOpen ? 'bg-hover text-fg!' : ''}>
            <span className="sr-only">{t('scores.title')}</span>
            {detail.reward !== null && <span className="num">{scoreText(detail.reward)}</span>}
          </Button>
        )}
        <IconButton icon={Braces} label={t('keys.raw')} hotkey="r" pressed={raw} onClick={onRaw} />
        <Menu
          trigger={<IconButton icon={MoreHorizontal} label={t('view.moreActions')} />}
          items={[
            { id: 'fold', label: t('keys.foldAll'), icon: UnfoldVertical, run: onFoldAll },
            { id: 'learn', label: t('reviews:learn.one'), icon: Lightbulb, disabled: detail?.state !== 'ended', run: onLearn },
            null,
            { id: 'id', label: t('view.copyId'), icon: Copy, run: onCopyId },
            { id: 'link', label: t('view.copyLink'), icon: Link, run: onCopyLink },
          ]}
        />
        <IconButton icon={X} label={t('view.toList')} onClick={onClose} />
      </div>
      {detail ? (
        <div className="mt-1.5 flex items-start gap-3">
          <Meta detail={detail} />
          <Rating rating={detail.rating} onRate={onRate} />
        </div>
      ) : (
        <Skeleton className="mt-1.5 h-[18px] w-3/4" />
      )}
      {detail?.error && detail.exitReason !== 'interrupted' && <p className="mt-1.5 rounded-s bg-bad-soft px-2 py-1 text-sm wrap-anywhere text-fg">{detail.error}</p>}
    </header>
  );
}

function Meta({ detail }: { detail: TrajectoryDetail }): ReactNode {
  const { t } = useTranslation('library');
  const app = useTranslation('app').t;
  const format = useFormat();
  const tokens = detail.usage.promptTokens + detail.usage.completionTokens;
  const calls = t('view.calls', { count: detail.toolCalls, shown: format.exact(detail.toolCalls) });
  const outcome = outcomeOf(detail);
  // Counted when it has ended: until then a zero would be false.
  const counted = detail.state !== 'running' || detail.turns > 0;
  return (
    <div className="num flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-1 text-xs text-fg-3">
      <span className="flex items-center gap-1.5">
        <OutcomeChip state={outcome} />
        {detail.scripted && <Chip tone="info" title={app('scripted.hint')}>{app('scripted.chip')}</Chip>}
      </span>
      {detail.exitReason !== null && detail.exitReason !== 'completed' && <span className="text-fg-2">{t(`exit.${detail.exitReason}`)}</span>}
      {detail.discardReason !== null && <span className="text-fg-2">{discardText(detail.discardReason, t)}</span>}
      {detail.runId !== null && (
        <span>
          <a href={`#/batch/${encodeURIComponent(detail.runId)}`} className="underline decoration-line-strong underline-offset-2 hover:text-fg">{detail.runName ?? detail.runId}</a>
          {detail.promptIndex !== null && ` · ${t('view.prompt', { n: detail.promptIndex })}`}
          {detail.promptIndex !== null && detail.rollouts > 1 && ` · ${t('view.rollout', { n: detail.rollout })}`}
        </span>
      )}
      <span>{detail.model}</span>
      {counted && <span>{t('view.turnCount', { count: detail.turns, shown: format.exact(detail.turns) })}</span>}
      {counted && <span>{detail.toolErrors > 0 ? t('view.callsFailed', { calls, failed: format.exact(detail.toolErrors) }) : calls}</span>}
      {counted && <span title={t('list.tokensExact', { input: format.exact(detail.usage.promptTokens), output: format.exact(detail.usage.completionTokens) })}>{t('view.tokens', { shown: format.compact(tokens) })}</span>}
      {detail.costUsd !== null && <span>{format.money(detail.costUsd)}</span>}
      <span title={format.dateTime(detail.createdAt)}>{detail.endedAt === null ? format.ago(detail.createdAt) : format.duration(detail.endedAt - detail.createdAt)}</span>
    </div>
  );
}

const DISCARDS = ['no_reasoning', 'corrupted'] as const;

export function discardText(reason: string, t: ReturnType<typeof useTranslation<'library'>>['t']): string {
  const known = DISCARDS.find((d) => d === reason);
  return t('discard.text', { reason: known ? t(`discard.${known}`) : reason });
}
