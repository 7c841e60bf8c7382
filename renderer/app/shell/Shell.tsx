import type { ReactNode } from 'react';
import { ChatFeed } from '../../features/chat/feed.tsx';
import { ChatNotices } from '../../features/chat/notify.tsx';
import { TaskFeed } from '../../features/chat/tasks/task-feed.tsx';
import { TitleMark } from '../../ui/Screen.tsx';
import { Routes } from '../routes.tsx';
import { EngineBanner } from './EngineBanner.tsx';
import { KeysSheet } from './KeysSheet.tsx';
import { Palette } from './Palette.tsx';
import { Rail } from './Rail.tsx';
import { useShellCommands } from './shell-commands.tsx';
import { StatusLine } from './StatusLine.tsx';
import { useAppStatus } from './use-app-status.ts';
import { useKeptFocus } from './use-kept-focus.ts';

/** Rail, the visible screen, status line, and what lies over them. */
export function Shell(): ReactNode {
  const status = useAppStatus();
  const { palette, sheet } = useShellCommands();
  useKeptFocus();
  return (
    <ChatFeed>
      <TaskFeed>
      <TitleMark value={(status?.chatsWaiting ?? 0) + (status?.tasksUnread ?? 0)}>
        <div className="grid h-dvh grid-cols-[var(--rail)_minmax(0,1fr)] grid-rows-[minmax(0,1fr)_var(--status)] overflow-hidden">
          <Rail status={status} />
          <div className="grid min-h-0 min-w-0 grid-rows-[auto_minmax(0,1fr)]">
            <EngineBanner />
            <div className="row-start-2 min-h-0">
              <Routes />
            </div>
          </div>
          <StatusLine status={status} onKeys={sheet.show} />
          <Palette open={palette.open} onClose={palette.hide} />
          <KeysSheet open={sheet.open} onClose={sheet.hide} />
          <ChatNotices />
        </div>
      </TitleMark>
      </TaskFeed>
    </ChatFeed>
  );
}
