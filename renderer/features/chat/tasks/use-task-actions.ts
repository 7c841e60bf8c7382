import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { Task } from '#shared/contract/tasks.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useToasts } from '../../../ui/Toasts.tsx';
import { useTasks } from './task-feed.tsx';

export interface TaskActions {
  /** Starts one, set as the chat `like` when given. Resolves to whether it has begun; what goes wrong is said. */
  start: (prompt: string, like?: string) => Promise<boolean>;
  stop: (task: Pick<Task, 'id'>) => void;
  resume: (task: Pick<Task, 'id'>) => void;
  /** Can be undone from the toast. */
  remove: (task: Pick<Task, 'id' | 'title'>) => void;
  seen: (task: Pick<Task, 'id'>) => void;
}

export function useTaskActions(): TaskActions {
  const { t } = useTranslation(['tasks', 'app']);
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const { setOpen } = useTasks();
  return useMemo(() => {
    const failed = (error: unknown): void => void toast({ title: errorText(error), kind: 'bad' });
    return {
      start: (prompt, like) =>
        client.tasks.start({ prompt, ...(like === undefined ? {} : { like }) }).then(
          () => {
            toast({ id: 'task-started', title: t('started'), kind: 'info', action: { label: t('show'), run: () => setOpen(true) } });
            return true;
          },
          (error: unknown) => {
            failed(error);
            return false;
          },
        ),
      stop: ({ id }) => void client.tasks.stop({ id }).catch(failed),
      resume: ({ id }) => void client.tasks.resume({ id }).catch(failed),
      remove: ({ id, title }) =>
        void client.tasks.remove({ id }).then(
          () => void toast({ title: t('removed', { title: title.slice(0, 60) }), action: { label: t('app:action.undo'), run: () => void client.tasks.restore({ id }).catch(failed) } }),
          failed,
        ),
      // nobody needs to hear that a mark could not be taken away
      seen: ({ id }) => void client.tasks.seen({ id }).catch(() => undefined),
    };
  }, [client, toast, errorText, setOpen, t]);
}
