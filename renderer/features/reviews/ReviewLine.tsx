import { Lightbulb } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../../lib/i18n.ts';
import { Spinner } from '../../ui/Spinner.tsx';
import { tally } from './proposals.ts';
import { useReviews } from './use-reviews.ts';

/** In one line under the reply: what the newest review of this chat came to, when it read the chat as it is now. @param since when the last turn began, epoch ms; older reviews are not of it */
export function ReviewLine({ sessionId, since }: { sessionId: string; since: number }): ReactNode {
  const { t } = useTranslation('reviews');
  const format = useFormat();
  const [review] = useReviews('all', sessionId, 1).data?.items ?? [];
  if (!review || review.createdAt < since || review.state === 'cancelled') return null;
  const { memory, skills, waiting, undone } = tally(review);
  const going = review.state === 'queued' || review.state === 'running';
  if (!going && review.state === 'done' && review.proposals.length === 0) return null;
  const said = going
    ? [t(`line.${review.state as 'queued' | 'running'}`)]
    : review.state === 'failed'
      ? [t('line.failed')]
      : [memory > 0 && t('line.memory', { count: memory }), skills.length === 1 ? t('line.skill', { name: skills[0] }) : skills.length > 1 && t('line.skills', { count: skills.length }), waiting > 0 && t('waiting', { count: waiting }), memory + skills.length + waiting === 0 && undone > 0 && t('line.undone')].filter((part) => part !== false);
  return (
    <a href={`#/reviews/${encodeURIComponent(review.id)}?show=all`} title={review.error ?? undefined} className="group inline-flex h-6 max-w-full items-center gap-2 text-xs text-fg-3 no-underline hover:text-fg">
      {going ? <Spinner className="size-3" /> : <Lightbulb className={waiting > 0 ? 'size-3.5 shrink-0 text-accent' : 'size-3.5 shrink-0'} aria-hidden="true" />}
      <span className="truncate group-hover:underline">{said.join(' · ')}</span>
      {!going && review.costUsd !== null && review.costUsd > 0 && <span className="num shrink-0">{format.money(review.costUsd)}</span>}
    </a>
  );
}
