import { randomUUID } from 'node:crypto';
import type { SessionSettings } from '#shared/contract/chats.ts';
import type { Message } from '#shared/trajectory.ts';
import { getDetail, getMessages } from '../trajectories/query.ts';
import { ChatError } from './errors.ts';
import type { LiveSession } from './live-session.ts';
import { newSettings } from './new-session.ts';
import type { Rooms } from './rooms.ts';
import type { Turns } from './turns.ts';

/** Of a session, as its contract says. */
const MAX_TURNS = 1000;
const GO_ON_NOTE = 'Your work on this task was cut short here. Go on with it from where you stopped, without repeating what is done already.';

/**
 * Sessions in the background: begun by one prompt, with nobody who could be asked. They are chats in every other way, and the first
 * message of a person makes an ordinary chat of one.
 */
export class BackgroundSessions {
  readonly #rooms: Rooms;
  readonly #turns: Turns;

  constructor(rooms: Rooms, turns: Turns) {
    this.#rooms = rooms;
    this.#turns = turns;
  }

  /**
   * Begins one with a prompt; answers with its id. The prompt is stored before anything that may take time. Throws, with nothing left,
   * when its turn cannot begin.
   * @param like a session whose settings it gets, without anything that was said there; else as in a new chat
   */
  async start(prompt: string, { like, ...chosen }: { like?: string | undefined } & Partial<Pick<SessionSettings, 'provider' | 'model'>>): Promise<string> {
    const { store, feed, deps } = this.#rooms;
    if (this.#rooms.closed) throw new ChatError('unavailable', 'Talaria is closing.');
    const id = randomUUID();
    const settings = newSettings(this.#rooms, id, { ...(like === undefined ? {} : this.#rooms.session(like).settings), ...chosen }, store.lastSettings());
    deps.db.transaction(() => {
      store.create(settings, id);
      store.update(id, { background: true, queue: [{ id: randomUUID(), text: prompt.toWellFormed(), attachments: [] }] });
    });
    try {
      await this.#turns.send(id, { text: '', attachments: [] }, 'queue');
    } catch (error) {
      store.remove(id);
      this.#rooms.forget(id);
      feed.changed(id);
      throw error;
    }
    return id;
  }

  /** Goes on from what is stored: nothing that was answered is asked again. Throws ChatError: conflict when it is at work or completed. */
  resume(id: string): Promise<void> {
    const live = this.#rooms.live(id);
    return live.alone(async () => {
      const { tip, queue, settings } = this.#task(id);
      if (live.turn) throw new ChatError('conflict', 'This task is at work already.');
      if (tip === null) {
        if (queue.length === 0) throw new ChatError('conflict', 'This task has no prompt any more. Start a new one.');
        return this.#turns.startFirst(live);
      }
      const detail = getDetail(this.#rooms.deps.db, tip);
      if (!detail) throw new ChatError('not_found', 'What this task did is no longer in the store.');
      if (detail.exitReason === 'completed') throw new ChatError('conflict', 'This task was completed. Open it to say what comes next.');
      // it had all of its turns: as many again
      if (detail.turns >= settings.maxTurns) this.#rooms.store.update(id, { settings: { maxTurns: Math.min(MAX_TURNS, detail.turns + this.#rooms.deps.config.read().agent.max_turns) } });
      await this.#turns.start(live, null, 'tip', this.#goOn(live, detail.n));
    });
  }

  stop(id: string): Promise<void> {
    this.#task(id);
    return this.#turns.stop(id);
  }

  seen(id: string): void {
    this.#rooms.seen(id);
  }

  /** Runs what a person does with a session; if that succeeds, one of the background has become an ordinary chat. */
  async asChat<T>(id: string, work: () => Promise<T>): Promise<T> {
    const { store, feed, deps } = this.#rooms;
    if (!store.get(id)?.background) return work();
    // before the work: its turn is already one in which the person is there
    store.update(id, { background: false });
    try {
      return await work();
    } catch (error) {
      store.update(id, { background: true });
      throw error;
    } finally {
      feed.changed(id);
      deps.hub.listChanged();
    }
  }

  /** At work at the moment. */
  running(): number {
    return this.#rooms.all().filter((live) => live.turn !== null && this.#rooms.store.get(live.id)?.background).length;
  }

  /** What is known of it only while it runs. */
  live(id: string): Pick<LiveSession, 'turn' | 'starting' | 'activity' | 'startError'> | undefined {
    return this.#rooms.peek(id);
  }

  /** Ids of sessions that changed, whatever they are, none at first, at most 4 times a second. */
  changes(signal?: AbortSignal): AsyncGenerator<string[]> {
    return this.#rooms.feed.changes(signal);
  }

  /** A model that had the last word is asked to go on; else the conversation itself says what comes next. */
  #goOn(live: LiveSession, n: number): Message[] {
    const { deps } = this.#rooms;
    const messages = getMessages(deps.db, n, -1, Number.MAX_SAFE_INTEGER);
    const last = messages.at(-1);
    live.startError = null;
    if (last?.role !== 'assistant' || (last.toolCalls ?? []).length > 0) return [];
    return [{ role: 'user', content: GO_ON_NOTE, synthetic: true, note: 'continue', createdAt: deps.now() }];
  }

  #task(id: string): ReturnType<Rooms['session']> {
    const session = this.#rooms.session(id);
    if (!session.background) throw new ChatError('not_found', 'This is no task of the background any more: it has become a chat.');
    return session;
  }
}
