import { Columns2, FolderInput, ListChecks, Plus, X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunSummary } from '#shared/contract/runs.ts';
import { useCommands } from '../../lib/commands.tsx';
import { cx } from '../../lib/cx.ts';
import { navigate } from '../../lib/hash-location.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Button, IconButton, LinkButton } from '../../ui/Button.tsx';
import { Checkbox } from '../../ui/Checkbox.tsx';
import { EmptyState, ErrorState, Meter, Skeleton } from '../../ui/Feedback.tsx';
import { Screen } from '../../ui/Screen.tsx';
import { AdoptDialog } from './adopt/AdoptDialog.tsx';
import { short } from './DashboardCards.tsx';
import { doneCount, fileName, perMinute } from './run-codes.ts';
import { reasonText } from './reasons.ts';
import { RunMenu } from './RunMenu.tsx';
import { RunStateChip, ScriptedChip } from './RunStateChip.tsx';
import { colorOf, STATE_ORDER } from './states.ts';
import { useRuns } from './use-runs.ts';

/** The last columns go where there is no room for them. */
const COLUMNS =
  'grid grid-cols-[14px_minmax(0,1fr)_minmax(90px,180px)_64px_56px_52px_60px_60px_88px_26px] items-center gap-3 px-4';

/** All runs, newest first. */
export function RunsScreen(): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const runs = useRuns();
  const [adopting, setAdopting] = useState(false);
  const items = runs.data?.items;
  const [current, setCurrent] = useState(0);
  // The two that are to be compared; a third takes the place of the first.
  const [picked, setPicked] = useState<readonly string[]>([]);
  const pick = (id: string): void => setPicked((now) => (now.includes(id) ? now.filter((other) => other !== id) : [...now, id].slice(-2)));
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
      { id: 'pick', label: t('runs.select'), keys: 'x', keysOnly: true, run: () => items?.[at] && pick(items[at].id) },
    ],
    items !== undefined && items.length > 0,
  );
  useCommands(t('runs.title'), [{ id: 'adopt', label: t('adopt.button'), run: () => setAdopting(true) }]);
  const takeOver = (
    <Button variant="ghost" icon={FolderInput} onClick={() => setAdopting(true)}>
      {t('adopt.button')}
    </Button>
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
          <PickedBar picked={picked} onClear={() => setPicked([])} />
          {!empty && takeOver}
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
                {takeOver}
              </>
            }
          >
            {t('runs.empty')}
          </EmptyState>
        ) : (
          <RunTable items={items} current={at} picked={picked} onPick={pick} onCurrent={setCurrent} onChanged={runs.reload} />
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
      {adopting && <AdoptDialog onClose={() => setAdopting(false)} />}
    </Screen>
  );
}

/** The way to compare the two that are picked. */
function PickedBar({ picked, onClear }: { picked: readonly string[]; onClear: () => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const [a, b] = picked;
  if (a === undefined) return null;
  return (
    <>
      {b === undefined ? (
        <span role="status" className="truncate text-fg-3">
          {t('runs.selectTwo')}
        </span>
      ) : (
        <LinkButton icon={Columns2} hotkey="c" to={`/batch/compare?a=${encodeURIComponent(a)}&b=${encodeURIComponent(b)}`}>
          {t('compare.two')}
        </LinkButton>
      )}
      <IconButton icon={X} label={t('runs.clear')} onClick={onClear} />
    </>
  );
}

function RunTable({
  items,
  current,
  picked,
  onPick,
  onCurrent,
  onChanged,
}: {
  items: readonly RunSummary[];
  current: number;
  picked: readonly string[];
  onPick: (id: string) => void;
  onCurrent: (i: number) => void;
  onChanged: () => void;
}): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  return (
    <div className="h-full overflow-auto">
      <div role="table" aria-label={t('runs.title')} className="min-w-[860px]">
        <div role="row" className={cx(COLUMNS, 'sticky top-0 z-10 h-7 border-b border-line bg-bg text-xs text-fg-3')}>
          <span role="columnheader">
            <span className="sr-only">{t('runs.select')}</span>
          </span>
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
            {t('runs.reward')}
          </span>
          <span role="columnheader" className="text-right">
            {t('runs.cost')}
          </span>
          <span role="columnheader" className="text-right">
            {t('runs.started')}
          </span>
          <span role="columnheader">
            <span className="sr-only">{t('app:action.more')}</span>
          </span>
        </div>
        {items.map((run, i) => (
          <RunRow
            key={run.id}
            run={run}
            index={i}
            current={i === current}
            picked={picked.includes(run.id)}
            onPick={() => onPick(run.id)}
            onCurrent={() => onCurrent(i)}
            onChanged={onChanged}
          />
        ))}
      </div>
    </div>
  );
}

function RunRow({
  run,
  index,
  current,
  picked,
  onPick,
  onCurrent,
  onChanged,
}: {
  run: RunSummary;
  index: number;
  current: boolean;
  picked: boolean;
  onPick: () => void;
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
      <div role="cell" className="relative z-1">
        <Checkbox checked={picked} onChange={onPick} label={<span className="sr-only">{t('compare.select', { name: run.name })}</span>} />
      </div>
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
        <div className="truncate text-xs text-fg-3" title={run.message === null ? undefined : reasonText(run.message, t)}>
          {run.message && (run.state === 'failed' || run.state === 'paused') ? (
            <span className={run.state === 'failed' ? 'text-bad' : 'text-warn'}>{reasonText(run.message, t)}</span>
          ) : (
            [fileName(run.spec.datasetFile), run.spec.model, run.spec.rollouts > 1 ? t('run.rollouts', { count: run.spec.rollouts }) : null].filter(Boolean).join(' · ')
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
        {run.ratePerSecond === null || run.state !== 'running' ? '–' : t('kpi.ratePerMinute', { rate: f.exact(perMinute(run.ratePerSecond)) })}
      </div>
      <div role="cell" className="num text-right text-fg-2" title={f.exact(tokens)}>
        {f.compact(tokens)}
      </div>
      <div role="cell" className="num text-right text-fg-2" title={run.rewards ? t('rewards.chart', { mean: short(run.rewards.mean), count: run.rewards.count, shown: f.exact(run.rewards.count) }) : undefined}>
        {run.rewards ? short(run.rewards.mean) : '–'}
      </div>
      <div role="cell" className="num text-right text-fg-2">
        {run.costUsd > 0 ? f.money(run.costUsd) : '–'}
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
