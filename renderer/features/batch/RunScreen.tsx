import { ArrowUpRight, Funnel, Minimize2, RotateCcw, SearchX, ShieldCheck, Star, Wallet } from 'lucide-react';
import { useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { PromptState, RunSummary } from '#shared/contract/runs.ts';
import { useErrorText } from '../../lib/errors.ts';
import { navigate } from '../../lib/hash-location.ts';
import { Button, LinkButton } from '../../ui/Button.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../ui/Feedback.tsx';
import type { MenuItem } from '../../ui/Menu.tsx';
import { Screen } from '../../ui/Screen.tsx';
import { useToasts } from '../../ui/Toasts.tsx';
import { CompressDialog } from '../library/compress/CompressDialog.tsx';
import { BudgetDialog } from './change/BudgetDialog.tsx';
import { FiltersDialog } from './change/FiltersDialog.tsx';
import { RescoreDialog } from './change/RescoreDialog.tsx';
import { useKeep } from './change/use-keep.ts';
import { CausesCard } from './CausesCard.tsx';
import { CostCard, ExitReasonsCard, GroupsCard, RewardsCard, SpeedCard } from './DashboardCards.tsx';
import { RunBar } from './RunBar.tsx';
import { Card, FilesCard, OptionsCard, ToolsCard } from './RunCards.tsx';
import { actionsOf, doneCount, keptCount, overBudget, rolloutName, type RunView } from './run-codes.ts';
import { PromptGrid } from './PromptGrid.tsx';
import { EVERYTHING, PromptList, type ListFilter } from './PromptList.tsx';
import { Announcer, RunMessages } from './RunMessages.tsx';
import { KpiCard, RunningNow } from './RunProgress.tsx';
import { useDashboard } from './use-dashboard.ts';
import { useRetry } from './use-retry.ts';
import { usePromptPages, useRun } from './use-run.ts';

/** One run, live. Leaving it stops nothing. */
export function RunScreen({ id }: { id: string }): ReactNode {
  const { t } = useTranslation(['batch', 'app', 'library']);
  const errorText = useErrorText();
  const { view, error } = useRun(id);
  const [dialog, setDialog] = useState<RunDialog | null>(null);
  const crumb = (
    <a href="#/batch" className="no-underline hover:text-fg">
      {t('app:nav.batch')} /
    </a>
  );
  if (error) {
    return (
      <Screen title={t('run.missing')} crumb={crumb}>
        {view ? (
          <ErrorState error={error} />
        ) : (
          <EmptyState icon={SearchX} title={t('run.missing')} action={<LinkButton to="/batch">{t('run.toList')}</LinkButton>}>
            {errorText(error)}
          </EmptyState>
        )}
      </Screen>
    );
  }
  return (
    <Screen title={view?.run.name ?? '…'} crumb={crumb} bar={view && <RunBar run={view.run} more={changesOf(view.run, setDialog, t)} onBudget={() => setDialog('budget')} />}>
      {view ? <RunBody view={view} onBudget={() => setDialog('budget')} /> : <RunSkeleton />}
      {view && (
        <>
          <FiltersDialog run={view.run} open={dialog === 'filters'} onClose={() => setDialog(null)} />
          <RescoreDialog run={view.run} open={dialog === 'rescore'} onClose={() => setDialog(null)} />
          {dialog === 'compress' && <CompressDialog name={view.run.name} source={{ kind: 'run', id: view.run.id }} onClose={() => setDialog(null)} />}
          <BudgetDialog run={view.run} open={dialog === 'budget'} onClose={() => setDialog(null)} />
        </>
      )}
    </Screen>
  );
}

type RunDialog = 'filters' | 'rescore' | 'budget' | 'compress';

/** What can be changed of a run that is not going on. */
function changesOf(run: RunSummary, show: (dialog: RunDialog) => void, t: ReturnType<typeof useTranslation<['batch', 'app', 'library']>>['t']): MenuItem[] {
  if (run.state === 'running' || run.state === 'pausing') return [];
  return [
    ...(overBudget(run) ? [{ id: 'budget', label: t('action.raiseBudget'), icon: Wallet, run: () => show('budget') }] : []),
    ...(doneCount(run) > 0
      ? [
          { id: 'filters', label: t('action.editFilters'), icon: Funnel, run: () => show('filters') },
          { id: 'rescore', label: t('action.rescore'), icon: Star, run: () => show('rescore') },
        ]
      : []),
    ...(keptCount(run) > 0 ? [{ id: 'compress', label: t('library:compress.button'), icon: Minimize2, run: () => show('compress') }] : []),
  ];
}

function RunBody({ view, onBudget }: { view: RunView; onBudget: () => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const errorText = useErrorText();
  const toast = useToasts();
  const { run } = view;
  const pages = usePromptPages(run.id);
  const dashboard = useDashboard(run);
  const { busy: retrying, retry } = useRetry(run);
  const { keeping, keep } = useKeep(run);
  const busy = retrying || keeping;
  const [filter, setFilter] = useState<ListFilter>(EVERYTHING);
  const list = useRef<HTMLDivElement>(null);
  const live = run.state === 'running' || run.state === 'pausing';
  const openTrajectory = (trajectoryId: string): void =>
    navigate(`/library/${encodeURIComponent(trajectoryId)}?run=${encodeURIComponent(run.id)}`);
  const open = (index: number): void => {
    pages.fetch(index).then(
      (item) => (item?.trajectoryId ? openTrajectory(item.trajectoryId) : toast({ title: t('list.notYet') })),
      (error: unknown) => toast({ title: errorText(error), kind: 'bad' }),
    );
  };
  const show = (next: ListFilter): void => {
    setFilter(next);
    list.current?.scrollIntoView({ block: 'nearest' });
    list.current?.querySelector<HTMLElement>('[role=listbox]')?.focus({ preventScroll: true });
  };
  return (
    <div className="@container h-full overflow-y-auto">
      <div className="mx-auto grid min-h-full max-w-[1600px] gap-4 px-5 py-4 @max-[859px]:content-start @min-[860px]:grid-cols-[minmax(0,1fr)_minmax(260px,330px)]">
        <div className="flex min-w-0 flex-col gap-4">
          <RunMessages run={run} onBudget={onBudget} />
          <KpiCard run={run} />
          <Card title={t('grid.title')} aside={<LibraryLink run={run} />}>
            <div className="px-3.5 pt-2 pb-3.5">
              <PromptGrid view={view} pages={pages} onOpen={open} />
            </div>
          </Card>
          <RunningNow active={view.active} live={live} rows={Math.min(run.spec.numWorkers, run.total)} onOpen={openTrajectory} />
          <div ref={list} className="flex flex-1 flex-col">
            <Card title={t('list.title')} className="flex flex-1 flex-col">
              <PromptList
                view={view}
                pages={pages}
                filter={filter}
                onFilter={setFilter}
                onOpen={open}
                actions={(index, state) => <RowActions run={run} index={index} state={state} busy={busy} onOpen={open} onRetry={retry} onKeep={keep} />}
              />
            </Card>
          </div>
        </div>
        <div className="grid min-w-0 content-start gap-4">
          {dashboard?.rewards && <RewardsCard rewards={dashboard.rewards} />}
          {dashboard?.groups && <GroupsCard groups={dashboard.groups} />}
          <ToolsCard run={run} />
          {dashboard && <CausesCard run={run} causes={dashboard.causes} busy={busy} onOpen={openTrajectory} onShow={show} onRetry={retry} onKeep={keep} />}
          {dashboard && <SpeedCard dashboard={dashboard} />}
          <CostCard run={run} />
          {dashboard && <ExitReasonsCard reasons={dashboard.exitReasons} />}
          <FilesCard run={run} />
          <OptionsCard run={run} />
        </div>
      </div>
      <Announcer run={run} />
    </div>
  );
}

/** What can be done with the rollout that is chosen in the list. */
function RowActions({
  run,
  index,
  state,
  busy,
  onOpen,
  onRetry,
  onKeep,
}: {
  run: RunSummary;
  index: number;
  state: PromptState;
  busy: boolean;
  onOpen: (index: number) => void;
  onRetry: ReturnType<typeof useRetry>['retry'];
  onKeep: ReturnType<typeof useKeep>['keep'];
}): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const name = rolloutName(index, run.spec.rollouts);
  return (
    <>
      {(state === 'failed' || state === 'discarded') && actionsOf(run).retry && (
        <Button variant="ghost" icon={RotateCcw} busy={busy} onClick={() => onRetry(state, { indices: [index] })}>
          {t('retry.one', { name })}
        </Button>
      )}
      {state === 'discarded' && actionsOf(run).retry && (
        <Button variant="ghost" icon={ShieldCheck} busy={busy} onClick={() => onKeep({ indices: [index] })}>
          {t('keep.one', { name })}
        </Button>
      )}
      <Button variant="ghost" icon={ArrowUpRight} onClick={() => onOpen(index)}>
        {t('list.openNamed', { name })}
      </Button>
    </>
  );
}

function LibraryLink({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  return doneCount(run) > 0 ? (
    <a href={`#/library?run=${encodeURIComponent(run.id)}`} className="text-accent no-underline hover:underline">
      {t('run.inLibrary')}
    </a>
  ) : null;
}

function RunSkeleton(): ReactNode {
  return (
    <div className="mx-auto grid max-w-[1600px] gap-4 px-5 py-4 lg:grid-cols-[minmax(0,1fr)_330px]">
      <div className="grid content-start gap-4">
        <Skeleton className="h-40 rounded-l" />
        <Skeleton className="h-56 rounded-l" />
        <Skeleton className="h-40 rounded-l" />
      </div>
      <div className="grid content-start gap-4">
        <Skeleton className="h-40 rounded-l" />
        <Skeleton className="h-32 rounded-l" />
      </div>
    </div>
  );
}
