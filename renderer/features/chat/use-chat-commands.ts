import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { SessionSettings, SessionState } from '#shared/contract/chats.ts';
import { useClient } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { navigate } from '../../lib/hash-location.ts';
import { useToasts } from '../../ui/Toasts.tsx';
import { useLearn } from '../reviews/use-learn.ts';
import type { SlashName } from './commands/slash.ts';
import type { ComposerHandle } from './composer/Composer.tsx';
import { allModels, modelNamed, rememberModel } from './composer/models.ts';
import { useSessionActions } from './list/use-session-actions.ts';
import { openNewChat } from './new-chat.ts';
import { useTaskActions } from './tasks/use-task-actions.ts';

export type ChatDialog = 'usage' | 'help' | 'rollback' | 'export' | 'exportAll' | 'retry';
export type ChatMenu = 'model' | 'tools';

export interface ChatCommands {
  run: (name: SlashName, args: string) => void;
  dialog: ChatDialog | null;
  setDialog: (dialog: ChatDialog | null) => void;
  menu: ChatMenu | null;
  setMenu: (menu: ChatMenu | null) => void;
  configure: (change: Partial<SessionSettings>) => Promise<void>;
  stop: () => void;
  fork: (seq?: number) => void;
  retry: (choice?: { provider: string; model: string }) => void;
  compress: (focus?: string) => void;
}

/** Everything that can be done with the open chat, by command, key or button. @param state null while it is on its way */
export function useChatCommands(id: string, state: SessionState | null, set: (state: SessionState) => void, composer: { current: ComposerHandle | null }, asMarkdown: () => Promise<string>): ChatCommands {
  const { t } = useTranslation(['chat', 'app', 'tasks']);
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const actions = useSessionActions();
  const learn = useLearn();
  const tasks = useTaskActions();
  const [dialog, setDialog] = useState<ChatDialog | null>(null);
  const [menu, setMenu] = useState<ChatMenu | null>(null);
  const session = state?.session ?? null;
  const toolsets = state?.settings.toolsets;

  return useMemo(() => {
    const failed = (error: unknown): void => void toast({ title: errorText(error), kind: 'bad' });
    const configure = async (change: Partial<SessionSettings>): Promise<void> => set(await client.chats.configure({ id, settings: change }));
    const stop = (): void => void client.chats.stop({ id }).then(set, failed);
    const fork = (seq?: number): void => void client.chats.fork({ id, ...(seq === undefined ? {} : { seq }) }).then((made) => navigate(`/chat/${made.session.id}`), failed);
    const retry = (choice?: { provider: string; model: string }): void => void client.chats.retry({ id, ...choice }).catch(failed);
    const compress = (focus?: string): void =>
      void client.chats.compress({ id, ...(focus ? { focus: focus.slice(0, 2000) } : {}) }).then(({ message }) => void toast({ title: message, kind: 'info' }), failed);
    const withModel = (word: string, then: (choice: { provider: string; model: string }) => void): void => {
      allModels(client, new AbortController().signal).then((all) => {
        const choice = modelNamed(word, all);
        if (!choice) return void toast({ title: t('model.notOne', { word }), kind: 'bad', action: { label: t('model.choose'), run: () => setMenu('model') } });
        rememberModel(choice);
        then(choice);
      }, failed);
    };

    const run = (name: SlashName, args: string): void => {
      switch (name) {
        case 'new':
          return void openNewChat(client, args ? { text: args } : {}).catch(failed);
        case 'background':
          if (args === '') return void toast({ title: t('tasks:needsPrompt'), kind: 'bad' });
          return void tasks.start(args, id).then((begun) => begun || composer.current?.insert(`/background ${args}`));
        case 'model':
          if (args === '') return setMenu('model');
          return withModel(args, (choice) => void configure(choice).then(() => void toast({ title: t('model.now', { model: choice.model }), kind: 'good' }), failed));
        case 'tools': {
          const [verb, toolset] = args.split(/\s+/);
          if (!toolset || (verb !== 'enable' && verb !== 'disable')) return setMenu('tools');
          const rest = (toolsets ?? []).filter((other) => other !== toolset);
          return void configure({ toolsets: verb === 'enable' ? [...rest, toolset] : rest }).then(() => void toast({ title: t('tools.now', { names: (verb === 'enable' ? [...rest, toolset] : rest).join(', ') || t('tools.none') }), kind: 'good' }), failed);
        }
        case 'compress':
          return compress(args);
        case 'review':
          return learn({ sessionId: id, ...(args === '' ? {} : { focus: args.slice(0, 2000) }) });
        case 'undo':
          return void client.chats.undo({ id }).then((said) => composer.current?.insert(said.text, said.attachments), failed);
        case 'retry':
          return args === '' ? retry() : withModel(args, retry);
        case 'stop':
          return stop();
        case 'title':
          return session && args !== '' ? actions.rename(session, args) : undefined;
        case 'fork':
          return fork();
        case 'copy':
          return void asMarkdown().then((text) => navigator.clipboard.writeText(text)).then(() => void toast({ title: t('app:action.copied'), kind: 'good' }), () => void toast({ title: t('app:action.copyFailed'), kind: 'bad' }));
        case 'archive':
          return session ? actions.archive(session, () => navigate('/chat', { replace: true })) : undefined;
        case 'export':
          return setDialog(/^all$/i.test(args) ? 'exportAll' : 'export');
        case 'usage':
        case 'rollback':
        case 'help':
          return setDialog(name);
        case 'clear':
          // The composer was emptied when the command was taken.
          return;
      }
    };
    return { run, dialog, setDialog, menu, setMenu, configure, stop, fork, retry, compress };
  }, [client, toast, errorText, actions, learn, tasks, dialog, menu, session, id, toolsets, set, composer, asMarkdown, t]);
}
