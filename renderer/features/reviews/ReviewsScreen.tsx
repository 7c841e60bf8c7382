import { ArrowLeft, CircleAlert, CircleCheck, CircleSlash, Inbox, Lightbulb } from 'lucide-react';
import { useEffect, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Review } from '#shared/contract/reviews.ts';
import { useCommands } from '../../lib/commands.tsx';
import { cx } from '../../lib/cx.ts';
import { useLoad } from '../../lib/engine-context.tsx';
import { navigate, useHashSearch } from '../../lib/hash-location.ts';
import { useFormat } from '../../lib/i18n.ts';
import { IconButton, LinkButton } from '../../ui/Button.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../ui/Feedback.tsx';
import { Panes, type Pane } from '../../ui/Panes.tsx';
import { Screen } from '../../ui/Screen.tsx';
import { Segmented } from '../../ui/Select.tsx';
import { Spinner } from '../../ui/Spinner.tsx';
import { useWide } from '../library/use-wide.ts';
import { waitingIn } from './proposals.ts';
import { ReviewDetail } from './ReviewDetail.tsx';
import { useReviews, type Shown } from './use-reviews.ts';

/** Below this width list and review no longer fit side by side. */
const TWO_PANES_PX = 720;

/** What agents would keep of their experience, and where a person decides on it. @param id the review that is open, from `/reviews/:id` */
export function ReviewsScreen({ id }: { id: string | null }): ReactNode {
  const { t } = useTranslation('reviews');
  const show: Shown = new URLSearchParams(useHashSearch()).get('show') === 'all' ? 'all' : 'open';
  const reviews = useReviews(show);
  const wide = useWide(TWO_PANES_PX);
  const pathOf = (next: string | null, shown: Shown = show): string => `/reviews${next === null ? '' : `/${encodeURIComponent(next)}`}${shown === 'all' ? '?show=all' : ''}`;

  // What one is deciding on stays in the list of what is open until one leaves it.
  const kept = useRef<Review | null>(null);
  const single = useLoad(async (client) => (id === null ? null : client.reviews.get({ id })), [id]);
  const listed = reviews.data?.items ?? [];
  const inList = listed.find((r) => r.id === id) ?? null;
  const opened = inList ?? (single.data?.id === id ? single.data : null) ?? (kept.current?.id === id ? kept.current : null);
  useEffect(() => {
    kept.current = opened;
  });
  const items = opened && !inList && listed.length > 0 ? withOpened(listed, opened) : opened && !inList ? [opened] : listed;

  const open = (next: Review | undefined): void => {
    if (next) navigate(pathOf(next.id), { replace: id !== null && wide });
  };
  const at = items.findIndex((r) => r.id === id);
  useCommands(t('title'), [
    { id: 'next', label: t('keys.next'), keys: 'j', also: ['ArrowDown'], keysOnly: true, repeats: true, run: () => open(items[at === -1 ? 0 : at + 1]) },
    { id: 'previous', label: t('keys.previous'), keys: 'k', also: ['ArrowUp'], keysOnly: true, repeats: true, run: () => open(items[at === -1 ? 0 : at - 1]) },
  ]);

  const changed = (review: Review): void => {
    single.set(review);
    if (reviews.data) reviews.set({ ...reviews.data, items: reviews.data.items.map((r) => (r.id === review.id ? review : r)) });
  };
  const list = <ReviewList items={items} openId={id} hrefOf={(r) => `#${pathOf(r.id)}`} />;
  const detail = opened ? (
    <ReviewDetail key={opened.id} review={opened} onChanged={changed} />
  ) : id !== null && single.error ? (
    <ErrorState error={single.error} onRetry={single.reload} />
  ) : id === null ? (
    <EmptyState icon={Inbox} title={t('pick.title')}>{t('pick.text')}</EmptyState>
  ) : (
    <div className="p-5"><Skeleton className="h-40 rounded-l" /></div>
  );
  const panes: Pane[] = [
    ...(wide || id === null ? [{ id: 'list', defaultSize: '300px', minSize: '220px', maxSize: '480px', fixed: true, children: list }] : []),
    ...(wide || id !== null ? [{ id: 'detail', minSize: '320px', children: detail }] : []),
  ];
  return (
    <Screen
      title={t('title')}
      bar={
        <>
          {!wide && id !== null && <IconButton icon={ArrowLeft} label={t('back')} onClick={() => navigate(pathOf(null))} />}
          <span className="num text-fg-3" aria-live="polite">{reviews.data && reviews.data.waiting > 0 ? t('waiting', { count: reviews.data.waiting }) : ''}</span>
          {reviews.data?.paused && <span role="status" className="min-w-0 truncate text-warn" title={reviews.data.paused}>{reviews.data.paused}</span>}
          <span className="flex-1" />
          <Segmented label={t('show.label')} value={show} onChange={(next) => navigate(pathOf(id, next), { replace: true })} options={[{ value: 'open', label: t('show.open') }, { value: 'all', label: t('show.all') }]} />
        </>
      }
    >
      {reviews.error !== null && !reviews.data ? (
        <ErrorState error={reviews.error} onRetry={reviews.reload} />
      ) : !reviews.data ? (
        <div className="grid w-[300px] gap-px p-3" aria-busy="true">{Array.from({ length: 7 }, (_, i) => <Skeleton key={i} className="h-11" />)}</div>
      ) : items.length === 0 && id === null ? (
        <EmptyState icon={show === 'open' ? Inbox : Lightbulb} title={t(show === 'open' ? 'empty.open' : 'empty.all')} action={show === 'open' ? <LinkButton to={pathOf(null, 'all')}>{t('empty.showAll')}</LinkButton> : <LinkButton to="/library">{t('empty.library')}</LinkButton>}>
          {t(show === 'open' ? 'empty.openText' : 'empty.allText')}
        </EmptyState>
      ) : (
        <Panes key={panes.map((p) => p.id).join()} id="reviews" panes={panes} />
      )}
    </Screen>
  );
}

/** Newest first, as the list is. */
function withOpened(items: readonly Review[], opened: Review): Review[] {
  return [...items, opened].toSorted((a, b) => b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1));
}

function ReviewList({ items, openId, hrefOf }: { items: readonly Review[]; openId: string | null; hrefOf: (review: Review) => string }): ReactNode {
  const { t } = useTranslation('reviews');
  useEffect(() => {
    if (openId !== null) document.getElementById(`review-${openId}`)?.scrollIntoView({ block: 'nearest' });
  }, [openId]);
  return (
    <nav aria-label={t('list')} className="h-full overflow-y-auto">
      <ul>{items.map((review) => <li key={review.id}><Row review={review} open={review.id === openId} href={hrefOf(review)} /></li>)}</ul>
    </nav>
  );
}

function Row({ review, open, href }: { review: Review; open: boolean; href: string }): ReactNode {
  const { t } = useTranslation('reviews');
  const format = useFormat();
  const waiting = waitingIn(review).length;
  return (
    <a
      id={`review-${review.id}`}
      href={href}
      aria-current={open ? 'page' : undefined}
      className={cx('focus-inset grid h-11 grid-cols-[14px_minmax(0,1fr)_auto] content-center items-center gap-x-2.5 border-b border-line px-3.5 no-underline hover:bg-hover', open && 'bg-selected shadow-[inset_2px_0_var(--accent)]')}
    >
      <Mark review={review} />
      <span className={cx('truncate text-sm', waiting > 0 ? 'font-medium text-fg' : 'text-fg-2')}>{review.title || t('untitled')}</span>
      <span className="num text-xs text-fg-3" title={format.dateTime(review.createdAt)}>{format.ago(review.createdAt)}</span>
      <span />
      <span className="truncate text-xs text-fg-3">{waiting > 0 ? <span className="text-warn">{t('waiting', { count: waiting })}</span> : review.proposals.length > 0 ? t('proposals', { count: review.proposals.length }) : t(`reviewState.${review.state}`)}</span>
      <span className="num text-xs text-fg-3">{review.costUsd !== null ? format.money(review.costUsd) : ''}</span>
    </a>
  );
}

function Mark({ review }: { review: Review }): ReactNode {
  const { t } = useTranslation('reviews');
  if (review.state === 'queued' || review.state === 'running') return <span role="img" aria-label={t(`reviewState.${review.state}`)} className="text-accent"><Spinner className="size-3" /></span>;
  if (waitingIn(review).length > 0) return <i role="img" aria-label={t('state.waiting')} className="mx-auto size-[7px] rounded-full bg-accent" />;
  const Icon = review.state === 'failed' ? CircleAlert : review.state === 'cancelled' || review.proposals.length === 0 ? CircleSlash : CircleCheck;
  return <Icon role="img" aria-label={t(`reviewState.${review.state}`)} className={cx('size-3.5', review.state === 'failed' ? 'text-bad' : 'text-fg-3')} />;
}
