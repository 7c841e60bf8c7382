import type { Client } from '#shared/contract/index.ts';
import { navigate } from '../../lib/hash-location.ts';
import { readRemembered, remember } from '../../lib/remembered.ts';
import { isEmpty } from './list/sessions.ts';

const UNUSED = 'chat.unused';
const LAST = 'chat.last';

/** The chat that was open last in this browser. */
export const lastChat = (): string | null => readRemembered(LAST);
export const rememberChat = (id: string): void => remember(LAST, id);

/**
 * Opens a new chat. One that was opened and never used is taken again, so that looking around leaves no empty sessions behind.
 * @param text goes into its composer
 */
export async function openNewChat(client: Client, options: { text?: string; replace?: boolean; workspace?: string } = {}): Promise<string> {
  const id = await unusedChat(client, options.workspace);
  remember(UNUSED, id);
  if (options.text) await client.chats.draft({ id, text: options.text, attachments: [] });
  navigate(`/chat/${id}`, options.replace ? { replace: true } : {});
  return id;
}

/** A chat is used now: the next new one is another. */
export function noteUsed(id: string): void {
  if (readRemembered(UNUSED) === id) remember(UNUSED, '');
}

async function unusedChat(client: Client, workspace: string | undefined): Promise<string> {
  const kept = readRemembered(UNUSED);
  if (kept && workspace === undefined) {
    try {
      const { session } = await client.chats.get({ id: kept });
      if (isEmpty(session) && !session.archived) return kept;
    } catch {
      // Gone: another one is made.
    }
  }
  const { session } = await client.chats.create(workspace === undefined ? {} : { workspace });
  return session.id;
}
