import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunSummary } from '#shared/contract/runs.ts';
import { useClient } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { useFormat } from '../../lib/i18n.ts';
import { useToasts } from '../../ui/Toasts.tsx';
import { indicesOfCause } from './use-cause-rows.ts';

export type Retried = 'failed' | 'discarded';

/** Makes failed or discarded rollouts run again: all of them, those of one cause, or some. */
export function useRetry(run: Pick<RunSummary, 'id' | 'states'>): { busy: boolean; retry: (what: Retried, which?: { cause: string } | { indices: number[] }) => void } {
  const { t } = useTranslation(['batch', 'app']);
  const errorText = useErrorText();
  const f = useFormat();
  const client = useClient();
  const toast = useToasts();
  const [busy, setBusy] = useState(false);
  const retry = (what: Retried, which?: { cause: string } | { indices: number[] }): void => {
    if (busy) return;
    setBusy(true);
    const ask = async (): Promise<void> => {
      const indices = which && ('indices' in which ? which.indices : await indicesOfCause(client, run.id, { state: what, cause: which.cause }));
      const count = indices?.length ?? run.states[what];
      if (count === 0) return;
      await client.runs.retry({ id: run.id, what, ...(indices ? { indices } : {}) });
      toast({ title: t('retry.started', { count, shown: f.exact(count) }), kind: 'good' });
    };
    ask()
      .catch((error: unknown) => toast({ title: errorText(error), kind: 'bad' }))
      .finally(() => setBusy(false));
  };
  return { busy, retry };
}
