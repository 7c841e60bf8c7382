import { CirclePause, CircleX, Columns2, Copy, CopyPlus, EllipsisVertical, FileText, Play, RotateCcw, Upload } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunSummary } from '#shared/contract/runs.ts';
import { useCommands } from '../../lib/commands.tsx';
import { useClient } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { navigate } from '../../lib/hash-location.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Button, IconButton, LinkButton } from '../../ui/Button.tsx';
import { Menu, type MenuItem } from '../../ui/Menu.tsx';
import { useToasts } from '../../ui/Toasts.tsx';
import { useRunActions } from './run-actions.tsx';
import { actionsOf, doneCount, fileName, keptCount, overBudget } from './run-codes.ts';
import { RunStateChip, ScriptedChip } from './RunStateChip.tsx';
import { useRetry } from './use-retry.ts';

/** What a run is, and all that can be done with it. `more` are further items of its menu; `onBudget` asks for the budget that a resume needs. */
export function RunBar({ run, more = [], onBudget }: { run: RunSummary; more?: readonly MenuItem[]; onBudget: () => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const { busy, act } = useRunActions(run);
  const { busy: retrying, retry } = useRetry(run);
  const can = actionsOf(run);
  // What could be cancelled on this visit keeps the places of its buttons: nothing slips under the pointer.
  const [couldCancel, setCouldCancel] = useState(can.cancel);
  if (can.cancel && !couldCancel) setCouldCancel(true);
  const { failed } = run.states;
  return (
    <>
      <span role="status">
        <RunStateChip state={run.state} />
      </span>
      {run.scripted && <ScriptedChip />}
      <span className="num min-w-0 flex-1 truncate text-fg-3">{run.state === 'pausing' ? t('message.pausing', { count: run.states.running }) : described(run, t)}</span>
      {can.pause && (
        <Button className="min-w-24" icon={CirclePause} hotkey="p" busy={busy === 'pause'} onClick={() => act('pause')}>
          {t('action.pause')}
        </Button>
      )}
      {can.resume && (
        <Button className="min-w-24" icon={Play} hotkey="p" busy={busy === 'resume'} onClick={() => (overBudget(run) ? onBudget() : act('resume'))}>
          {t('action.resume')}
        </Button>
      )}
      {!can.resume && can.retry && failed > 0 && (
        <Button className="min-w-24" icon={RotateCcw} hotkey="p" busy={retrying} onClick={() => retry('failed')}>
          {t('retry.failed', { count: failed, shown: f.exact(failed) })}
        </Button>
      )}
      {(can.cancel || couldCancel) && (
        <Button className={can.cancel ? '' : 'invisible'} disabled={!can.cancel} variant="ghost" icon={CircleX} busy={busy === 'cancel'} onClick={() => act('cancel')}>
          {t('action.cancel')}
        </Button>
      )}
      <RunBarMenu run={run} more={more} onRetry={retry} />
      {keptCount(run) > 0 ? (
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

function RunBarMenu({ run, more, onRetry }: { run: RunSummary; more: readonly MenuItem[]; onRetry: ReturnType<typeof useRetry>['retry'] }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const errorText = useErrorText();
  const client = useClient();
  const toast = useToasts();
  const can = actionsOf(run);
  const { failed, discarded } = run.states;
  const id = encodeURIComponent(run.id);
  const copy = (text: Promise<string>, done: string): void => {
    text.then((value) => navigator.clipboard.writeText(value)).then(
      () => toast({ title: done, kind: 'good' }),
      (error: unknown) => toast({ title: error instanceof DOMException ? t('app:action.copyFailed') : errorText(error), kind: 'bad' }),
    );
  };
  const items: (MenuItem | null)[] = [
    ...(can.retry && failed > 0 ? [{ id: 'failed', label: t('retry.failed', { count: failed, shown: f.exact(failed) }), icon: RotateCcw, run: () => onRetry('failed') }] : []),
    ...(can.retry && discarded > 0 ? [{ id: 'discarded', label: t('retry.discarded', { count: discarded, shown: f.exact(discarded) }), icon: RotateCcw, run: () => onRetry('discarded') }] : []),
    ...more,
    ...(can.retry || more.length > 0 ? [null] : []),
    ...(doneCount(run) > 0 ? [{ id: 'report', label: t('action.report'), icon: FileText, run: () => navigate(`/batch/${id}/report`) }] : []),
    { id: 'compare', label: t('action.compare'), icon: Columns2, run: () => navigate(`/batch/compare?a=${id}`) },
    null,
    { id: 'again', label: t('action.again'), icon: CopyPlus, run: () => navigate(`/batch/new?from=${id}`) },
    { id: 'runFile', label: t('action.copyRunFile'), icon: Copy, run: () => copy(client.plans.runFile({ spec: run.spec }).then((r) => r.text), t('action.runFileCopied')) },
    { id: 'folder', label: t('files.copy'), icon: Copy, run: () => copy(Promise.resolve(run.outputDir), t('files.copied')) },
  ];
  // The menu is in the palette too; what a button with a key does is there already.
  useCommands(run.name, items.flatMap((item) => (item === null || item.id === 'failed' ? [] : [{ id: item.id, label: item.label, run: item.run }])));
  return <Menu trigger={<IconButton icon={EllipsisVertical} label={t('runs.menu', { name: run.name })} />} items={items} />;
}

function described(run: RunSummary, t: ReturnType<typeof useTranslation<['batch', 'app']>>['t']): string {
  const { spec } = run;
  return [
    fileName(spec.datasetFile),
    spec.rollouts > 1 ? t('run.rollouts', { count: spec.rollouts }) : null,
    spec.model,
    t('run.workers', { count: spec.numWorkers }),
    spec.seed === undefined ? null : t('run.seed', { seed: spec.seed }),
  ]
    .filter((part) => part !== null)
    .join(' · ');
}
