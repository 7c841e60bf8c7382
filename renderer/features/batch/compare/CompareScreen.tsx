import { ArrowLeftRight, Columns2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { QUADRANTS, type Quadrant } from '#shared/contract/dashboards.ts';
import type { RunSummary } from '#shared/contract/runs.ts';
import { useLoad } from '../../../lib/engine-context.tsx';
import { useQuery } from '../../../lib/hash-location.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { IconButton } from '../../../ui/Button.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../../ui/Feedback.tsx';
import { Input } from '../../../ui/Input.tsx';
import { Screen } from '../../../ui/Screen.tsx';
import { Select, type Option } from '../../../ui/Select.tsx';
import { fileName } from '../run-codes.ts';
import { ComparedRows } from './ComparedRows.tsx';
import { QuadrantTable } from './QuadrantTable.tsx';
import { SideBySide } from './SideBySide.tsx';
import { byLikeness, parseThreshold } from './choice.ts';

/** Two runs over the rows they have in common: who solved what, and for how much. `?a=…&b=…&q=…&from=…` say which. */
export function CompareScreen(): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const [query, change] = useQuery();
  const runs = useLoad((client) => client.runs.list(), []);
  const items = runs.data?.items ?? [];
  const a = items.find((run) => run.id === query.get('a'));
  const b = items.find((run) => run.id === query.get('b'));
  const crumb = (
    <a href="#/batch" className="no-underline hover:text-fg">
      {t('app:nav.batch')} /
    </a>
  );
  return (
    <Screen title={t('compare.title')} documentTitle={a && b ? `${a.name} – ${b.name}` : t('compare.title')} crumb={crumb}>
      {runs.error && !runs.data ? (
        <ErrorState error={runs.error} onRetry={runs.reload} />
      ) : !runs.data ? (
        <CompareSkeleton />
      ) : (
        <div className="@container flex h-full flex-col overflow-y-auto">
          <div className="mx-auto flex w-full max-w-[1400px] flex-1 flex-col gap-4 px-5 py-4">
            <div className="flex flex-wrap items-center gap-2">
              <RunSelect label={t('compare.first')} runs={items} value={a?.id ?? ''} onChange={(id) => change({ a: id })} />
              <IconButton icon={ArrowLeftRight} label={t('compare.swap')} onClick={() => change({ a: query.get('b'), b: query.get('a') })} />
              <RunSelect label={t('compare.second')} runs={a ? byLikeness(a, items) : items} like={a} value={b?.id ?? ''} onChange={(id) => change({ b: id })} />
              {a && b && <ThresholdInput value={query.get('from') ?? ''} onChange={(from) => change({ from: from === '' ? null : from })} />}
            </div>
            {a && b ? (
              <Comparison a={a} b={b} quadrant={QUADRANTS.find((q) => q === query.get('q')) ?? null} threshold={parseThreshold(query.get('from') ?? '')} onQuadrant={(q) => change({ q })} />
            ) : (
              <EmptyState icon={Columns2} title={t('compare.choose')}>
                {t('compare.chooseHint')}
              </EmptyState>
            )}
          </div>
        </div>
      )}
    </Screen>
  );
}

function RunSelect({ label, runs, like, value, onChange }: { label: string; runs: readonly RunSummary[]; like?: RunSummary | undefined; value: string; onChange: (id: string) => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const options = runs.map((run): Option<string> => {
    const same = like !== undefined && run.spec.datasetFile === like.spec.datasetFile;
    return {
      value: run.id,
      label: run.name,
      hint: [run.spec.model, same ? t('compare.sameDataset') : fileName(run.spec.datasetFile), t('compare.rollouts', { count: run.total, shown: f.exact(run.total) })].join(' · '),
    };
  });
  return <Select label={label} placeholder={label} value={value} onChange={onChange} options={options} className="w-64 @max-[700px]:w-48" />;
}

function ThresholdInput({ value, onChange }: { value: string; onChange: (value: string) => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const wrong = value !== '' && parseThreshold(value) === null;
  return (
    <label className="ml-auto flex items-center gap-2 text-sm whitespace-nowrap text-fg-2">
      {t('compare.threshold')}
      <span className="w-24">
        <Input className="num" inputMode="decimal" placeholder={t('compare.aboveZero')} aria-invalid={wrong || undefined} title={wrong ? t('compare.thresholdWrong') : undefined} value={value} onChange={(e) => onChange(e.target.value)} />
      </span>
    </label>
  );
}

function Comparison({ a, b, quadrant, threshold, onQuadrant }: { a: RunSummary; b: RunSummary; quadrant: Quadrant | null; threshold: number | null; onQuadrant: (q: Quadrant | null) => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const from = threshold === null ? {} : { threshold };
  const { data, error, reload } = useLoad((client, signal) => client.dashboards.compare({ a: a.id, b: b.id, limit: 1, ...from }, { signal }), [a.id, b.id, threshold]);
  if (error && !data) return <ErrorState error={error} onRetry={reload} />;
  if (!data) return <CompareSkeleton />;
  const shared = data.a.rows - data.a.alone;
  if (shared === 0) {
    return (
      <EmptyState icon={Columns2} title={t('compare.nothingShared')}>
        {t('compare.nothingSharedHint', { a: a.name, b: b.name })}
      </EmptyState>
    );
  }
  const notes = [
    t(data.solvedBy === 'completed' ? 'compare.byCompleted' : threshold === null ? 'compare.byReward' : 'compare.byThreshold', { threshold }),
    a.spec.rollouts > 1 || b.spec.rollouts > 1 ? t('compare.anyRollout') : null,
    data.open > 0 ? t('compare.open', { count: data.open, shown: f.exact(data.open) }) : null,
    data.a.alone > 0 ? t('compare.alone', { count: data.a.alone, shown: f.exact(data.a.alone), name: a.name }) : null,
    data.b.alone > 0 ? t('compare.alone', { count: data.b.alone, shown: f.exact(data.b.alone), name: b.name }) : null,
  ].filter((note) => note !== null);
  return (
    <>
      <div className="grid gap-4 @min-[900px]:grid-cols-[minmax(0,1fr)_minmax(340px,400px)]">
        <SideBySide a={a} b={b} comparison={data} />
        <div className="flex min-w-0 flex-col gap-4">
          <QuadrantTable a={a} b={b} counts={data.quadrants} chosen={quadrant} onChoose={onQuadrant} />
          <ul className="grid gap-1 px-1 text-xs text-fg-3">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </div>
      </div>
      <ComparedRows a={a} b={b} quadrant={quadrant} threshold={threshold} total={quadrant ? data.quadrants[quadrant] : QUADRANTS.reduce((sum, q) => sum + data.quadrants[q], 0)} />
    </>
  );
}

function CompareSkeleton(): ReactNode {
  return (
    <div className="grid gap-4 p-5">
      <Skeleton className="h-7 w-96" />
      <Skeleton className="h-72 rounded-l" />
    </div>
  );
}
