import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { RunSummary } from '#shared/contract/runs.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { useToasts } from '../../../ui/Toasts.tsx';
import { indicesOfCause } from '../use-cause-rows.ts';

/** Keeps discarded rollouts though a filter leaves them out: some, or those of one cause. The toast takes it back. */
export function useKeep(run: Pick<RunSummary, 'id'>): { keeping: boolean; keep: (which: { cause: string } | { indices: number[] }) => void } {
  const { t } = useTranslation(['batch', 'app']);
  const errorText = useErrorText();
  const f = useFormat();
  const client = useClient();
  const toast = useToasts();
  const [keeping, setKeeping] = useState(false);
  const failed = (error: unknown): void => void toast({ title: errorText(error), kind: 'bad' });
  const keep = (which: { cause: string } | { indices: number[] }): void => {
    if (keeping) return;
    setKeeping(true);
    const ask = async (): Promise<void> => {
      const indices = 'indices' in which ? which.indices : await indicesOfCause(client, run.id, { state: 'discarded', cause: which.cause });
      if (indices.length === 0) return;
      const { changed } = await client.filters.keep({ runId: run.id, indices });
      toast({
        title: t('keep.done', { count: changed, shown: f.exact(changed) }),
        kind: 'good',
        action: { label: t('keep.undo'), run: () => void client.filters.unkeep({ runId: run.id, indices }).catch(failed) },
      });
    };
    ask()
      .catch(failed)
      .finally(() => setKeeping(false));
  };
  return { keeping, keep };
}
