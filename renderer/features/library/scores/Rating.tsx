import { Star } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useCommands } from '../../../lib/commands.tsx';
import { cx } from '../../../lib/cx.ts';
import { Tooltip } from '../../../ui/Tooltip.tsx';

const STARS = [1, 2, 3, 4, 5] as const;

/** A person's rating as five stars: pressed or keyed 1 to 5; the same star again, or 0, takes it back. */
export function Rating({ rating, onRate }: { rating: number | null; onRate: (rating: number | null) => void }): ReactNode {
  const { t } = useTranslation('library');
  useCommands(t('keys.view'), [
    ...STARS.map((n) => ({ id: `rate-${n}`, label: t('scores.rate', { count: n }), keys: String(n), run: () => onRate(n) })),
    { id: 'rate-none', label: t('scores.unrate'), keys: '0', disabled: rating === null, run: () => onRate(null) },
  ]);
  return (
    <span role="group" aria-label={t('scores.rating')} className="group/stars inline-flex shrink-0 items-center">
      {STARS.map((n) => (
        <Tooltip key={n} content={rating === n ? t('scores.unrate') : t('scores.rate', { count: n })} keys={rating === n ? '0' : String(n)}>
          <button
            type="button"
            aria-label={t('scores.stars', { count: n })}
            aria-pressed={rating === n}
            onClick={() => onRate(rating === n ? null : n)}
            className={cx('grid size-[18px] place-items-center rounded-s transition-colors hover:text-fg', rating !== null && n <= rating ? 'text-warn' : 'text-line-strong hover:text-fg-2')}
          >
            <Star className="size-3.5" aria-hidden="true" fill={rating !== null && n <= rating ? 'currentColor' : 'none'} />
          </button>
        </Tooltip>
      ))}
    </span>
  );
}
