import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { QUADRANTS, type Quadrant } from '#shared/contract/dashboards.ts';
import type { RunSummary } from '#shared/contract/runs.ts';
import { cx } from '../../../lib/cx.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Card } from '../RunCards.tsx';

/** Who solved what: two by two. Pressing one shows its rows; pressing it again shows all. */
export function QuadrantTable({ a, b, counts, chosen, onChoose }: { a: RunSummary; b: RunSummary; counts: Record<Quadrant, number>; chosen: Quadrant | null; onChoose: (q: Quadrant | null) => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const all = QUADRANTS.reduce((sum, q) => sum + counts[q], 0);
  const cell = (q: Quadrant, label: string): ReactNode => (
    <button
      type="button"
      aria-pressed={chosen === q}
      onClick={() => onChoose(chosen === q ? null : q)}
      className={cx(
        'grid min-w-0 content-center gap-0.5 rounded-m border px-3 py-2 text-left',
        chosen === q ? 'border-accent bg-selected' : 'border-line hover:bg-hover',
      )}
    >
      <span className="num text-xl font-semibold">{f.exact(counts[q])}</span>
      <span className="num text-xs text-fg-3">{all === 0 ? '–' : f.percent(counts[q] / all, 1)}</span>
      <span className="truncate text-xs text-fg-2">{label}</span>
    </button>
  );
  return (
    <Card title={t('compare.who')}>
      <div role="group" aria-label={t('compare.who')} className="grid grid-cols-2 gap-2 px-3.5 pt-2.5 pb-3.5">
        {cell('both', t('compare.both'))}
        {cell('onlyA', t('compare.only', { name: a.name }))}
        {cell('onlyB', t('compare.only', { name: b.name }))}
        {cell('neither', t('compare.neither'))}
      </div>
    </Card>
  );
}
