import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ComparedSide, RunComparison } from '#shared/contract/dashboards.ts';
import type { RunSummary } from '#shared/contract/runs.ts';
import { cx } from '../../../lib/cx.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { short } from '../DashboardCards.tsx';
import { exitReasonText } from '../reasons.ts';
import { RunStateChip } from '../RunStateChip.tsx';
import { Card } from '../RunCards.tsx';

interface Measure {
  name: string;
  a: number | null;
  b: number | null;
  show: (n: number) => string;
  /** Which side is the better one. */
  better: 'more' | 'less' | null;
  /** Instead of `show`. */
  difference?: (n: number) => string;
}

/** The two runs in numbers; the better one of each line stands out. */
export function SideBySide({ a, b, comparison }: { a: RunSummary; b: RunSummary; comparison: RunComparison }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const of = (run: RunSummary, side: ComparedSide) => ({
    solved: side.solved,
    share: side.share,
    reward: side.meanReward,
    cost: run.costUsd > 0 ? run.costUsd : null,
    costPerSolved: run.costUsd > 0 && side.solvedOfAll > 0 ? run.costUsd / side.solvedOfAll : null,
    tokens: run.usage.promptTokens + run.usage.completionTokens,
    written: run.usage.completionTokens,
    // what a run has cost is known of all of it, so what it has solved is counted in all of it too
    tokensPerSolved: side.solvedOfAll > 0 ? (run.usage.promptTokens + run.usage.completionTokens) / side.solvedOfAll : null,
    p50: side.duration?.p50 ?? null,
    p99: side.duration?.p99 ?? null,
    took: run.elapsedMs,
  });
  const left = of(a, comparison.a);
  const right = of(b, comparison.b);
  const line = (key: keyof typeof left, name: string, show: (n: number) => string, better: Measure['better']): Measure => ({ name, a: left[key], b: right[key], show, better });
  const lines: Measure[] = [
    line('solved', t('compare.solved'), f.exact, 'more'),
    { ...line('share', t('compare.share'), (n) => f.percent(n, 1), 'more'), difference: (n) => t('compare.points', { points: Number((n * 100).toFixed(1)) }) },
    line('reward', t('compare.meanReward'), short, 'more'),
    line('cost', t('cost.money'), f.money, null),
    line('costPerSolved', t('compare.costPerSolved'), f.money, 'less'),
    line('tokens', t('kpi.tokens'), f.compact, null),
    line('written', t('cost.written'), f.compact, null),
    line('tokensPerSolved', t('compare.tokensPerSolved'), (n) => f.compact(Math.round(n)), 'less'),
    line('p50', t('compare.p50'), f.duration, 'less'),
    line('p99', t('compare.p99'), f.duration, 'less'),
    line('took', t('kpi.took'), f.duration, null),
  ];
  const reasons = [...new Set([...comparison.a.exitReasons, ...comparison.b.exitReasons].map((r) => r.reason))];
  const share = (side: ComparedSide, reason: string): number => {
    const all = side.exitReasons.reduce((sum, r) => sum + r.count, 0);
    return all === 0 ? 0 : (side.exitReasons.find((r) => r.reason === reason)?.count ?? 0) / all;
  };
  return (
    <Card title={t('compare.numbers')}>
      <div className="overflow-x-auto">
        <table className="num mx-3.5 mt-1.5 mb-3 w-[calc(100%-28px)] min-w-[420px] text-sm">
          <thead>
            <tr className="align-bottom">
              <td />
              {[a, b].map((run, i) => (
                <th key={i} scope="col" className="max-w-40 pb-1.5 pl-4 text-right font-medium">
                  <a href={`#/batch/${encodeURIComponent(run.id)}`} className="block truncate no-underline hover:text-accent" title={run.name}>
                    {run.name}
                  </a>
                  <span className="block truncate text-xs font-normal text-fg-3">{run.spec.model}</span>
                  {run.state !== 'completed' && <RunStateChip state={run.state} />}
                </th>
              ))}
              <th scope="col" className="pb-1.5 pl-4 text-right text-xs font-normal text-fg-3">
                {t('compare.difference')}
              </th>
            </tr>
          </thead>
          <tbody>
            {lines.map((measure) => (
              <MeasureRow key={measure.name} {...measure} />
            ))}
            <tr>
              <th scope="rowgroup" colSpan={4} className="pt-3 pb-1 text-left text-xs font-normal text-fg-3">
                {t('exits.title')}
              </th>
            </tr>
            {reasons.map((reason) => (
              <MeasureRow key={reason} name={exitReasonText(reason, t)} a={share(comparison.a, reason)} b={share(comparison.b, reason)} show={(n) => (n === 0 ? '–' : f.percent(n, 1))} better={null} plain />
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

function MeasureRow({ name, a, b, show, better, difference: showDifference = show, plain = false }: Measure & { plain?: boolean }): ReactNode {
  const difference = a === null || b === null ? null : b - a;
  const wins = better === null || difference === null || difference === 0 ? null : difference > 0 === (better === 'more') ? 'b' : 'a';
  return (
    <tr className="border-t border-line">
      <th scope="row" className="py-1 text-left font-normal text-fg-2">
        {name}
      </th>
      {[a, b].map((value, i) => (
        <td key={i} className={cx('py-1 pl-4 text-right', wins === (i === 0 ? 'a' : 'b') && 'font-semibold text-good')}>
          {value === null ? '–' : show(value)}
        </td>
      ))}
      <td className="py-1 pl-4 text-right text-fg-3">{plain || difference === null || difference === 0 ? '' : `${difference > 0 ? '+' : '−'}${showDifference(Math.abs(difference))}`}</td>
    </tr>
  );
}
