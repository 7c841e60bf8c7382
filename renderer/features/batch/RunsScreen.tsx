import { ListChecks, Plus } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunSummary } from '#shared/contract/runs.ts';
import { useCommands } from '../../lib/commands.tsx';
import { cx } from '../../lib/cx.ts';
import { navigate } from '../../lib/hash-location.ts';
import { useFormat } from '../../lib/i18n.ts';
import { LinkButton } from '../../ui/Button.tsx';
import { EmptyState, ErrorState, Meter, Skeleton } from '../../ui/Feedback.tsx';
import { Screen } from '../../ui/Screen.tsx';
import { doneCount, fileName, perMinute } from './run-codes.ts';
import { RunMenu } from './RunMenu.tsx';
import { RunStateChip, ScriptedChip } from './RunStateChip.tsx';
import { colorOf, STATE_ORDER } from './states.ts';
import { useRuns } from './use-runs.ts';

const COLUMNS = 'grid grid-cols-[minmax(0,1fr)_minmax(120px,220px)_64px_64px_72px_96px_26px] items-center gap-3 px-4';

/** All runs, newest first. */
export function RunsScreen(): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const runs = useRuns();
  const items = runs.data?.items;
  const [current, setCurrent] = useState(0);
  const at = Math.min(current, Math.max(0, (items?.length ?? 0) - 1));
  const move = (to: number): void => {
    const next = Math.max(0, Math.min((items?.length ?? 1) - 1, to));
    setCurrent(next);
    document.getElementById(`run-${next}`)?.scrollIntoView({ block: 'nearest' });
  };
  useCommands(
    t('runs.title'),
    [
      { id: 'down', label: t('runs.next'), keys: 'j', also: ['ArrowDown'], repeats: true, keysOnly: true, run: () => move(at + 1) },
      { id: 'up', label: t('runs.previous'), keys: 'k', also: ['ArrowUp'], repeats: true, keysOnly: true, run: () => move(at - 1) },
      {
        id: 'open',
        label: t('runs.open'),
        keys: 'Enter',
        also: ['o'],
        keysOnly: true,
        run: () => {
          const run = items?.[at];
          if (run) navigate(`/batch/${encodeURIComponent(run.id)}`);
        },
      },
    ],
    items !== undefined && items.length > 0,
  );
  const newRun = (
    <LinkButton to="/batch/new" variant="primary" icon={Plus} hotkey="n">
      {t('runs.new')}
    </LinkButton>
  );
  const empty = items !== undefined && items.length === 0;
  return (
    <Screen
      title={t('runs.title')}
      bar={
        <>
          <span className="flex-1" />
          {!empty && newRun}
        </>
      }
    >
      {items ? (
        empty ? (
          <EmptyState
            icon={ListChecks}
            title={t('runs.emptyTitle')}
            action={
              <>
                {newRun}
                <LinkButton to="/batch/new?demo=1">{t('runs.tryDemo')}</LinkButton>
              </>
            }
          >
            {t('runs.empty')}
          </EmptyState>
        ) : (
          <RunTable items={items} current={at} onCurrent={setCurrent} onChanged={runs.reload} />
        )
      ) : runs.error ? (
        <ErrorState error={runs.error} onRetry={runs.reload} />
      ) : (
        <div className="grid gap-px p-4">
          {Array.from({ length: 6 }, (_, i) => (
            <Skeleton key={i} className="h-10" />
          ))}
        </div>
      )}
    </Screen>
  );
}

function RunTable({
  items,
  current,
  onCurrent,
  onChanged,
}: {
  items: readonly RunSummary[];
  current: number;
  onCurrent: (i: number) => void;
  onChanged: () => void;
}): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  return (
    <div className="h-full overflow-auto">
      <div role="table" aria-label={t('runs.title')} className="min-w-[720px]">
        <div role="row" className={cx(COLUMNS, 'sticky top-0 z-10 h-7 border-b border-line bg-bg text-xs text-fg-3')}>
          <span role="columnheader">{t('runs.name')}</span>
          <span role="columnheader">{t('runs.progress')}</span>
          <span role="columnheader" className="text-right">
            {t('kpi.done')}
          </span>
          <span role="columnheader" className="text-right">
            {t('kpi.rate')}
          </span>
          <span role="columnheader" className="text-right">
            {t('kpi.tokens')}
          </span>
          <span role="columnheader" className="text-right">
            {t('runs.started')}
          </span>
          <span role="columnheader">
            <span className="sr-only">{t('app:action.more')}</span>
          </span>
        </div>
        {items.map((run, i) => (
          <RunRow key={run.id} run={run} index={i} current={i === current} onCurrent={() => onCurrent(i)} onChanged={onChanged} />
        ))}
      </div>
    </div>
  );
}

function RunRow({
  run,
  index,
  current,
  onCurrent,
  onChanged,
}: {
  run: RunSummary;
  index: number;
  current: boolean;
  onCurrent: () => void;
  onChanged: () => void;
}): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const done = doneCount(run);
  const tokens = run.usage.promptTokens + run.usage.completionTokens;
  return (
    <div
      role="row"
      id={`run-${index}`}
      aria-current={current || undefined}
      onClick={onCurrent}
      className={cx(
        COLUMNS,
        'relative h-11 border-b border-line text-sm hover:bg-hover',
        current && 'bg-selected shadow-[inset_2px_0_var(--accent)]',
      )}
    >
      <div role="cell" className="min-w-0">
        <div className="flex min-w-0 items-center gap-2">
          {/* The link covers the row: one target, one name. */}
          <a
            href={`#/batch/${encodeURIComponent(run.id)}`}
            className="focus-inset truncate font-medium no-underline after:absolute after:inset-0"
          >
            {run.name}
          </a>
          <RunStateChip state={run.state} />
          {run.scripted && <ScriptedChip />}
        </div>
        <div className="truncate text-xs text-fg-3" title={run.message ?? undefined}>
          {run.message && run.state === 'failed' ? (
            <span className="text-bad">{run.message}</span>
          ) : (
            [fileName(run.spec.datasetFile), run.spec.model].join(' · ')
          )}
        </div>
      </div>
      <div role="cell">
        <Meter
          total={run.total}
          label={t('kpi.progress', { done: f.exact(done), total: f.exact(run.total) })}
          parts={STATE_ORDER.filter((s) => s !== 'pending').map((s) => ({ key: s, value: run.states[s], color: colorOf(s) }))}
        />
      </div>
      <div role="cell" className="num text-right" title={`${f.exact(done)} / ${f.exact(run.total)}`}>
        {f.compact(done)}
        <span className="block text-xs text-fg-3">{t('runs.of', { total: f.compact(run.total) })}</span>
      </div>
      <div role="cell" className="num text-right text-fg-2">
        {run.ratePerSecond === null || run.state !== 'running' ? '–' : t('kpi.ratePerMinute', { rate: perMinute(run.ratePerSecond) })}
      </div>
      <div role="cell" className="num text-right text-fg-2" title={f.exact(tokens)}>
        {f.compact(tokens)}
      </div>
      <div role="cell" className="text-right text-fg-2" title={f.dateTime(run.createdAt)}>
        {f.ago(run.createdAt)}
      </div>
      <div role="cell" className="relative">
        <RunMenu run={run} onChanged={onChanged} />
      </div>
    </div>
  );
}
