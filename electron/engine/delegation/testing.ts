import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type FakeModel, type Responder, startFakeModel } from '../../../e2e/fakes/fake-model.ts';
import { say, type Step } from '../../../e2e/fakes/steps.ts';
import type { Child, Delegation } from '#shared/contract/delegations.ts';
import type { SessionSettings } from '#shared/contract/chats.ts';
import type { Task } from '#shared/contract/tasks.ts';
import type { StoredMessage } from '#shared/trajectory.ts';
import { FAKE, openChats, testHome } from '../chat/testing.ts';
import { wholeHistory } from '../chat/history.ts';
import type { ConfigFile } from '../store/config.ts';
import type { ChildReport } from './report.ts';
import { DelegationService } from './service.ts';
import { TaskService } from './tasks.ts';

/** A model by what is said to it: its answers to the last message, else to the first. What is not named is answered "done", results from the background "thanks". */
export function playing(script: Record<string, Step[]>): Responder {
  return ({ prompt, lastUser, assistantTurns, turnsSinceUser }) =>
    lastUser.includes('in the background') ? say('thanks') : ((script[lastUser] ? script[lastUser][turnsSinceUser] : script[prompt]?.[assistantTurns]) ?? say(`done: ${lastUser}`));
}

/** A model server and the folder of a home. */
export interface Place {
  fake: FakeModel;
  home: string;
  /** A file in the folder in which chats work, or that folder. */
  work: (name?: string) => string;
  plays: (script: Record<string, Step[]>) => void;
  /** Before both are gone. */
  defer: (end: () => Promise<void>) => void;
  close: () => Promise<void>;
}

export async function openPlace(): Promise<Place> {
  const fake = await startFakeModel();
  const { home, remove } = testHome();
  const ends: (() => Promise<void>)[] = [];
  const work = (name = ''): string => (name === '' ? `${home}-work` : join(`${home}-work`, name));
  return {
    fake,
    home,
    work,
    plays: (script) => fake.respond(playing(script)),
    defer: (end) => void ends.push(end),
    async close() {
      try {
        for (const end of ends.reverse()) await end();
      } finally {
        await fake.close();
        remove();
        rmSync(work(), { recursive: true, force: true });
      }
    },
  };
}

/** Runs `source` (has `home` and `url`) in a process of its own and kills that at the first line that it prints. Answers with the line. */
export async function killedAtItsLine(place: Place, source: string): Promise<string> {
  const script = `const [, home, url] = process.argv;\n${source}\nsetInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script, place.home, place.fake.url], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = once(child, 'exit');
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exit;
  };
  place.defer(kill);
  const printed = once(createInterface({ input: child.stdout }), 'line') as Promise<[string]>;
  const [line] = await Promise.race([printed, exit.then(() => Promise.reject(new Error('The process ended before it came to the point')))]);
  await kill();
  return line;
}

type Options = NonNullable<Parameters<typeof openDelegationsAt>[2]>;
type Opened = Awaited<ReturnType<typeof openDelegationsAt>>;

export interface DelegationGround extends Opened, Place {
  /** Closes it and opens it again, as a new start of the program does. */
  again: (options?: Options) => Promise<DelegationGround>;
  close: () => Promise<void>;
}

/** `openDelegationsAt` with a model server and a home of its own; what was logged as an error fails the test at the end. */
export async function openDelegations(options: Options = {}, at?: Place): Promise<DelegationGround> {
  const place = at ?? (await openPlace());
  const t = await openDelegationsAt(place.home, place.fake.url, options);
  let ended: Promise<void> | null = null;
  const end = (): Promise<void> =>
    (ended ??= t.close().then(() => {
      if (t.errors.length > 0) throw new Error(`Errors were logged:\n${t.errors.join('\n')}`);
    }));
  place.defer(end);
  return {
    ...t,
    ...place,
    async again(more) {
      await end();
      return openDelegations(more, place);
    },
  };
}

/** Chats with delegation on a real store in `home`, as the engine starts them; the model is the server at `baseUrl`. */
export async function openDelegationsAt(home: string, baseUrl: string, options: { config?: (file: ConfigFile) => void; now?: () => number } = {}) {
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
    /** Says "go" in a new chat and waits for the end of the turn. */
    async go(): Promise<string> {
      const id = this.chat();
      await this.say(id, 'go');
      return id;
    },
    /** Resolves when the chat has answered what the background brought. */
    thanked: (id: string) => t.until(id, (s) => s.session.state === 'idle' && t.messages(id).at(-1)!.content === 'thanks'),
    /** What the tool `name` last answered in the chat. */
    answer(id: string, name: string): Answer {
      const message = t.messages(id).findLast((m) => m.role === 'tool' && m.toolName === name);
      if (!message) throw new Error(`No result of ${name} is stored`);
      return JSON.parse(message.content) as Answer;
    },
    /** The messages that brought results from the background. */
    delivered: (id: string): StoredMessage[] => t.messages(id).filter((m) => m.note === 'delegation'),
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

export type TaskGround = Awaited<ReturnType<typeof openTasks>>;

/** Chats with tasks in the background. */
export async function openTasks(at?: Place) {
  const place = at ?? (await openPlace());
  const t = await openChats(place.home, place.fake.url, { config: (file) => file.change([[['prices', 'fake/*'], { input: 1, output: 2 }]]) });
  place.defer(() => t.close());
  const tasks = new TaskService({ db: t.store.db, chats: t.chats });
  /** Resolves with the first list that fits. */
  const untilTasks = async (fits: (items: Task[]) => boolean): Promise<Task[]> => {
    const abort = new AbortController();
    try {
      for await (const { items } of tasks.watch(abort.signal)) if (fits(items)) return items;
    } finally {
      abort.abort();
    }
    throw new Error('The list ended before it came to that');
  };
  return {
    ...t,
    ...place,
    tasks,
    untilTasks,
    async taskEnded(id: string): Promise<Task> {
      const items = await untilTasks((all) => all.some((task) => task.id === id && task.state !== 'running'));
      return items.find((task) => task.id === id)!;
    },
    said: (task: Task): StoredMessage[] => wholeHistory(t.store.db, task.trajectoryId!),
  };
}
