import type { Task } from './contract/tasks.ts';

/** Which tasks ended since the last list. Those that had ended before the first one are no news, and neither are those that a person stopped. */
export class TaskNews {
  #known: Set<string> | null = null;

  /** @param items the whole list, as it is now */
  of(items: readonly Task[]): Task[] {
    const ended = items.filter((task) => task.endedAt !== null);
    const known = this.#known;
    const news = known === null ? [] : ended.filter((task) => !known.has(key(task)) && task.state !== 'interrupted');
    this.#known = new Set([...(known ?? []), ...ended.map(key)]);
    return news;
  }
}

/** One end of a task: it may go on and end again. */
function key({ id, endedAt }: Task): string {
  return `${id} ${endedAt}`;
}
