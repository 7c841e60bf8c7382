import { createContext, use, type ReactNode } from 'react';
import type { StoreApi } from 'zustand/vanilla';
import type { Answer, Question } from '#shared/contract/chats.ts';
import type { Attachment, StoredMessage } from '#shared/trajectory.ts';
import type { Fork } from './branches.ts';
import type { ChatTranscript } from './chat-transcript.ts';

/** A message that is being said anew; it outlives its row, which disappears when it is scrolled away. */
export interface Editing {
  seq: number;
  text: string;
}

/** What people can do in a conversation. */
export interface TalkActions {
  copy: (text: string) => void;
  copyMessage: (message: StoredMessage) => void;
  edit: (seq: number, text: string, attachments: readonly Attachment[]) => void;
  retry: () => void;
  goOn: () => void;
  fork: (seq: number) => void;
  branch: (trajectoryId: string) => void;
  answer: (questionId: string, answer: Answer) => void;
  rollback: () => void;
}

/** What the rows of a conversation share. */
export interface Talk {
  transcript: ChatTranscript;
  actions: TalkActions;
  editing: StoreApi<{ editing: Editing | null }>;
  /** The agent works or asks. */
  busy: boolean;
  question: Question | null;
  /** The assistant message whose calls are being worked on; -1 when there is none. */
  openSeq: number;
  /** The newest answer. */
  lastAnswer: number;
  /** Forks by the key of the row they are shown at. */
  forks: ReadonlyMap<string, Fork>;
  /** The message one has moved to by keys; -1 before that. */
  current: number;
}

const TalkContext = createContext<Talk | null>(null);

export function TalkProvider({ value, children }: { value: Talk; children: ReactNode }): ReactNode {
  return <TalkContext value={value}>{children}</TalkContext>;
}

export function useTalk(): Talk {
  const value = use(TalkContext);
  if (!value) throw new Error('TalkProvider is missing.');
  return value;
}
