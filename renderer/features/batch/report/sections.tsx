import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunDashboard } from '#shared/contract/dashboards.ts';
import type { RunSummary } from '#shared/contract/runs.ts';
import { parseFilter } from '#shared/filters.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { CostTable, GroupsMeter, Histogram, LatencyTable, short, Sparkline } from '../DashboardCards.tsx';
import { causeText, exitReasonText, reasonText } from '../reasons.ts';
import { rolloutName } from '../run-codes.ts';
import { Facts, Section, Table } from './parts.tsx';

export function ScoresSection({ dashboard: { rewards, groups } }: { dashboard: RunDashboard }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  if (!rewards) return null;
  return (
    <Section title={t('rewards.title')}>
      <div className="grid break-inside-avoid grid-cols-[260px_minmax(0,1fr)] gap-8">
        <div className="-mx-3.5">
          <Histogram rewards={rewards} />
          <p className="num px-3.5 pt-1 text-sm">{t('rewards.mean', { mean: short(rewards.mean) })}</p>
        </div>
        <div>
          <Table
            head={[t('report.rule'), t('report.weight'), t('report.scored'), t('report.unknown'), t('report.mean')]}
            rows={rewards.rules.map((r) => [<code key="rule" className="font-mono text-xs">{r.rule}</code>, short(r.weight), f.exact(r.count), f.exact(r.unknown), r.mean === null ? '–' : short(r.mean)])}
            right={1}
          />
          {rewards.sampledRollouts !== null && (
            <p className="num pt-1 text-xs text-fg-3">{t('rewards.sample', { count: rewards.sampledRollouts, shown: f.exact(rewards.sampledRollouts) })}</p>
          )}
        </div>
      </div>
      {groups && (
        <div className="break-inside-avoid pt-4">
          <h4 className="num mb-1.5 flex justify-between text-sm font-medium">
            {t('groups.title')}
            {groups.meanSpread !== null && <span className="font-normal text-fg-2">{t('groups.spread', { spread: short(groups.meanSpread) })}</span>}
          </h4>
          <GroupsMeter groups={groups} />
        </div>
      )}
    </Section>
  );
}

/** What each filter of the run left out. */
export function FiltersSection({ run, dashboard }: { run: RunSummary; dashboard: RunDashboard }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const counts = new Map<string, number>();
  for (const c of dashboard.causes) if (c.state === 'discarded' && c.cause !== null) counts.set(c.cause, c.count);
  const own = run.spec.filters.map((text) => ({ text, name: nameOf(text) }));
  const names = new Set(own.map((filter) => filter.name));
  const rows = [...own, ...[...counts.keys()].filter((name) => !names.has(name)).map((name) => ({ text: name, name }))];
  return (
    <Section title={t('options.filters')}>
      {rows.length === 0 ? (
        <p className="text-sm text-fg-2">{t('options.noFilters')}</p>
      ) : (
        <Table head={[t('report.filter'), t('report.means'), t('report.discarded')]} rows={rows.map(({ text, name }) => [<code key="text" className="font-mono text-xs">{text}</code>, causeText(name, t), f.exact(counts.get(name) ?? 0)])} right={2} />
      )}
    </Section>
  );
}

function nameOf(text: string): string {
  try {
    return parseFilter(text).name;
  } catch {
    // of an older version, say
    return text;
  }
}

export function CausesSection({ run, dashboard: { causes, exitReasons } }: { run: RunSummary; dashboard: RunDashboard }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const all = exitReasons.reduce((sum, r) => sum + r.count, 0);
  return (
    <>
      {causes.length > 0 && (
        <Section title={t('reasons.title')}>
          <Table
            head={[t('report.cause'), t('report.example'), t('report.count')]}
            rows={causes.map((c) => [
              <span key="cause">
                {c.cause === null ? t('reasons.unknown') : causeText(c.cause, t)}
                <span className="block text-xs text-fg-3">{t(`app:outcome.${c.state}`)}</span>
              </span>,
              <span key="example" className="block">
                <span className="num text-fg-3">{rolloutName(c.example.index, run.spec.rollouts)}</span> {c.example.prompt}
                {c.example.reason && <span className="block text-xs text-fg-2">{reasonText(c.example.reason, t)}</span>}
              </span>,
              f.exact(c.count),
            ])}
            right={2}
          />
        </Section>
      )}
      {all > 0 && (
        <Section title={t('exits.title')}>
          <Facts columns={3} rows={exitReasons.map((r) => [exitReasonText(r.reason, t), `${f.exact(r.count)} · ${f.percent(r.count / all)}`])} />
        </Section>
      )}
    </>
  );
}

export function ToolsSection({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const tools = Object.entries(run.toolStats)
    .filter(([, s]) => s.count > 0)
    .toSorted(([, a], [, b]) => b.count - a.count);
  if (tools.length === 0) return null;
  return (
    <Section title={t('tools.title')}>
      <Table
        head={[t('report.tool'), t('report.calls'), t('report.worked'), t('report.failed')]}
        rows={tools.map(([name, s]) => [<code key="name" className="font-mono text-xs">{name}</code>, f.exact(s.count), f.percent(s.success / s.count, 1), f.exact(s.failure)])}
        right={1}
      />
    </Section>
  );
}

export function CostSection({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  return (
    <Section title={t('cost.title')}>
      <div className="-mx-3.5 break-inside-avoid">
        <CostTable run={run} />
      </div>
    </Section>
  );
}

export function SpeedSection({ run, dashboard: { series, latency, reasoning } }: { run: RunSummary; dashboard: RunDashboard }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  if (!latency.rollouts) return null;
  const peak = Math.max(0, ...series.map((s) => s.count / s.seconds)) * 60;
  return (
    <Section title={t('speed.title')}>
      <div className="-mx-3.5 break-inside-avoid">
        {series.length > 1 && <Sparkline values={series.map((s) => s.count / s.seconds)} label={t('speed.chart', { rate: f.exact(Math.round(peak)) })} />}
        <LatencyTable latency={latency} />
      </div>
      <p className="num text-xs text-fg-3">
        {[
          series.length > 1 ? t('speed.peak', { rate: f.exact(Math.round(peak)) }) : null,
          latency.rollouts.count > latency.sampledRollouts ? t('speed.sample', { count: latency.sampledRollouts, shown: f.exact(latency.sampledRollouts) }) : null,
        ]
          .filter((part) => part !== null)
          .join(' · ')}
      </p>
      <Facts
        columns={2}
        rows={[
          [t('report.turnsReasoning'), run.turns === 0 ? '–' : f.percent(run.turnsWithReasoning / run.turns, 1)],
          [t('report.rolloutsReasoning'), reasoning.rollouts === 0 ? '–' : f.percent(reasoning.withReasoning / reasoning.rollouts, 1)],
        ]}
      />
    </Section>
  );
}
