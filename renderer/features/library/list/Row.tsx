import { Check } from 'lucide-react';
import { memo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { outcomeOf, type TrajectorySummary } from '#shared/trajectory.ts';
import { cx } from '../../../lib/cx.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { OutcomeIcon } from '../../../ui/Chip.tsx';
import { Skeleton } from '../../../ui/Feedback.tsx';
import { scoreText } from '../scores/detail.ts';
import { highlight } from './highlight.ts';

export const ROW_PX = 44;
/** Shared by head and rows: mark, task, turns, tokens, time; in a narrow pane only mark, task and tokens. */
export const COLUMNS = 'grid grid-cols-[16px_minmax(0,1fr)_52px] items-center gap-2.5 px-3 @min-[340px]:grid-cols-[16px_minmax(0,1fr)_40px_52px_52px]';
/** The same with the reward at the end, which is what a narrow pane keeps. */
export const SCORED_COLUMNS = 'grid grid-cols-[16px_minmax(0,1fr)_58px] items-center gap-2.5 px-3 @min-[440px]:grid-cols-[16px_minmax(0,1fr)_40px_52px_52px_58px]';

/** For the columns that a narrow pane has no room for; with the reward, narrow begins earlier. */
export const wideOnly = (scored: boolean): string => (scored ? 'hidden @min-[440px]:block' : 'hidden @min-[340px]:block');

export const rowDomId = (id: string): string => `trajectory-${id}`;

export interface RowProps {
  row: TrajectorySummary | undefined;
  index: number;
  total: number;
  open: boolean;
  chosen: boolean;
  terms: readonly string[];
  /** The list has a column for rewards. */
  scored: boolean;
}

/** One trajectory of the list, always 44 px high; a skeleton while it is on its way. Clicks are handled by the list. */
export const Row = memo(function Row({ row, index, total, open, chosen, terms, scored }: RowProps): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const columns = scored ? SCORED_COLUMNS : COLUMNS;
  const wide = wideOnly(scored);
  if (!row) {
    return (
      <div role="option" aria-selected={false} aria-label={t('list.loading')} aria-setsize={total} aria-posinset={index + 1} className={cx(columns, 'h-11 border-b border-line')}>
        <Skeleton className="size-3.5 rounded-full" />
        <span className="grid gap-1.5">
          <Skeleton className="h-3 w-4/5" />
          <Skeleton className="h-2.5 w-2/5" />
        </span>
        <span className={wide}><Skeleton className="h-2.5" /></span>
        <span className={scored ? wide : undefined}><Skeleton className="h-2.5" /></span>
        <span className={wide}><Skeleton className="h-2.5" /></span>
        {scored && <Skeleton className="h-2.5" />}
      </div>
    );
  }
  const outcome = outcomeOf(row);
  const tokens = row.usage.promptTokens + row.usage.completionTokens;
  // Counted when it has ended: until then a zero would be false.
  const counted = (n: number): string => (row.state === 'running' && n === 0 ? '–' : format.compact(n));
  const reason = row.exitReason !== null && row.exitReason !== 'completed' ? t(`exitShort.${row.exitReason}`) : null;
  const origin = [row.runName ?? (row.kind === 'batch' ? null : t(`kind.${row.kind}`)), row.promptIndex === null ? null : `#${row.promptIndex}${row.rollouts > 1 ? `.${row.rollout}` : ''}`, row.model, row.scripted ? t('scripted.chip', { ns: 'app' }) : null, reason];
  return (
    <div
      id={rowDomId(row.id)}
      role="option"
      aria-selected={chosen}
      aria-current={open || undefined}
      aria-setsize={total}
      aria-posinset={index + 1}
      data-index={index}
      className={cx(columns, 'group h-11 border-b border-line text-sm', open ? 'bg-selected shadow-[inset_2px_0_var(--accent)]' : chosen ? 'bg-accent-soft/40' : 'hover:bg-hover')}
    >
      <span data-mark="" className="relative grid size-4 place-items-center">
        <span className={cx('grid group-hover:invisible', chosen && 'invisible')}>
          <OutcomeIcon state={outcome} />
        </span>
        <span
          aria-hidden="true"
          className={cx('absolute inset-0 m-auto size-3.5 place-items-center rounded-[3px] border-[1.5px]', chosen ? 'grid border-accent bg-accent text-on-accent' : 'hidden border-fg-3 bg-raised group-hover:grid')}
        >
          {chosen && <Check className="size-2.5" strokeWidth={3.5} />}
        </span>
      </span>
      <span className="min-w-0">
        <span className="block truncate text-fg">
          {highlight(row.title || t('list.untitled'), terms).map((piece, i) => (piece.hit ? <mark key={i} className="rounded-[2px] bg-accent-soft text-inherit">{piece.text}</mark> : piece.text))}
        </span>
        <span className="block truncate text-xs text-fg-3">
          {row.rating !== null && (
            <span className="num mr-1.5 text-warn">
              <span aria-hidden="true">★{row.rating}</span>
              <span className="sr-only">{t('scores.stars', { count: row.rating })}</span>
            </span>
          )}
          {origin.filter(Boolean).join(' · ')}
        </span>
      </span>
      <span className={cx('num text-right', wide)} title={row.state === 'running' && row.turns === 0 ? undefined : format.exact(row.turns)}>{counted(row.turns)}</span>
      <span className={cx('num text-right', scored && wide)} title={row.state === 'running' && tokens === 0 ? undefined : t('list.tokensExact', { input: format.exact(row.usage.promptTokens), output: format.exact(row.usage.completionTokens) })}>{counted(tokens)}</span>
      <span className={cx('num truncate text-right text-fg-3', wide)} title={format.dateTime(row.createdAt)}>
        {row.endedAt === null ? '' : format.duration(row.endedAt - row.createdAt).split('\u00a0').slice(0, 2).join('\u00a0')}
      </span>
      {scored && <span className={cx('num truncate text-right', row.reward === null && 'text-fg-3')} title={row.reward === null ? undefined : String(row.reward)}>{row.reward === null ? '–' : scoreText(row.reward)}</span>}
    </div>
  );
});
