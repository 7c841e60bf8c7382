import { Printer, SearchX } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunDashboard } from '#shared/contract/dashboards.ts';
import type { RunSummary } from '#shared/contract/runs.ts';
import { useErrorText } from '../../../lib/errors.ts';
import { useLoad } from '../../../lib/engine-context.tsx';
import { useFormat } from '../../../lib/i18n.ts';
import { Button, LinkButton } from '../../../ui/Button.tsx';
import { EmptyState, Meter, Skeleton } from '../../../ui/Feedback.tsx';
import { Screen } from '../../../ui/Screen.tsx';
import { reasonText } from '../reasons.ts';
import { doneCount } from '../run-codes.ts';
import { RunStateChip, ScriptedChip } from '../RunStateChip.tsx';
import { colorOf, STATE_ORDER } from '../states.ts';
import { Definition, Facts, Section, type Fact } from './parts.tsx';
import { CausesSection, CostSection, FiltersSection, ScoresSection, SpeedSection, ToolsSection } from './sections.tsx';

/** All that a colleague needs to judge a run, on paper: as it stands when the page is opened. */
export function ReportScreen({ id }: { id: string }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const errorText = useErrorText();
  const { data, error } = useLoad(
    async (client) => {
      const [run, dashboard] = await Promise.all([client.runs.get({ id }), client.dashboards.get({ runId: id })]);
      return { run, dashboard, runFile: (await client.plans.runFile({ spec: run.spec })).text, at: Date.now() };
    },
    [id],
  );
  const crumb = (
    <span className="flex gap-1">
      <a href="#/batch" className="no-underline hover:text-fg">
        {t('app:nav.batch')} /
      </a>
      {data && (
        <a href={`#/batch/${encodeURIComponent(id)}`} className="max-w-60 truncate no-underline hover:text-fg">
          {data.run.name} /
        </a>
      )}
    </span>
  );
  return (
    <Screen
      title={t('report.title')}
      documentTitle={data ? t('report.document', { name: data.run.name }) : t('report.title')}
      crumb={crumb}
      bar={
        data && (
          <>
            <span className="flex-1" />
            <Button variant="primary" icon={Printer} hotkey="p" onClick={() => window.print()}>
              {t('report.print')}
            </Button>
          </>
        )
      }
    >
      {data ? (
        <Report {...data} />
      ) : error ? (
        <EmptyState icon={SearchX} title={t('run.missing')} action={<LinkButton to="/batch">{t('run.toList')}</LinkButton>}>
          {errorText(error)}
        </EmptyState>
      ) : (
        <div className="mx-auto grid max-w-[860px] gap-4 px-8 py-6">
          <Skeleton className="h-16" />
          <Skeleton className="h-40" />
          <Skeleton className="h-60" />
        </div>
      )}
    </Screen>
  );
}

function Report({ run, dashboard, runFile, at }: { run: RunSummary; dashboard: RunDashboard; runFile: string; at: number }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  return (
    <div tabIndex={0} className="focus-inset h-full overflow-y-auto bg-sunken py-5">
      <article data-report="" aria-label={t('report.document', { name: run.name })} className="mx-auto max-w-[860px] rounded-l border border-line bg-raised px-10 py-8">
        <header className="border-b border-line pb-4">
          <h2 className="flex items-center gap-2.5 text-xl font-semibold">
            <span className="min-w-0 break-words">{run.name}</span>
            <RunStateChip state={run.state} />
            {run.scripted && <ScriptedChip />}
          </h2>
          <p className="num mt-1 text-fg-2">
            {[run.spec.model, run.spec.baseUrl ?? run.spec.provider, t('report.started', { when: f.dateTime(run.createdAt) })].join(' · ')}
          </p>
          <p className="num text-sm text-fg-3">{t('report.made', { when: f.dateTime(at) })}</p>
          {run.message && <p className="mt-2 font-medium">{reasonText(run.message, t)}</p>}
          {run.scripted && <p className="mt-2 text-sm text-fg-2">{t('options.scripted')}</p>}
        </header>
        <Outcomes run={run} />
        <DatasetSection run={run} dashboard={dashboard} />
        <ScoresSection dashboard={dashboard} />
        <FiltersSection run={run} dashboard={dashboard} />
        <CausesSection run={run} dashboard={dashboard} />
        <ToolsSection run={run} />
        <CostSection run={run} />
        <SpeedSection run={run} dashboard={dashboard} />
        <Section title={t('report.definition')}>
          <Definition text={runFile} />
          <p className="mt-2 text-sm break-all text-fg-2">
            {t('files.title')}: <code className="font-mono text-xs">{run.outputDir}</code>
          </p>
        </Section>
      </article>
    </div>
  );
}

function Outcomes({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const done = doneCount(run);
  return (
    <Section title={t('report.outcomes')}>
      <Meter
        total={run.total}
        label={t('kpi.progress', { done: f.exact(done), total: f.exact(run.total) })}
        parts={STATE_ORDER.filter((s) => s !== 'pending').map((s) => ({ key: s, value: run.states[s], color: colorOf(s) }))}
      />
      <Facts
        columns={3}
        rows={[
          ...STATE_ORDER.filter((s) => run.states[s] > 0).map((s): Fact => [t(`app:outcome.${s}`), `${f.exact(run.states[s])} · ${f.percent(run.states[s] / Math.max(1, run.total))}`]),
          [t('report.rollouts'), f.exact(run.total)],
          [t('kpi.took'), f.duration(run.elapsedMs)],
        ]}
      />
    </Section>
  );
}

function DatasetSection({ run, dashboard }: { run: RunSummary; dashboard: RunDashboard }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const { dataset } = dashboard;
  const rows: Fact[] = [
    [t('report.rows'), f.exact(dataset.rows)],
    [t('options.rollouts'), f.exact(run.spec.rollouts)],
    ...(run.removed > 0 ? [[t('report.removed'), f.exact(run.removed)] as Fact] : []),
    ...(run.changes ? [[t('report.changed'), t('report.changedBy', { added: f.exact(run.changes.added), removed: f.exact(run.changes.removed), returned: f.exact(run.changes.returned) })] as Fact] : []),
  ];
  return (
    <Section title={t('form.dataset')}>
      <p className="font-mono text-xs break-all text-fg-2">{dataset.file}</p>
      <p className="font-mono text-xs break-all text-fg-3">sha256 {dataset.sha256}</p>
      <Facts columns={3} rows={rows} />
    </Section>
  );
}
