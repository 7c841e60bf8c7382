import type { ShellNotice } from '#shared/shell.ts';
import type { EndedTask } from './engine-messages.ts';
import type { Words } from './strings.ts';

const TITLE_CHARS = 100;
const BODY_CHARS = 300;

/** A notice as main takes it from the page; null when it is none. Texts come from models: they are cut, and the place can only be a chat. */
export function readNotice(data: unknown): ShellNotice | null {
  if (typeof data !== 'object' || data === null) return null;
  const { title, body, place } = data as Record<string, unknown>;
  if (typeof title !== 'string' || typeof body !== 'string' || typeof place !== 'string') return null;
  if (!/^\/chat\/[\w-]{1,64}$/.test(place)) return null;
  return { title: title.slice(0, TITLE_CHARS), body: body.slice(0, BODY_CHARS), place };
}

/** What is said of a task that ended while no window was open. */
export function endedNotice({ id, title, state, error }: EndedTask, words: Words): ShellNotice {
  const said = { completed: words.taskCompleted, partial: words.taskPartial, failed: error ?? words.taskFailed, running: words.task, interrupted: words.taskPartial }[state];
  return { title: (title || words.task).slice(0, TITLE_CHARS), body: said.slice(0, BODY_CHARS), place: `/chat/${id}` };
}
