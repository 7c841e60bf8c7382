import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunSummary } from '#shared/contract/runs.ts';
import { useClient } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { useFormat } from '../../lib/i18n.ts';
import { useCloseToast, useToasts } from '../../ui/Toasts.tsx';
import { resumable } from './run-codes.ts';

export type RunVerb = 'pause' | 'resume' | 'cancel';

/** Pause, resume and cancel with their toasts; `busy` names the one being asked. Cancelling is undone by resuming. */
export function useRunActions(
  run: Pick<RunSummary, 'id' | 'name'> | undefined,
  onDone?: () => void,
): { busy: RunVerb | null; act: (verb: RunVerb) => void } {
  const { t } = useTranslation(['batch', 'app']);
  const errorText = useErrorText();
  const f = useFormat();
  const client = useClient();
  const toast = useToasts();
  const close = useCloseToast();
  const [busy, setBusy] = useState<RunVerb | null>(null);
  const act = (verb: RunVerb): void => {
    if (!run || busy) return;
    setBusy(verb);
    client.runs[verb]({ id: run.id })
      .then((after) => {
        onDone?.();
        // Its offer to resume would be stale now.
        if (verb === 'resume') close(`cancelled-${run.id}`);
        if (verb === 'cancel') {
          toast({
            id: `cancelled-${run.id}`,
            title: t('toast.cancelled', { name: run.name, count: resumable(after), shown: f.exact(resumable(after)) }),
            action: { label: t('action.resume'), run: () => act('resume') },
          });
        }
      })
      .catch((error: unknown) => toast({ title: errorText(error), kind: 'bad' }))
      .finally(() => setBusy(null));
  };
  return { busy, act };
}
