import { createHash } from 'node:crypto';
import type { Todo } from '#shared/contract/chats.ts';
import { createApprover } from '../sandbox/approvals.ts';
import type { Sandbox } from '../sandbox/types.ts';
import { ToolError } from '../tools/define.ts';
import type { ApproveHook, ToolServices } from '../tools/types.ts';
import { askModel } from './ask-model.ts';
import type { ChatExtension } from './extensions.ts';
import type { LiveSession } from './live-session.ts';
import type { Rooms } from './rooms.ts';

/**
 * Asks the person in the chat; what was allowed for the session holds until it is closed. In the background there is nobody to ask: what
 * is not allowed for good is refused.
 */
export function approverOf(rooms: Rooms, live: LiveSession): ApproveHook {
  return createApprover({
    approvals: rooms.deps.approvals,
    session: live.allowed,
    ask: async ({ what, subject, reason, scope }, callId, signal) => {
      if (rooms.store.get(live.id)?.background) throw new ToolError(`Refused, nothing was done: ${reason} ${NOBODY_TO_ASK}`);
      const answer = await live.questions.ask<'approval'>({ kind: 'approval', callId, what, subject, reason, scope }, rooms.deps.now(), signal);
      return answer.choice;
    },
  });
}

const NOBODY_TO_ASK = 'This task runs in the background, where nobody can be asked. Go on without it, and say in your answer what the person has to do or allow.';

/** Which services a chat has, for deciding which tools are offered; the turn's own ones come with `turnServices`. */
export function offeredServices(rooms: Rooms, live: LiveSession, turn: Parameters<NonNullable<ChatExtension['services']>>[1] = null): ToolServices {
  const { deps, store, feed } = rooms;
  const { settings, background } = rooms.session(live.id);
  return {
    ...deps.toolServices,
    ...Object.assign({}, ...(deps.extensions ?? []).map((extension) => extension.services?.({ sessionId: live.id, settings }, turn))),
    ...(background ? {} : { ask: asker(rooms, live) }),
    todos: {
      read: () => store.get(live.id)?.todos ?? [],
      write: (todos) => {
        store.update(live.id, { todos });
        feed.changed(live.id, { list: false });
      },
    },
    searchSessions: (input) => deps.readers.run('sessions', { ...input, without: live.id }),
    vision: (image, question, signal) => look(rooms, live, image, question, signal),
    keepPicture: (bytes, mime, name) => rooms.attachments.keep(bytes, mime, name),
  };
}

function asker({ deps }: Rooms, live: LiveSession): NonNullable<ToolServices['ask']> {
  return async ({ question, choices }, callId, signal) => {
    const answer = await live.questions.ask<'clarify'>({ kind: 'clarify', callId, question, choices }, deps.now(), signal);
    return answer.text;
  };
}

/** The services of one turn: the first change of files in it makes its checkpoint. */
export function turnServices(rooms: Rooms, live: LiveSession, sandbox: Sandbox, signal: AbortSignal): ToolServices {
  let taken: Promise<void> | null = null;
  return {
    ...offeredServices(rooms, live, { sandbox, signal, trajectoryId: () => rooms.store.get(live.id)?.tip ?? null }),
    beforeChange: (reason) => (taken ??= checkpoint(rooms, live, sandbox.root, reason, signal)),
  };
}

/** The open tasks, as text that must survive compression. */
export function openTodos(todos: readonly Todo[]): string | null {
  const open = todos.filter((todo) => todo.status === 'pending' || todo.status === 'in_progress');
  return open.length === 0 ? null : open.map((todo) => `- [${todo.status === 'in_progress' ? '>' : ' '}] ${todo.content} (id ${todo.id})`).join('\n');
}

async function checkpoint(rooms: Rooms, live: LiveSession, workspace: string, reason: string, signal: AbortSignal): Promise<void> {
  if (rooms.checkpointsOff() !== null) return;
  try {
    await rooms.deps.checkpoints.take({ sessionId: live.id, workspace, reason, signal });
    live.checkpointsOff = null;
  } catch (error) {
    if (signal.aborted) return;
    live.checkpointsOff = error instanceof Error ? error.message : String(error);
    rooms.deps.log.error(`No checkpoint could be made for the chat ${live.id}`, error);
  }
  rooms.feed.changed(live.id, { list: false });
}

async function look(rooms: Rooms, live: LiveSession, image: { bytes: Uint8Array; mime: string }, question: string, signal: AbortSignal): Promise<string> {
  const { deps } = rooms;
  const { settings, tip } = rooms.session(live.id);
  const route = deps.config.read().vision.model;
  const choice = route === undefined ? { provider: settings.provider, model: settings.model } : deps.models.parse(route);
  const id = createHash('sha256').update(image.bytes).digest('hex');
  const over = deps.spend.overBudget({ sessionId: live.id });
  if (over !== null) throw new ToolError(over);
  try {
    return await askModel(rooms, {
      choice,
      purpose: 'vision',
      trajectoryId: tip,
      request: {
        messages: [{ role: 'user', content: question, attachments: [{ id, kind: 'image', name: 'picture', mime: image.mime, bytes: image.bytes.length }], createdAt: deps.now() }],
        tools: [],
        attachment: (asked) => Promise.resolve(asked === id ? image.bytes : null),
      },
      signal,
    });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new ToolError(`The picture could not be looked at: ${error instanceof Error ? error.message : String(error)}`);
  }
}
