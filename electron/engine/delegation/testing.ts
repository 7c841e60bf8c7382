import type { Responder } from '../../../e2e/fakes/fake-model.ts';
import { say, type Step } from '../../../e2e/fakes/steps.ts';
import type { Child, Delegation } from '#shared/contract/delegations.ts';
import type { SessionSettings } from '#shared/contract/chats.ts';
import type { StoredMessage } from '#shared/trajectory.ts';
import { FAKE, openChats } from '../chat/testing.ts';
import { wholeHistory } from '../chat/history.ts';
import type { ConfigFile } from '../store/config.ts';
import type { ChildReport } from './report.ts';
import { DelegationService } from './service.ts';

/** A model by what is said to it: its answers to the last message, else to the first. What is not named is answered "done". */
export function playing(script: Record<string, Step[]>): Responder {
  return ({ prompt, lastUser, assistantTurns, turnsSinceUser }) => (script[lastUser] ? script[lastUser][turnsSinceUser] : script[prompt]?.[assistantTurns]) ?? say(`done: ${lastUser}`);
}

export type DelegationGround = Awaited<ReturnType<typeof openDelegations>>;

/** Chats with delegation on a real store in `home`, as the engine starts them; the model is the server at `baseUrl`. */
export async function openDelegations(home: string, baseUrl: string, options: { config?: (file: ConfigFile) => void; now?: () => number } = {}) {
  const opened: DelegationService[] = [];
  const t = await openChats(home, baseUrl, {
    ...options,
    extend: (parts) => {
      const service = new DelegationService(parts);
      opened.push(service);
      return [service.extension()];
    },
  });
  const delegations = opened[0]!;
  delegations.recover({ deliver: true });
  return {
    ...t,
    delegations,
    /** A new chat in a folder of its own below the home's parent; `<home>-work`. */
    chat(settings: Partial<SessionSettings> = {}): string {
      const { session } = t.chats.create({ ...FAKE, toolsets: ['terminal', 'file', 'delegation'], workspace: `${home}-work`, ...settings });
      return session.id;
    },
    /** Says something and waits for the end of the turn. */
    async say(id: string, text: string): Promise<void> {
      const { trajectoryId } = await t.chats.send({ id, text, attachments: [], whenBusy: 'queue' });
      await t.until(id, (s) => s.session.state === 'idle' && s.tip === trajectoryId && s.session.exitReason !== null);
    },
    /** What the tool `name` last answered in the chat. */
    answer(id: string, name: string): Answer {
      const message = t.messages(id).findLast((m) => m.role === 'tool' && m.toolName === name);
      if (!message) throw new Error(`No result of ${name} is stored`);
      return JSON.parse(message.content) as Answer;
    },
    history: (trajectoryId: string): StoredMessage[] => wholeHistory(t.store.db, trajectoryId),
    /** Resolves with the first state of the chat's delegations that fits. */
    async seen(id: string, fits: (items: Delegation[]) => boolean): Promise<Delegation[]> {
      const abort = new AbortController();
      try {
        for await (const { items } of delegations.watch({ sessionId: id }, abort.signal)) if (fits(items)) return items;
      } finally {
        abort.abort();
      }
      throw new Error('The delegations never came to that state');
    },
    /** All children of a chat, in order. */
    async children(id: string): Promise<Child[]> {
      return (await first(delegations.watch({ sessionId: id }))).items.flatMap((one) => one.children);
    },
    async close(): Promise<void> {
      await delegations.close();
      await t.close();
    },
  };
}

/** What a stream says at once; it is left then. */
export async function first<T>(stream: AsyncGenerator<T>): Promise<T> {
  const { value } = await stream.next();
  await stream.return(undefined);
  return value as T;
}

interface Answer {
  error?: string;
  note?: string;
  delegation_id: string;
  results: ChildReport[];
  children: { child_id: string }[];
  total_duration_seconds: number;
}
