import { createContext, use, useMemo, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Task } from '#shared/contract/tasks.ts';
import { SHELL_NOTIFY } from '#shared/shell.ts';
import { TaskNews } from '#shared/task-news.ts';
import { useClient, useStream } from '../../../lib/engine-context.tsx';
import { navigate } from '../../../lib/hash-location.ts';
import { hostKind } from '../../../lib/transports.ts';
import { useToasts } from '../../../ui/Toasts.tsx';
import { isLookedAt } from '../notify.tsx';

interface Feed {
  /** Newest first; null until the engine has said. */
  items: readonly Task[] | null;
  /** The tray is open. */
  open: boolean;
  setOpen: (open: boolean) => void;
}

const FeedContext = createContext<Feed>({ items: null, open: false, setOpen: () => undefined });

/** Follows the tasks of the background once for the whole page, and says when one ends. */
export function TaskFeed({ children }: { children: ReactNode }): ReactNode {
  const { t } = useTranslation('tasks');
  const client = useClient();
  const toast = useToasts();
  const [items, setItems] = useState<readonly Task[] | null>(null);
  const [open, setOpen] = useState(false);
  const news = useRef(new TaskNews());

  const tell = async ({ id, title: own, prompt, state, error }: Task): Promise<void> => {
    // Asked for at this moment: Settings or config.yaml may have been changed elsewhere.
    const wanted = await client.preferences.get().then((preferences) => preferences.notify, () => true);
    if (!wanted || isLookedAt(id)) return;
    const title = own || prompt.slice(0, 80);
    const text = state === 'failed' && error ? error : t(`notice.${state === 'completed' || state === 'failed' ? state : 'partial'}`);
    const place = `/chat/${id}`;
    toast({ id: `task-${id}`, title, description: text, kind: state === 'completed' ? 'good' : state === 'failed' ? 'bad' : 'info', action: { label: t('open'), run: () => navigate(place) } });
    if (hostKind(document) === 'desktop') window.postMessage({ type: SHELL_NOTIFY, title, body: text, place }, window.location.origin);
  };

  useStream(
    (engine, signal) => engine.tasks.watch(undefined, { signal }),
    ({ items: now }) => {
      setItems(now);
      for (const task of news.current.of(now)) void tell(task);
    },
    [],
  );
  const feed = useMemo(() => ({ items, open, setOpen }), [items, open]);
  return <FeedContext value={feed}>{children}</FeedContext>;
}

export function useTasks(): Feed {
  return use(FeedContext);
}
