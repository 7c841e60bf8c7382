import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Percentiles, RunDashboard } from '#shared/contract/dashboards.ts';
import type { RunSummary } from '#shared/contract/runs.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Meter } from '../../ui/Feedback.tsx';
import { Bars, Card } from './RunCards.tsx';
import { exitReasonText } from './reasons.ts';
import { doneCount, keptCount } from './run-codes.ts';

/** How fast rollouts end over time, and how long calls and rollouts take. */
export function SpeedCard({ dashboard }: { dashboard: RunDashboard }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const { series, latency } = dashboard;
  if (!latency.calls && !latency.rollouts) return null;
  const peak = Math.max(0, ...series.map((s) => s.count / s.seconds));
  return (
    <Card title={t('speed.title')} aside={series.length > 1 ? t('speed.peak', { rate: f.exact(rate(peak)) }) : undefined}>
      {series.length > 1 && <Sparkline values={series.map((s) => s.count / s.seconds)} label={t('speed.chart', { rate: f.exact(rate(peak)) })} />}
      <LatencyTable latency={latency} />
      {latency.calls && latency.rollouts && latency.rollouts.count > latency.sampledRollouts && (
        <p className="num px-3.5 pb-2.5 text-xs text-fg-3">{t('speed.sample', { count: latency.sampledRollouts, shown: f.exact(latency.sampledRollouts) })}</p>
      )}
    </Card>
  );
}

export function LatencyTable({ latency }: { latency: RunDashboard['latency'] }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  return (
    <table className="num mx-3.5 mt-1.5 mb-2.5 w-[calc(100%-28px)] text-sm">
      <thead className="text-xs text-fg-3">
        <tr>
          <td />
          {['p50', 'p90', 'p99'].map((p) => (
            <th key={p} scope="col" className="pl-2 text-right font-normal">
              {p}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        <LatencyRow name={t('speed.calls')} value={latency.calls} />
        <LatencyRow name={t('speed.rollouts')} value={latency.rollouts} />
      </tbody>
    </table>
  );
}

function LatencyRow({ name, value }: { name: string; value: Percentiles | null }): ReactNode {
  const f = useFormat();
  if (!value) return null;
  return (
    <tr>
      <th scope="row" className="py-0.5 text-left font-normal text-fg-2">
        {name}
      </th>
      {[value.p50, value.p90, value.p99].map((ms, i) => (
        <td key={i} className="pl-2 text-right">
          {f.duration(ms)}
        </td>
      ))}
    </tr>
  );
}

const CHART_WIDTH = 300;
const CHART_HEIGHT = 44;

/** A line over time that starts at zero. */
export function Sparkline({ values, label }: { values: readonly number[]; label: string }): ReactNode {
  const most = Math.max(...values, Number.EPSILON);
  const points = values.map((v, i) => `${((i / Math.max(1, values.length - 1)) * CHART_WIDTH).toFixed(1)},${(CHART_HEIGHT - 1 - (v / most) * (CHART_HEIGHT - 4)).toFixed(1)}`);
  return (
    <svg role="img" aria-label={label} viewBox={`0 0 ${CHART_WIDTH} ${CHART_HEIGHT}`} preserveAspectRatio="none" className="mx-3.5 mt-2 block h-11 w-[calc(100%-28px)] text-accent">
      <polygon points={`0,${CHART_HEIGHT} ${points.join(' ')} ${CHART_WIDTH},${CHART_HEIGHT}`} fill="currentColor" opacity="0.12" />
      <polyline points={points.join(' ')} fill="none" stroke="currentColor" strokeWidth="1.5" vectorEffect="non-scaling-stroke" />
    </svg>
  );
}

/** What rollouts were worth: their rewards, and what each rule said. */
export function RewardsCard({ rewards }: { rewards: NonNullable<RunDashboard['rewards']> }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  return (
    <Card title={t('rewards.title')} aside={t('rewards.mean', { mean: short(rewards.mean) })}>
      <Histogram rewards={rewards} />
      <ul className="num grid gap-1 px-3.5 pt-1 pb-2.5 text-sm">
        {rewards.rules.map((r) => (
          <li key={r.name} title={r.rule} className="flex items-baseline gap-2">
            <span className="min-w-0 flex-1 truncate">{r.name}</span>
            {r.unknown > 0 && <span className="text-xs text-fg-3">{t('rewards.unknown', { count: r.unknown, shown: f.compact(r.unknown) })}</span>}
            <span className="min-w-12 text-right text-fg-2">{r.mean === null ? '–' : short(r.mean)}</span>
          </li>
        ))}
      </ul>
      {rewards.sampledRollouts !== null && (
        <p className="num px-3.5 pb-2.5 text-xs text-fg-3">{t('rewards.sample', { count: rewards.sampledRollouts, shown: f.exact(rewards.sampledRollouts) })}</p>
      )}
    </Card>
  );
}

export function Histogram({ rewards }: { rewards: NonNullable<RunDashboard['rewards']> }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const most = Math.max(...rewards.histogram);
  const step = (rewards.max - rewards.min) / rewards.histogram.length;
  return (
    <div className="px-3.5 pt-2">
      <div role="img" aria-label={t('rewards.chart', { mean: short(rewards.mean), count: rewards.count, shown: f.exact(rewards.count) })} className="flex h-14 items-end gap-px border-b border-line">
        {rewards.histogram.map((count, i) => (
          <i
            key={i}
            title={t('rewards.step', { from: short(rewards.min + i * step), to: short(rewards.min + (i + 1) * step), count, shown: f.exact(count) })}
            className="flex-1 rounded-t-[2px] bg-accent"
            style={{ height: `${count === 0 ? 0 : Math.max(3, (count / most) * 100)}%` }}
          />
        ))}
      </div>
      <div className="num flex justify-between pt-0.5 text-xs text-fg-3">
        <span>{short(rewards.min)}</span>
        <span>{t('rewards.scored', { count: rewards.count, shown: f.exact(rewards.count) })}</span>
        <span>{short(rewards.max)}</span>
      </div>
    </div>
  );
}

/** How alike the rollouts of a prompt are: RL learns from mixed groups only. */
export function GroupsCard({ groups }: { groups: NonNullable<RunDashboard['groups']> }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  return (
    <Card title={t('groups.title')} aside={groups.meanSpread === null ? undefined : t('groups.spread', { spread: short(groups.meanSpread) })}>
      <GroupsMeter groups={groups} className="px-3.5 pt-2.5 pb-3" />
    </Card>
  );
}

export function GroupsMeter({ groups, className }: { groups: NonNullable<RunDashboard['groups']>; className?: string }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const parts = [
    { key: 'allRight', value: groups.allRight, color: 'var(--cell-good)' },
    { key: 'mixed', value: groups.mixed, color: 'var(--accent)' },
    { key: 'allWrong', value: groups.allWrong, color: 'var(--cell-bad)' },
  ] as const;
  const total = groups.allRight + groups.mixed + groups.allWrong;
  return (
    <div className={className}>
      <Meter total={total} label={t('groups.chart', { count: total, shown: f.exact(total) })} parts={parts} />
      <ul className="num flex flex-wrap gap-x-3.5 pt-1.5 text-xs text-fg-2">
        {parts.map((p) => (
          <li key={p.key}>
            <i aria-hidden="true" className="mr-[5px] inline-block size-2 rounded-[2px]" style={{ background: p.color }} />
            {t(`groups.${p.key}`)} {f.exact(p.value)}
          </li>
        ))}
      </ul>
      {groups.incomplete > 0 && <p className="num pt-1 text-xs text-fg-3">{t('groups.incomplete', { count: groups.incomplete, shown: f.exact(groups.incomplete) })}</p>}
    </div>
  );
}

/** Tokens and money: all of it, for each ended rollout, for each that is kept. */
export function CostCard({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  if (doneCount(run) === 0) return null;
  return (
    <Card title={t('cost.title')}>
      <CostTable run={run} />
    </Card>
  );
}

export function CostTable({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const done = doneCount(run);
  const kept = keptCount(run);
  const { promptTokens, completionTokens, reasoningTokens, cachedTokens } = run.usage;
  const rows: [name: string, value: number, show: (n: number) => string][] = [
    [t('cost.read'), promptTokens, f.compact],
    ...(cachedTokens > 0 ? [[t('cost.cached'), cachedTokens, f.compact] as [string, number, (n: number) => string]] : []),
    [t('cost.written'), completionTokens, f.compact],
    ...(reasoningTokens > 0 ? [[t('cost.reasoned'), reasoningTokens, f.compact] as [string, number, (n: number) => string]] : []),
    ...(run.costUsd > 0 ? [[t('cost.money'), run.costUsd, f.money] as [string, number, (n: number) => string]] : []),
  ];
  return (
    <table className="num mx-3.5 mt-1.5 mb-2.5 w-[calc(100%-28px)] text-sm">
      <thead className="text-xs text-fg-3">
        <tr>
          <td />
          {[t('cost.total'), t('cost.perRollout'), t('cost.perKept')].map((name) => (
            <th key={name} scope="col" className="pl-2 text-right font-normal">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, value, show]) => (
          <tr key={name}>
            <th scope="row" className="py-0.5 text-left font-normal text-fg-2">
              {name}
            </th>
            <td className="pl-2 text-right">{show(value)}</td>
            <td className="pl-2 text-right">{done === 0 ? '–' : show(whole(value / done, show === f.money))}</td>
            <td className="pl-2 text-right">{kept === 0 ? '–' : show(whole(value / kept, show === f.money))}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function whole(value: number, money: boolean): number {
  return money ? value : Math.round(value);
}

/** How the agents' work ended, for all that did. */
export function ExitReasonsCard({ reasons }: { reasons: RunDashboard['exitReasons'] }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const all = reasons.reduce((sum, r) => sum + r.count, 0);
  if (all === 0) return null;
  return (
    <Card title={t('exits.title')}>
      <Bars
        rows={reasons.map((r) => ({
          key: r.reason,
          label: exitReasonText(r.reason, t),
          share: r.count / all,
          color: 'var(--accent)',
          text: `${f.exact(r.count)} · ${f.percent(r.count / all)}`,
        }))}
      />
    </Card>
  );
}

/** A score for people: two decimals at most. */
export function short(value: number): string {
  return String(Number(value.toFixed(Math.abs(value) < 0.1 && value !== 0 ? 3 : 2)));
}

/** Rollouts per minute, as everywhere. */
function rate(perSecond: number): number {
  const value = perSecond * 60;
  return Number(value.toFixed(value >= 100 ? 0 : 1));
}
