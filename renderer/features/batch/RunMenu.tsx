import { CirclePause, CirclePlay, CircleX, CopyPlus, EllipsisVertical, Minimize2, Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunSummary } from '#shared/contract/runs.ts';
import { useClient } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { navigate } from '../../lib/hash-location.ts';
import { useFormat } from '../../lib/i18n.ts';
import { IconButton } from '../../ui/Button.tsx';
import { ConfirmDialog } from '../../ui/Dialog.tsx';
import { Menu, type MenuItem } from '../../ui/Menu.tsx';
import { useToasts } from '../../ui/Toasts.tsx';
import { CompressDialog } from '../library/compress/CompressDialog.tsx';
import { BudgetDialog } from './change/BudgetDialog.tsx';
import { useRunActions } from './run-actions.tsx';
import { actionsOf, doneCount, keptCount, overBudget } from './run-codes.ts';

/** What can be done with a run in the list. */
export function RunMenu({ run, onChanged }: { run: RunSummary; onChanged: () => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app', 'library']);
  const errorText = useErrorText();
  const f = useFormat();
  const client = useClient();
  const toast = useToasts();
  const { act } = useRunActions(run, onChanged);
  const [asking, setAsking] = useState(false);
  const [raising, setRaising] = useState(false);
  const [compressing, setCompressing] = useState(false);
  const [busy, setBusy] = useState(false);
  const can = actionsOf(run);
  const remove = (): void => {
    setBusy(true);
    client.runs
      .remove({ id: run.id })
      .then(({ removed }) => toast({ title: t('toast.removed', { name: run.name, count: removed }), kind: 'good' }))
      .catch((error: unknown) => toast({ title: errorText(error), kind: 'bad' }))
      .finally(() => {
        setBusy(false);
        setAsking(false);
        onChanged();
      });
  };
  const items: (MenuItem | null)[] = [
    ...(can.pause ? [{ id: 'pause', label: t('action.pause'), icon: CirclePause, run: () => act('pause') }] : []),
    ...(can.resume ? [{ id: 'resume', label: t('action.resume'), icon: CirclePlay, run: () => (overBudget(run) ? setRaising(true) : act('resume')) }] : []),
    ...(can.cancel ? [{ id: 'cancel', label: t('action.cancel'), icon: CircleX, run: () => act('cancel') }] : []),
    { id: 'again', label: t('action.again'), icon: CopyPlus, run: () => navigate(`/batch/new?from=${encodeURIComponent(run.id)}`) },
    ...(run.state === 'running' || keptCount(run) === 0 ? [] : [{ id: 'compress', label: t('library:compress.button'), icon: Minimize2, run: () => setCompressing(true) }]),
    ...(can.remove ? [null, { id: 'remove', label: t('action.remove'), icon: Trash2, danger: true, run: () => setAsking(true) }] : []),
  ];
  return (
    <>
      <Menu trigger={<IconButton icon={EllipsisVertical} label={t('runs.menu', { name: run.name })} size="sm" />} items={items} />
      {compressing && <CompressDialog name={run.name} source={{ kind: 'run', id: run.id }} onClose={() => setCompressing(false)} />}
      <BudgetDialog run={run} open={raising} onClose={() => { setRaising(false); onChanged(); }} />
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={t('remove.title', { name: run.name })}
        confirm={t('remove.confirm')}
        typeName={run.name}
        busy={busy}
        onConfirm={remove}
      >
        <p>{t('remove.text', { count: doneCount(run), shown: f.exact(doneCount(run)) })}</p>
      </ConfirmDialog>
    </>
  );
}
