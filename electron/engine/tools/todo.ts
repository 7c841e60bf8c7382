import { z } from 'zod';
import { TODO_STATES, type Todo } from '#shared/contract/chats.ts';
import { defineTool, ToolError } from './define.ts';
import type { ToolContext } from './types.ts';

const MAX_TODOS = 200;
const MAX_CONTENT_CHARS = 2_000;

/**
 * `todo`: the task list of the session. Without `todos` it only reads. Result: the whole list and counts, always.
 * Where no session keeps the list it lives as long as the run.
 */
export const todoTool = defineTool({
  name: 'todo',
  toolset: 'todo',
  parallel: 'never',
  description:
    'Keep a task list for work of three or more steps. Call it without arguments to read the list. Give todos to write it: they replace the list, or with merge=true change and extend it by id. ' +
    'Keep one task in_progress, and mark each as completed as soon as it is done. The answer is always the whole list.',
  parameters: z.object({
    todos: z
      .array(
        z.object({
          id: z.string().min(1).max(100).describe('Short id, unique in the list.'),
          content: z.string().max(MAX_CONTENT_CHARS).optional().describe('What is to be done. With merge=true it may be left out for a known id.'),
          status: z.enum(TODO_STATES).optional().describe('State of the task; pending when left out for a new one.'),
        }),
      )
      .max(MAX_TODOS)
      .optional()
      .describe('Tasks to write, in the order of work. Leave out to read.'),
    merge: z.boolean().default(false).describe('Change tasks by id and add new ones at the end, instead of replacing the list.'),
  }),
  run({ todos, merge }, context) {
    const store = todosOf(context);
    let list = store.read();
    if (todos) {
      list = changed(merge ? list : [], todos, list);
      store.write(list);
    }
    return Promise.resolve({ todos: list, counts: { total: list.length, ...Object.fromEntries(TODO_STATES.map((state) => [state, list.filter((todo) => todo.status === state).length])) } });
  },
});

function todosOf({ services, state }: ToolContext): { read(): readonly Todo[]; write(todos: readonly Todo[]): void } {
  return services.todos ?? { read: () => (state.get('todo') as readonly Todo[] | undefined) ?? [], write: (todos) => state.set('todo', todos) };
}

/** `base` with `changes` by id; what a change leaves out is as it was in `before`. */
function changed(base: readonly Todo[], changes: readonly { id: string; content?: string | undefined; status?: Todo['status'] | undefined }[], before: readonly Todo[]): Todo[] {
  const list = new Map(base.map((todo) => [todo.id, todo]));
  for (const { id, content, status } of changes) {
    const old = list.get(id) ?? before.find((todo) => todo.id === id);
    const text = content?.trim() || old?.content;
    if (text === undefined) throw new ToolError(`The task "${id}" is not in the list and has no content. Say what is to be done. Nothing was changed.`);
    list.set(id, { id, content: text, status: status ?? old?.status ?? 'pending' });
  }
  if (list.size > MAX_TODOS) throw new ToolError(`The list may have at most ${MAX_TODOS} tasks. Drop the finished ones. Nothing was changed.`);
  return [...list.values()];
}
