import type { Client } from '#shared/contract/index.ts';
import type { Logger } from '#engine/store/types.ts';
import { TaskNews } from '#shared/task-news.ts';
import type { EngineWork, FromEngine } from './engine-messages.ts';

export interface WorkReport {
  /** Says now what the engine works on. */
  tell(): void;
  end(): void;
}

/** Tells main what the engine works on whenever that changes, and which tasks end. */
export function reportWork(client: Client, send: (message: FromEngine) => void, log: Logger): WorkReport {
  const ended = new AbortController();
  const { signal } = ended;
  let counts = { tasks: 0, agents: 0 };

  /** The preference is read each time: config.yaml may be changed by hand. */
  const tell = async (): Promise<void> => {
    const { keepInTray } = await client.preferences.get();
    send({ type: 'work', work: { ...counts, keep: keepInTray } satisfies EngineWork });
  };
  const quietly = (work: Promise<void>): void =>
    void work.catch((error: unknown) => {
      if (!signal.aborted) log.error('What the engine works on could not be told', error);
    });

  const followStatus = async (): Promise<void> => {
    for await (const { tasksRunning, agentsActive } of await client.app.status(undefined, { signal })) {
      counts = { tasks: tasksRunning, agents: agentsActive };
      await tell();
    }
  };
  const followTasks = async (): Promise<void> => {
    const news = new TaskNews();
    for await (const { items } of await client.tasks.watch(undefined, { signal })) {
      const told = news.of(items);
      if (told.length === 0 || !(await client.preferences.get()).notify) continue;
      for (const { id, title, state, error } of told) send({ type: 'ended', task: { id, title, state, error } });
    }
  };
  quietly(followStatus());
  quietly(followTasks());
  return { tell: () => quietly(tell()), end: () => ended.abort() };
}
