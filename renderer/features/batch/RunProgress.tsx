import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ActiveRollout, RunSummary } from '#shared/contract/runs.ts';
import { useFormat, type Format } from '../../lib/i18n.ts';
import { Meter } from '../../ui/Feedback.tsx';
import { Spinner } from '../../ui/Spinner.tsx';
import { doneCount, perMinute } from './run-codes.ts';
import { activityText } from './activity.ts';
import { Card } from './RunCards.tsx';
import { colorOf, STATE_ORDER } from './states.ts';
import { useNow } from './use-run.ts';

function Kpi({ label, value, hover, sub }: { label: string; value: string; hover?: string | undefined; sub: string }): ReactNode {
  return (
    <div className="min-w-0 border-line px-3.5 py-3 not-last:border-r">
      <dt className="truncate text-xs text-fg-3">{label}</dt>
      <dd title={hover} className="num truncate text-big leading-[1.4] font-semibold tracking-[-0.02em]">
        {value}
      </dd>
      <dd title={sub} className="num truncate text-xs text-fg-3">
        {sub}
      </dd>
    </div>
  );
}

/** The numbers that matter, and how the prompts divide. */
export function KpiCard({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const done = doneCount(run);
  const live = run.state === 'running' || run.state === 'pausing';
  // While pausing nothing new starts: the engine's estimate for the whole would be untrue.
  const eta = run.state === 'running' ? run.etaMs : null;
  const average = done > 0 && run.elapsedMs > 0 ? done / (run.elapsedMs / 1000) : null;
  const perSecond = live ? run.ratePerSecond : average;
  const tokens = run.usage.promptTokens + run.usage.completionTokens;
  return (
    <section aria-label={t('kpi.title')} className="rounded-l border border-line bg-raised">
      <dl className="grid grid-cols-5">
        <Kpi
          label={t('kpi.done')}
          value={f.exact(done)}
          sub={t('kpi.doneOf', { total: f.exact(run.total), percent: f.percent(run.total === 0 ? 0 : done / run.total) })}
        />
        <Kpi
          label={t('kpi.rate')}
          value={perSecond === null ? '–' : f.exact(perMinute(perSecond))}
          sub={t(live ? 'kpi.perMinute' : 'kpi.average')}
        />
        {live ? (
          <Kpi
            label={t('kpi.left')}
            value={eta === null ? '–' : f.clock(eta)}
            sub={t(run.state === 'pausing' ? 'kpi.leftPausing' : eta === null ? 'kpi.leftUnknown' : 'kpi.leftHint')}
          />
        ) : (
          <Kpi label={t('kpi.took')} value={f.clock(run.elapsedMs)} sub={t('kpi.tookHint')} />
        )}
        <Kpi
          label={t('kpi.tokens')}
          value={f.compact(tokens)}
          hover={f.exact(tokens)}
          sub={spent(run, t, f) ?? t('kpi.tokensOut', { out: f.compact(run.usage.completionTokens) })}
        />
        <Kpi
          label={t('kpi.reasoning')}
          value={run.turns === 0 ? '–' : f.percent(run.turnsWithReasoning / run.turns, 1)}
          hover={t('kpi.reasoningHover', { with: f.exact(run.turnsWithReasoning), turns: f.exact(run.turns) })}
          sub={t('kpi.reasoningHint')}
        />
      </dl>
      <Meter
        className="mx-3.5 mt-2.5 mb-1.5"
        total={run.total}
        label={t('kpi.progress', { done: f.exact(done), total: f.exact(run.total) })}
        parts={STATE_ORDER.filter((s) => s !== 'pending').map((s) => ({ key: s, value: run.states[s], color: colorOf(s) }))}
      />
      <ul className="num flex flex-wrap gap-x-3.5 px-3.5 pb-3 text-xs text-fg-2">
        {STATE_ORDER.map(
          (s) =>
            run.states[s] > 0 && (
              <li key={s}>
                <i
                  aria-hidden="true"
                  className="mr-[5px] inline-block size-2 rounded-[2px] border"
                  style={{ background: colorOf(s), borderColor: s === 'pending' ? 'var(--line-strong)' : 'transparent' }}
                />
                {t(`app:outcome.${s}`)} {f.exact(run.states[s])}
              </li>
            ),
        )}
      </ul>
    </section>
  );
}

/** What it has cost, of what it may cost; null while no price is known and no budget is set. */
function spent(run: RunSummary, t: ReturnType<typeof useTranslation<['batch', 'app']>>['t'], f: Format): string | null {
  const { budgetUsd } = run.spec;
  if (budgetUsd !== undefined) return t('kpi.costOf', { cost: f.money(run.costUsd), budget: f.money(budgetUsd) });
  return run.costUsd > 0 ? f.money(run.costUsd) : null;
}

/** Rows shown of what is going on; more agents than this only count. */
const SHOWN = 6;
const ROW_PX = 44;

/** What the agents are doing at this moment. @param rows agents at work at most: the card keeps room for them, so that nothing below moves */
export function RunningNow({
  active,
  live,
  rows,
  onOpen,
}: {
  active: readonly ActiveRollout[];
  live: boolean;
  rows: number;
  onOpen: (trajectoryId: string) => void;
}): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const now = useNow(live);
  if (!live) return null;
  return (
    <Card title={t('now.title')} aside={active.length > SHOWN ? t('now.more', { count: active.length, shown: SHOWN }) : undefined}>
      <div style={{ minHeight: Math.min(SHOWN, rows) * ROW_PX + 10 }}>
        {active.length === 0 && <p className="px-3.5 pt-1.5 pb-3 text-sm text-fg-3">{t('now.none')}</p>}
        <ul className="pt-1.5 pb-1">
          {active.slice(0, SHOWN).map((a) => (
            <li key={a.trajectoryId} className="border-line not-last:border-b">
              <button
                type="button"
                onClick={() => onOpen(a.trajectoryId)}
                className="focus-inset grid h-11 w-full grid-cols-[14px_minmax(0,1fr)_auto] items-center gap-2.5 px-3.5 text-left hover:bg-hover"
              >
                <Spinner className="text-accent" />
                <span className="min-w-0">
                  <span className="block truncate text-sm">{a.prompt}</span>
                  <span className="block truncate text-xs text-fg-3">
                    {[a.turn > 0 ? t('now.step', { turn: a.turn }) : null, activityText(a.activity, t)].filter(Boolean).join(' · ')}
                  </span>
                </span>
                <span className="num text-xs text-fg-3">{f.duration(Math.max(1000, Math.floor((now - a.startedAt) / 1000) * 1000))}</span>
              </button>
            </li>
          ))}
        </ul>
      </div>
    </Card>
  );
}
