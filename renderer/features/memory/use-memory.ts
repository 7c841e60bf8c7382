import { useTranslation } from 'react-i18next';
import type { MemoryChange, MemoryOperation, MemoryStore, MemoryTarget } from '#shared/contract/memory.ts';
import { type Loaded, useClient, useLoad, useStream } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { useToasts } from '../../ui/Toasts.tsx';

const HISTORY_ITEMS = 100;

export interface MemoryData {
  enabled: boolean;
  stores: MemoryStore[];
  history: MemoryChange[];
}

/** Both files with their history, kept fresh: asked again whenever the engine says that something changed, also by another program. */
export function useMemory(): Loaded<MemoryData> {
  const memory = useLoad(
    async (client, signal): Promise<MemoryData> => {
      const [now, history] = await Promise.all([client.memory.get(undefined, { signal }), client.memory.history({ limit: HISTORY_ITEMS }, { signal })]);
      return { ...now, history: history.items };
    },
    [],
  );
  useStream((client, signal) => client.memory.changes(undefined, { signal }), () => memory.reload(), []);
  return memory;
}

export interface MemoryActions {
  /** Null when it was done, else why not, a sentence. */
  save: (target: MemoryTarget, operations: MemoryOperation[]) => Promise<string | null>;
  /** Takes entries out, with a way back in the toast. */
  remove: (entries: readonly { target: MemoryTarget; text: string }[]) => Promise<boolean>;
  undo: (changeIds: readonly number[]) => Promise<void>;
}

export function useMemoryActions(reload: () => void): MemoryActions {
  const { t } = useTranslation(['memory', 'app']);
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const undo = async (changeIds: readonly number[]): Promise<void> => {
    try {
      // the newest first: an older one may stand below it
      for (const changeId of changeIds.toReversed()) await client.memory.undo({ changeId });
    } catch (error) {
      toast({ title: errorText(error), kind: 'bad' });
    }
    reload();
  };
  return {
    async save(target, operations) {
      try {
        await client.memory.apply({ target, operations });
        reload();
        return null;
      } catch (error) {
        return errorText(error);
      }
    },
    async remove(entries) {
      const changeIds: number[] = [];
      try {
        for (const target of new Set(entries.map((entry) => entry.target))) {
          const operations = entries.filter((entry) => entry.target === target).map((entry) => ({ op: 'remove' as const, old: entry.text }));
          const { changeId } = await client.memory.apply({ target, operations });
          if (changeId !== null) changeIds.push(changeId);
        }
      } catch (error) {
        toast({ title: errorText(error), kind: 'bad' });
      }
      reload();
      if (changeIds.length === 0) return false;
      toast({ title: t('removed', { count: entries.length }), kind: 'good', action: { label: t('app:action.undo'), run: () => void undo(changeIds) } });
      return true;
    },
    undo,
  };
}
