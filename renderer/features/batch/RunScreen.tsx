import { CirclePause, CircleX, CopyPlus, Play, SearchX, Upload } from 'lucide-react';
import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunSummary } from '#shared/contract/runs.ts';
import { useErrorText } from '../../lib/errors.ts';
import { navigate } from '../../lib/hash-location.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Button, LinkButton } from '../../ui/Button.tsx';
import { Banner, EmptyState, ErrorState, Skeleton } from '../../ui/Feedback.tsx';
import { Screen } from '../../ui/Screen.tsx';
import { useToasts } from '../../ui/Toasts.tsx';
import { useRunActions } from './run-actions.tsx';
import { Card, FilesCard, OptionsCard, ReasonsCard, ToolsCard } from './RunCards.tsx';
import { actionsOf, doneCount, fileName, keptCount, lacksReasoning, resumable, type RunView } from './run-codes.ts';
import { PromptGrid } from './PromptGrid.tsx';
import { PromptList } from './PromptList.tsx';
import { KpiCard, RunningNow } from './RunProgress.tsx';
import { RunStateChip, ScriptedChip } from './RunStateChip.tsx';
import { usePromptPages, useRun } from './use-run.ts';

/** One run, live. Leaving it stops nothing. */
export function RunScreen({ id }: { id: string }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const errorText = useErrorText();
  const { view, error } = useRun(id);
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
    <Screen title={view?.run.name ?? '…'} crumb={crumb} bar={view && <RunBar run={view.run} />}>
      {view ? <RunBody view={view} /> : <RunSkeleton />}
    </Screen>
  );
}

function RunBar({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const { busy, act } = useRunActions(run);
  const can = actionsOf(run);
  // What could be cancelled on this visit keeps the places of its buttons: nothing slips under the pointer.
  const [couldCancel, setCouldCancel] = useState(can.cancel);
  if (can.cancel && !couldCancel) setCouldCancel(true);
  const rest = resumable(run);
  const kept = keptCount(run);
  const resumeLabel = run.state === 'completed' ? t('action.runFailedAgain', { count: rest, shown: f.exact(rest) }) : t('action.resume');
  return (
    <>
      <span role="status">
        <RunStateChip state={run.state} />
      </span>
      {run.scripted && <ScriptedChip />}
      <span className="num min-w-0 flex-1 truncate text-fg-3">
        {run.state === 'pausing'
          ? t('message.pausing', { count: run.states.running })
          : [fileName(run.spec.datasetFile), run.spec.model, t('run.workers', { count: run.spec.numWorkers })].join(' · ')}
      </span>
      {!can.pause && !can.cancel && (
        <LinkButton variant="ghost" icon={CopyPlus} to={`/batch/new?from=${encodeURIComponent(run.id)}`}>
          {t('action.again')}
        </LinkButton>
      )}
      {can.pause && (
        <Button className="min-w-24" icon={CirclePause} hotkey="p" busy={busy === 'pause'} onClick={() => act('pause')}>
          {t('action.pause')}
        </Button>
      )}
      {can.resume && (
        <Button className="min-w-24" icon={Play} hotkey="p" hotkeyLabel={resumeLabel} busy={busy === 'resume'} onClick={() => act('resume')}>
          {resumeLabel}
        </Button>
      )}
      {(can.cancel || couldCancel) && (
        <Button className={can.cancel ? '' : 'invisible'} disabled={!can.cancel} variant="ghost" icon={CircleX} busy={busy === 'cancel'} onClick={() => act('cancel')}>
          {t('action.cancel')}
        </Button>
      )}
      {kept > 0 ? (
        <LinkButton variant="primary" icon={Upload} hotkey="e" to={`/library?run=${encodeURIComponent(run.id)}&export=1`}>
          {t('action.export')}
        </LinkButton>
      ) : (
        couldCancel && (
          <Button className="invisible" disabled icon={Upload} hotkey="e">
            {t('action.export')}
          </Button>
        )
      )}
    </>
  );
}

function RunBody({ view }: { view: RunView }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const errorText = useErrorText();
  const toast = useToasts();
  const { run } = view;
  const pages = usePromptPages(run.id);
  const live = run.state === 'running' || run.state === 'pausing';
  const openTrajectory = (trajectoryId: string): void =>
    navigate(`/library/${encodeURIComponent(trajectoryId)}?run=${encodeURIComponent(run.id)}`);
  const open = (index: number): void => {
    pages.fetch(index).then(
      (item) => (item?.trajectoryId ? openTrajectory(item.trajectoryId) : toast({ title: t('list.notYet') })),
      (error: unknown) => toast({ title: errorText(error), kind: 'bad' }),
    );
  };
  return (
    <div className="@container h-full overflow-y-auto">
      <div className="mx-auto grid min-h-full max-w-[1600px] gap-4 px-5 py-4 @max-[859px]:content-start @min-[860px]:grid-cols-[minmax(0,1fr)_minmax(260px,330px)]">
        <div className="flex min-w-0 flex-col gap-4">
          <RunMessage run={run} />
          <ReasoningMessage run={run} />
          <KpiCard run={run} />
          <Card title={t('grid.title')} aside={<LibraryLink run={run} />}>
            <div className="px-3.5 pt-2 pb-3.5">
              <PromptGrid view={view} pages={pages} onOpen={open} />
            </div>
          </Card>
          <RunningNow active={view.active} live={live} rows={Math.min(run.spec.numWorkers, run.total)} onOpen={openTrajectory} />
          <Card title={t('list.title')} className="flex flex-1 flex-col">
            <PromptList view={view} pages={pages} onOpen={open} />
          </Card>
        </div>
        <div className="grid min-w-0 content-start gap-4">
          <ToolsCard run={run} />
          <ReasonsCard run={run} />
          <FilesCard run={run} />
          <OptionsCard run={run} />
        </div>
      </div>
      <Announcer run={run} />
    </div>
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

/** Why a run is not simply going on, and what to do. */
function RunMessage({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  if (run.state === 'failed') {
    return (
      <Banner
        live
        tone="bad"
        title={run.message ?? t('message.failed')}
        action={<LinkButton to="/settings">{t('message.toSettings')}</LinkButton>}
      >
        {t('message.failedHint')}
      </Banner>
    );
  }
  if (run.state === 'interrupted') {
    return (
      <Banner live tone="warn" title={t('message.interrupted')}>
        {t('message.interruptedHint')}
      </Banner>
    );
  }
  if (run.message) return <Banner live tone="info" title={run.message} />;
  return null;
}

/** Most answers of this model cannot be used for training; said as soon as it is plain, not at the end. */
function ReasoningMessage({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  if (!lacksReasoning(run)) return null;
  return (
    <Banner
      live
      tone="warn"
      title={t('message.noReasoning', { shown: f.exact(run.states.discarded), done: f.exact(doneCount(run)), count: doneCount(run) })}
    >
      {t('message.noReasoningHint')}
    </Banner>
  );
}

/** Tells screen readers about every tenth of the way, not about every number. */
function Announcer({ run }: { run: RunSummary }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const tenth = run.total === 0 ? 0 : Math.floor((doneCount(run) / run.total) * 10);
  const [said, setSaid] = useState('');
  useEffect(() => {
    setSaid(tenth > 0 ? t('run.announce', { percent: tenth * 10 }) : '');
  }, [tenth, t]);
  return (
    <div aria-live="polite" className="sr-only">
      {said}
    </div>
  );
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
