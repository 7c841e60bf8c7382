import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunSummary } from '#shared/contract/runs.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Field } from '../../../ui/Field.tsx';
import { Input } from '../../../ui/Input.tsx';

/** A run that has spent its budget goes on with a larger one, or without. */
export function BudgetDialog({ run, open, onClose }: { run: RunSummary; open: boolean; onClose: () => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const errorText = useErrorText();
  const client = useClient();
  /** Null until something is typed. */
  const [typed, setTyped] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  // Calls that were going on when it was reached may have spent more than it.
  const suggested = Number((Math.max(run.spec.budgetUsd ?? 0, run.costUsd) * 2).toPrecision(2));
  useEffect(() => {
    if (open) return;
    setTyped(null);
    setError(null);
  }, [open]);
  const text = typed ?? String(suggested);
  const budget = Number(text.trim().replace(',', '.'));
  const enough = Number.isFinite(budget) && budget > run.costUsd;
  const resume = (budgetUsd: number | null): void => {
    setBusy(true);
    client.runs
      .resume({ id: run.id, budgetUsd })
      .then(onClose, (e: unknown) => setError(errorText(e)))
      .finally(() => setBusy(false));
  };
  return (
    <Dialog
      open={open}
      onClose={onClose}
      width="sm"
      title={t('budget.title')}
      footer={
        <>
          <Button variant="ghost" disabled={busy} onClick={() => resume(null)}>
            {t('budget.none')}
          </Button>
          <Button variant="primary" disabled={!enough} busy={busy} onClick={() => resume(budget)}>
            {enough ? t('budget.resume', { budget: f.money(budget) }) : t('action.resume')}
          </Button>
        </>
      }
    >
      <Field label={t('budget.label')} hint={t('budget.spent', { cost: f.money(run.costUsd) })} error={error ?? (text.trim() !== '' && !enough ? t('budget.tooLow', { cost: f.money(run.costUsd) }) : null)}>
        {(props) => (
          <Input
            {...props}
            className="num"
            inputMode="decimal"
            value={text}
            onChange={(e) => setTyped(e.target.value)}
            onKeyDown={(e) => e.key === 'Enter' && enough && !busy && resume(budget)}
          />
        )}
      </Field>
    </Dialog>
  );
}
