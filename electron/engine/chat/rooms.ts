import { join } from 'node:path';
import type { Message } from '#shared/trajectory.ts';
import { Attachments } from './attachments.ts';
import { ChatError } from './errors.ts';
import type { ChatDeps } from './deps.ts';
import { SessionFeed } from './feed.ts';
import type { ChatExtension } from './extensions.ts';
import { LiveSession } from './live-session.ts';
import { type SessionRecord, SessionStore } from './session-store.ts';
import { Workspaces } from './workspaces.ts';

/** What the parts of the chat service share. */
export class Rooms {
  readonly deps: ChatDeps;
  readonly store: SessionStore;
  readonly feed = new SessionFeed();
  readonly attachments: Attachments;
  readonly workspaces: Workspaces;
  readonly #live = new Map<string, LiveSession>();
  readonly #background = new Set<Promise<void>>();
  /** What this machine lacks for checkpoints; null when nothing. */
  checkpointsMissing: string | null = null;
  /** From then on no turn begins. */
  closed = false;

  constructor(deps: ChatDeps) {
    this.deps = deps;
    this.store = new SessionStore(deps.db, deps.now);
    this.attachments = new Attachments(join(deps.home.root, 'attachments'), deps.now);
    this.workspaces = new Workspaces(deps, { changed: (id) => this.feed.changed(id, { list: false }), busy: (id) => this.peek(id)?.turn != null });
  }

  /** A session that is not deleted. Throws ChatError not_found. */
  session(id: string): SessionRecord {
    const session = this.store.get(id);
    if (!session || session.deletedAt !== null) throw new ChatError('not_found', 'This chat is no longer in the store.');
    return session;
  }

  live(id: string): LiveSession {
    let live = this.#live.get(id);
    if (!live) {
      live = new LiveSession(id, () => this.#asked(id));
      this.#live.set(id, live);
    }
    return live;
  }

  /** The live part when there is one: lists must not make one for each row. */
  peek(id: string): LiveSession | undefined {
    return this.#live.get(id);
  }

  forget(id: string): void {
    this.#live.delete(id);
  }

  all(): LiveSession[] {
    return [...this.#live.values()];
  }

  /** Tells the extensions something, each for itself: one that throws is logged, and the others are told all the same. */
  tell<K extends 'turnBegins' | 'stored' | 'turnEnded' | 'left'>(what: K, ...args: Parameters<NonNullable<ChatExtension[K]>>): void {
    for (const extension of this.deps.extensions ?? []) {
      try {
        (extension[what] as ((...a: typeof args) => void) | undefined)?.call(extension, ...args);
      } catch (error) {
        this.deps.log.error(`An addition to chats failed (${what})`, error);
      }
    }
  }

  /** Whether one of the extensions says so; one that fails is logged and does not. */
  anyOf(ask: (extension: ChatExtension) => boolean): boolean {
    return (this.deps.extensions ?? []).some((extension) => {
      try {
        return ask(extension);
      } catch (error) {
        this.deps.log.error('An addition to chats failed', error);
        return false;
      }
    });
  }

  /** Asks the extensions one after the other; one that fails is logged and counts as having answered nothing. */
  async gather<T>(ask: (extension: ChatExtension) => Promise<T> | undefined): Promise<T[]> {
    const answers: T[] = [];
    for (const extension of this.deps.extensions ?? []) {
      try {
        const answer = await ask(extension);
        if (answer !== undefined) answers.push(answer);
      } catch (error) {
        this.deps.log.error('An addition to chats failed', error);
      }
    }
    return answers;
  }

  /** The result that stands for a lost one, as somebody knows it after all. */
  foundAgain(trajectoryId: string, { synthetic, ...lost }: Message): Message {
    for (const extension of this.deps.extensions ?? []) {
      try {
        const content = extension.resultOf?.(trajectoryId, lost.toolCallId ?? '') ?? null;
        if (content !== null) return { ...lost, content, isError: false };
      } catch (error) {
        this.deps.log.error('An addition to chats failed (resultOf)', error);
      }
    }
    return { ...lost, ...(synthetic ? { synthetic } : {}) };
  }

  /** Runs work that nobody waits for but the closing engine. A failure is logged. */
  inBackground(work: () => Promise<void>, failed: string): void {
    const running = work().catch((error: unknown) => this.deps.log.error(failed, error));
    this.#background.add(running);
    void running.then(() => this.#background.delete(running));
  }

  async settled(): Promise<void> {
    await Promise.all(this.#background);
  }

  /** Marks the session for people who are not looking at it. */
  needsEyes(id: string): void {
    if (!this.feed.watched(id)) this.store.update(id, { unread: true });
    this.feed.changed(id);
    this.deps.hub.listChanged();
  }

  seen(id: string): void {
    if (!this.session(id).unread) return;
    this.store.update(id, { unread: false });
    this.feed.changed(id);
    this.deps.hub.listChanged();
  }

  /** Why there are no checkpoints at all; null when there are. */
  checkpointsOff(): string | null {
    if (!this.deps.config.read().chat.checkpoints) return 'Checkpoints are switched off (chat.checkpoints in config.yaml).';
    return this.checkpointsMissing;
  }

  #asked(id: string): void {
    if (this.peek(id)?.questions.current) this.needsEyes(id);
    else {
      this.feed.changed(id);
      this.deps.hub.listChanged();
    }
  }
}
