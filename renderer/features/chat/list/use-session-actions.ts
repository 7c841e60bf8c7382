import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionSummary } from '#shared/contract/chats.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useToasts } from '../../../ui/Toasts.tsx';
import { useLeaveQuestion } from './leave-question.tsx';

export interface SessionActions {
  rename: (session: Pick<SessionSummary, 'id' | 'title'>, title: string) => void;
  pin: (session: Pick<SessionSummary, 'id' | 'pinned'>) => void;
  /** Asks first when sub-agents would be stopped by it. @param leaving called when it really happens */
  archive: (session: Pick<SessionSummary, 'id' | 'title' | 'archived' | 'agents'>, leaving?: () => void) => void;
  /** As `archive`, with a way back in a toast. */
  remove: (session: Pick<SessionSummary, 'id' | 'title' | 'agents'>, leaving?: () => void) => void;
}

/** What can be done with a chat without opening it. Failures are told in a toast. */
export function useSessionActions(): SessionActions {
  const { t } = useTranslation(['chat', 'app']);
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const ask = useLeaveQuestion();
  return useMemo(() => {
    const failed = (error: unknown): void => void toast({ title: errorText(error), kind: 'bad' });
    const nameOf = (title: string): string => title || t('list.untitled');
    return {
      rename(session, title) {
        if (title.trim() !== '' && title.trim() !== session.title) client.chats.rename({ id: session.id, title: title.trim().slice(0, 200) }).catch(failed);
      },
      pin: (session) => void client.chats.mark({ id: session.id, pinned: !session.pinned }).catch(failed),
      archive: (session, leaving) => {
        const archived = !session.archived;
        const go = (): void => {
          leaving?.();
          client.chats.mark({ id: session.id, archived }).then(
            () =>
              toast({
                title: t(archived ? 'list.archived' : 'list.unarchived', { title: nameOf(session.title) }),
                action: { label: t('app:action.undo'), run: () => void client.chats.mark({ id: session.id, archived: !archived }).catch(failed) },
              }),
            failed,
          );
        };
        if (archived) ask(session, 'archive', go);
        else go();
      },
      remove: (session, leaving) =>
        ask(session, 'remove', () => {
          leaving?.();
          client.chats.remove({ id: session.id }).then(
            () =>
              toast({
                title: t('list.removed', { title: nameOf(session.title) }),
                action: { label: t('app:action.undo'), run: () => void client.chats.restore({ id: session.id }).catch(failed) },
              }),
            failed,
          );
        }),
    };
  }, [client, toast, errorText, ask, t]);
}
