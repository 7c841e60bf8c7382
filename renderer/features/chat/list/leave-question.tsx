import { createContext, use, useMemo, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionSummary } from '#shared/contract/chats.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { ConfirmDialog } from '../../../ui/Dialog.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';

type Leaving = 'archive' | 'remove';
/** Does `go` at once, or once the person agreed that sub-agents are stopped by it. */
type Ask = (session: Pick<SessionSummary, 'id' | 'title' | 'agents'>, what: Leaving, go: () => void) => void;

const LeaveContext = createContext<Ask>((_session, _what, go) => go());

export function useLeaveQuestion(): Ask {
  return use(LeaveContext);
}

/** Asks before a chat is left whose sub-agents work: they are stopped then, and no undo brings their results back. */
export function LeaveQuestion({ children }: { children: ReactNode }): ReactNode {
  const { t } = useTranslation(['chat', 'app']);
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const [asked, setAsked] = useState<{ title: string; count: number; what: Leaving; go: () => void } | null>(null);
  // Stays while it fades out, so that its words do not change.
  const [open, setOpen] = useState(false);
  const ask = useMemo<Ask>(
    () => (session, what, go) => {
      if (!session.agents) return go();
      // The list may be behind: some may have ended since.
      client.chats.get({ id: session.id }).then(
        ({ session: { agents: count = 0 } }) => {
          if (count === 0) return go();
          setAsked({ title: session.title || t('list.untitled'), count, what, go });
          setOpen(true);
        },
        (error: unknown) => void toast({ title: errorText(error), kind: 'bad' }),
      );
    },
    [client, toast, errorText, t],
  );
  return (
    <LeaveContext value={ask}>
      {children}
      {asked && (
        <ConfirmDialog
          open={open}
          onClose={() => setOpen(false)}
          title={t(`leave.${asked.what}.title`, { title: asked.title })}
          confirm={t(`leave.${asked.what}.confirm`)}
          onConfirm={() => {
            setOpen(false);
            asked.go();
          }}
        >
          <p>{t('leave.text', { count: asked.count })}</p>
        </ConfirmDialog>
      )}
    </LeaveContext>
  );
}
