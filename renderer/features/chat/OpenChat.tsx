import { Paperclip } from 'lucide-react';
import { useMemo, useRef, useState, type DragEvent, type ReactNode, type RefObject } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionSettings, SessionState } from '#shared/contract/chats.ts';
import { useClient } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { ErrorBoundary } from '../../ui/ErrorBoundary.tsx';
import { useToasts } from '../../ui/Toasts.tsx';
import { ExportDialog, type ExportScope } from '../library/export/ExportDialog.tsx';
import { Composer, type ComposerHandle } from './composer/Composer.tsx';
import { ModelList, ModelPicker } from './composer/ModelPicker.tsx';
import { rememberModel } from './composer/models.ts';
import { WorkspaceButton } from './composer/SessionForm.tsx';
import { ToolsMenu } from './composer/ToolsMenu.tsx';
import { Conversation, type ConversationHandle } from './conversation/Conversation.tsx';
import { HelpDialog } from './dialogs/HelpDialog.tsx';
import { RollbackDialog } from './dialogs/RollbackDialog.tsx';
import { UsageDialog } from './dialogs/UsageDialog.tsx';
import { NewChat, rememberWorkspace } from './NewChat.tsx';
import { TaskBanner } from './tasks/TaskBanner.tsx';
import type { ChatCommands } from './use-chat-commands.ts';

export interface OpenChatProps {
  state: SessionState;
  set: (state: SessionState) => void;
  commands: ChatCommands;
  composer: RefObject<ComposerHandle | null>;
  talk: RefObject<ConversationHandle | null>;
  /** The home's folder. */
  home: string;
}

/** The talk with its composer; files can be dropped anywhere on it. */
export function OpenChat({ state, set, commands, composer, talk, home }: OpenChatProps): ReactNode {
  const { t } = useTranslation('chat');
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const { id } = state.session;
  const failed = (error: unknown): void => void toast({ title: errorText(error), kind: 'bad' });
  const configure = async (change: Partial<SessionSettings>): Promise<void> => {
    await commands.configure(change);
    if (change.workspace !== undefined) rememberWorkspace(change.workspace);
  };
  const quietly = (change: Partial<SessionSettings>): void => void configure(change).catch(failed);
  const drop = useDrop((files) => composer.current?.addFiles(files));

  return (
    <div className="relative flex h-full min-h-0 flex-col" {...drop.props}>
      <div className="min-h-0 flex-1">
        <ErrorBoundary>
          {state.tip === null ? (
            <NewChat state={state} onText={(text) => composer.current?.insert(text)} onConfigure={quietly} />
          ) : (
            <Conversation
              state={state}
              trajectoryId={state.tip}
              handle={talk}
              onEdit={(seq, text, attachments) => void client.chats.edit({ id, seq, text, attachments: [...attachments] }).catch(failed)}
              onRetry={() => commands.retry()}
              onContinue={() => void (state.session.background ? client.tasks.resume({ id }) : client.chats.send({ id, text: t('goOn') })).catch(failed)}
              onFork={(seq) => commands.fork(seq)}
              onBranch={(trajectoryId) => void client.chats.branch({ id, trajectoryId }).then(set, failed)}
              onAnswer={(questionId, answer) => void client.chats.answer({ id, questionId, answer }).catch(failed)}
              onRollback={() => commands.setDialog('rollback')}
            />
          )}
        </ErrorBoundary>
      </div>
      {state.session.background && <TaskBanner />}
      <Composer key={id} state={state} handle={composer} onCommand={commands.run} onStop={commands.stop}>
        <ModelPicker settings={state.settings} onChange={quietly} open={commands.menu === 'model'} onOpenChange={(open) => commands.setMenu(open ? 'model' : null)} />
        <ToolsMenu settings={state.settings} onChange={quietly} open={commands.menu === 'tools'} onOpenChange={(open) => commands.setMenu(open ? 'tools' : null)} />
        <WorkspaceButton settings={state.settings} home={home} onChange={configure} />
      </Composer>
      {drop.over && (
        <div className="pointer-events-none absolute inset-2 z-30 grid place-content-center justify-items-center gap-2 rounded-l border-2 border-dashed border-accent bg-bg/90 text-accent">
          <Paperclip className="size-6" aria-hidden="true" />
          {t('attach.drop')}
        </div>
      )}
      <Dialogs state={state} commands={commands} />
    </div>
  );
}

/** Drop of files; text that is dragged goes where it always goes. */
function useDrop(onFiles: (files: File[]) => void): { over: boolean; props: Record<'onDragEnter' | 'onDragOver' | 'onDragLeave' | 'onDrop', (e: DragEvent) => void> } {
  const [over, setOver] = useState(false);
  const depth = useRef(0);
  const hasFiles = (e: DragEvent): boolean => e.dataTransfer.types.includes('Files');
  const leave = (): void => {
    depth.current = 0;
    setOver(false);
  };
  return {
    over,
    props: {
      onDragEnter(e) {
        if (!hasFiles(e)) return;
        depth.current += 1;
        setOver(true);
      },
      onDragOver: (e) => hasFiles(e) && e.preventDefault(),
      onDragLeave(e) {
        if (!hasFiles(e)) return;
        depth.current -= 1;
        if (depth.current <= 0) leave();
      },
      onDrop(e) {
        if (!hasFiles(e)) return;
        e.preventDefault();
        leave();
        onFiles([...e.dataTransfer.files]);
      },
    },
  };
}

function Dialogs({ state, commands }: { state: SessionState; commands: ChatCommands }): ReactNode {
  const { t } = useTranslation('chat');
  const close = (): void => commands.setDialog(null);
  const scope = useScope(state, commands.dialog === 'exportAll');
  switch (commands.dialog) {
    case 'usage':
      return <UsageDialog state={state} onClose={close} />;
    case 'help':
      return <HelpDialog onClose={close} />;
    case 'rollback':
      return <RollbackDialog id={state.session.id} onClose={close} />;
    case 'export':
    case 'exportAll':
      return scope.count === 0 ? null : <ExportDialog scope={scope} onClose={close} />;
    case 'retry':
      return (
        <Dialog open onClose={close} title={t('bar.retryWith')} width="sm">
          <ModelList
            current={null}
            onPick={(choice) => {
              rememberModel(choice);
              commands.retry(choice);
              close();
            }}
          />
        </Dialog>
      );
    case null:
      return null;
  }
}

/** What an export of this chat means; the same object while it means the same, since the export is worked out anew for each. */
function useScope(state: SessionState, all: boolean): ExportScope {
  const ids = all ? state.branches.map((b) => b.trajectoryId) : state.tip === null ? [] : [state.tip];
  const key = ids.join();
  const { title } = state.session;
  return useMemo(() => {
    const list = key === '' ? [] : key.split(',');
    return { filter: {}, selection: { mode: 'some', ids: new Set(list) }, count: list.length, runName: title || null };
  }, [key, title]);
}
