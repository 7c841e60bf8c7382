import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { chatsContract, Checkpoint, SessionState, SessionSummary } from '#shared/contract/chats.ts';
import type { Attachment, Message } from '#shared/trajectory.ts';
import { CheckpointError, type CheckpointDiff } from '../sandbox/checkpoints.ts';
import { BackgroundSessions } from './background.ts';
import { Branches } from './branches.ts';
import { compressNow, type Compressed } from './compression.ts';
import type { ChatDeps } from './deps.ts';
import { ChatError } from './errors.ts';
import { listSessions } from './list.ts';
import { measuredMeter } from './measured.ts';
import { checkSettings, newSettings } from './new-session.ts';
import { Rooms } from './rooms.ts';
import { stateOf, summaryOf } from './state.ts';
import { Titles } from './titles.ts';
import { Turns } from './turns.ts';
import { ownWorkspace, tidy } from './upkeep.ts';

type Contract = typeof chatsContract;
type Input<K extends keyof Contract> = NonNullable<Contract[K]['~orpc']['inputSchema']> extends z.ZodType<infer T> ? T : never;
type Nothing = Record<never, never>;

/** Chats: sessions, their turns, what is shown of them. One method for each procedure of the contract; expected failures are ChatErrors. */
export class ChatService {
  readonly #rooms: Rooms;
  readonly #titles: Titles;
  readonly #turns: Turns;
  readonly #branches: Branches;
  /** Tasks: sessions without a person. */
  readonly background: BackgroundSessions;

  constructor(deps: ChatDeps) {
    this.#rooms = new Rooms(deps);
    this.#titles = new Titles(this.#rooms);
    this.#turns = new Turns(this.#rooms, this.#titles);
    this.#branches = new Branches(this.#rooms, this.#turns);
    this.background = new BackgroundSessions(this.#rooms, this.#turns);
  }

  /** Call once after the home was acquired and trajectories were recovered. */
  async recover(): Promise<void> {
    await tidy(this.#rooms);
    this.#rooms.checkpointsMissing = await this.#rooms.deps.checkpoints.available();
  }

  async list(input: Input<'list'>): Promise<{ items: SessionSummary[]; more: boolean }> {
    const { deps } = this.#rooms;
    const { rows, more } = input.query?.trim() ? await deps.readers.run('chats', input) : listSessions(deps.db, input);
    return { items: rows.map((row) => summaryOf(row, this.#rooms.peek(row.id))), more };
  }

  async *changes(signal?: AbortSignal): AsyncGenerator<{ changed: SessionSummary[]; removed: string[] }> {
    for await (const ids of this.#rooms.feed.changes(signal)) {
      if (ids.length === 0) continue;
      const rows = ids.map((id) => ({ id, row: this.#rooms.store.row(id) }));
      const there = rows.flatMap(({ row }) => (row && row.deleted_at === null && row.used && row.background === 0 ? [row] : []));
      const shown = new Set(there.map((row) => row.id));
      yield { changed: there.map((row) => summaryOf(row, this.#rooms.peek(row.id))), removed: ids.filter((id) => !shown.has(id)) };
    }
  }

  create(input: Input<'create'>): SessionState {
    checkSettings(input);
    const { store } = this.#rooms;
    const id = randomUUID();
    store.create(newSettings(this.#rooms, id, input, store.lastSettings()), id);
    return stateOf(this.#rooms, id);
  }

  get({ id }: Input<'get'>): SessionState {
    return stateOf(this.#rooms, id);
  }

  async *watch({ id }: Input<'watch'>, signal?: AbortSignal): AsyncGenerator<SessionState> {
    this.#rooms.seen(id);
    this.#measure(id);
    yield* this.#rooms.feed.watch(id, () => (this.#rooms.store.get(id)?.deletedAt === null ? stateOf(this.#rooms, id) : null), signal);
  }

  configure({ id, settings }: Input<'configure'>): SessionState {
    this.#rooms.session(id);
    checkSettings(settings);
    const { workspace, ...rest } = settings;
    // no text: back to the folder of its own
    this.#rooms.store.update(id, { settings: { ...(rest as Partial<SessionState['settings']>), ...(workspace === undefined ? {} : { workspace: workspace || ownWorkspace(this.#rooms, id) }) } });
    this.#rooms.feed.changed(id);
    return stateOf(this.#rooms, id);
  }

  send({ id, text, attachments, whenBusy }: Input<'send'>): Promise<{ state: 'started' | 'queued' | 'steering'; trajectoryId: string | null }> {
    return this.background.asChat(id, () => this.#turns.send(id, { text, attachments }, whenBusy));
  }

  /** As `Turns.deliver`; for results that come when their turn is over. */
  deliver(id: string, take: () => { messages: readonly Message[]; within: () => void } | null): Promise<boolean> {
    return this.#turns.deliver(id, take);
  }

  unqueue({ id, itemId }: Input<'unqueue'>): SessionState {
    this.#turns.unqueue(id, itemId);
    return stateOf(this.#rooms, id);
  }

  async stop({ id }: Input<'stop'>): Promise<SessionState> {
    this.#rooms.session(id);
    await this.#turns.stop(id);
    return stateOf(this.#rooms, id);
  }

  async killProcess({ id, processId }: Input<'killProcess'>): Promise<SessionState> {
    this.#rooms.session(id);
    await this.#rooms.workspaces.kill(id, processId);
    return stateOf(this.#rooms, id);
  }

  answer({ id, questionId, answer }: Input<'answer'>): Nothing {
    this.#rooms.session(id);
    this.#rooms.live(id).questions.answer(questionId, answer);
    return {};
  }

  async edit({ id, seq, text, attachments }: Input<'edit'>): Promise<{ trajectoryId: string }> {
    return { trajectoryId: await this.background.asChat(id, () => this.#branches.edit(id, seq, { text, attachments })) };
  }

  async retry({ id, provider, model }: Input<'retry'>): Promise<{ trajectoryId: string }> {
    return { trajectoryId: await this.background.asChat(id, () => this.#branches.retry(id, { provider, model })) };
  }

  undo({ id }: Input<'undo'>): Promise<{ text: string; attachments: Attachment[] }> {
    return this.background.asChat(id, () => this.#branches.undo(id));
  }

  async branch({ id, trajectoryId }: Input<'branch'>): Promise<SessionState> {
    await this.#branches.show(id, trajectoryId);
    this.#measure(id);
    return stateOf(this.#rooms, id);
  }

  fork({ id, seq }: Input<'fork'>): SessionState {
    return stateOf(this.#rooms, this.#branches.fork(id, seq));
  }

  compress({ id, focus }: Input<'compress'>): Promise<Compressed> {
    this.#rooms.session(id);
    return compressNow(this.#rooms, this.#turns, id, focus);
  }

  draft({ id, text, attachments }: Input<'draft'>): Nothing {
    const before = this.#rooms.session(id).draft;
    this.#rooms.store.update(id, { draft: { text, attachments } });
    const empty = text === '' && attachments.length === 0;
    // told only when the list changes: the page that writes it knows what it wrote
    if (empty !== (before.text === '' && before.attachments.length === 0)) this.#rooms.feed.changed(id);
    return {};
  }

  rename({ id, title }: Input<'rename'>): SessionSummary {
    this.#rooms.session(id);
    this.#titles.rename(id, title, 'person');
    return this.#summary(id);
  }

  /** An archived chat gives its sandbox back; what runs in it is ended. */
  async mark({ id, pinned, archived }: Input<'mark'>): Promise<SessionSummary> {
    this.#rooms.session(id);
    this.#rooms.store.update(id, { ...(pinned === undefined ? {} : { pinned }), ...(archived === undefined ? {} : { archived }) });
    this.#rooms.feed.changed(id);
    if (archived) {
      this.#rooms.tell('left', id);
      await this.#turns.stop(id);
      await this.#rooms.workspaces.close(id);
    }
    return this.#summary(id);
  }

  async remove({ id }: Input<'remove'>): Promise<Nothing> {
    const { deps, store, feed, workspaces } = this.#rooms;
    this.#rooms.session(id);
    store.setDeleted(id, deps.now());
    await this.#turns.stop(id);
    await workspaces.close(id);
    this.#rooms.tell('left', id);
    this.#rooms.forget(id);
    feed.changed(id);
    feed.ended(id);
    for (const { trajectoryId } of store.branches(id)) deps.hub.drop(trajectoryId);
    deps.hub.listChanged();
    return {};
  }

  restore({ id }: Input<'restore'>): SessionSummary {
    const { store, feed, deps } = this.#rooms;
    if (!store.get(id)) throw new ChatError('not_found', 'This chat was deleted too long ago; it is no longer in the store.');
    store.setDeleted(id, null);
    feed.changed(id);
    deps.hub.listChanged();
    return this.#summary(id);
  }

  attach(input: Input<'attach'>): Promise<{ uploadId: string; attachment: Attachment | null }> {
    return this.#rooms.attachments.attach(input);
  }

  picture({ id }: Input<'picture'>): Promise<{ mime: string; data: string }> {
    return this.#rooms.attachments.picture(id);
  }

  async checkpoints({ id }: Input<'checkpoints'>): Promise<{ items: Checkpoint[] }> {
    this.#rooms.session(id);
    return { items: await this.#rooms.deps.checkpoints.list(id) };
  }

  checkpointDiff({ id, checkpointId }: Input<'checkpointDiff'>, signal: AbortSignal = new AbortController().signal): Promise<CheckpointDiff> {
    this.#rooms.session(id);
    return this.#rooms.deps.checkpoints.diff(id, checkpointId, signal).catch(asChatError);
  }

  rollback({ id, checkpointId }: Input<'rollback'>): Promise<{ undoId: string; files: number }> {
    const live = this.#rooms.live(id);
    return live.alone(async () => {
      this.#rooms.session(id);
      if (live.turn) throw new ChatError('conflict', 'The agent is working. Stop it before you go back.');
      const agents = this.#rooms.store.row(id)?.agents ?? 0;
      if (agents > 0) throw new ChatError('conflict', `${agents === 1 ? 'A sub-agent' : `${agents} sub-agents`} of this chat may be changing files here. Stop ${agents === 1 ? 'it' : 'them'}, or wait until ${agents === 1 ? 'it has' : 'they have'} ended, before you go back.`);
      const done = await this.#rooms.deps.checkpoints.rollback(id, checkpointId).catch(asChatError);
      this.#rooms.feed.changed(id);
      return done;
    });
  }

  /** Sessions that wait for a person: they ask, or ended unseen. */
  waiting(): number {
    const ids = new Set(this.#rooms.store.unreadIds());
    for (const live of this.#rooms.all()) if (live.questions.current) ids.add(live.id);
    return ids.size;
  }

  /** Interrupts what runs and ends every process of a chat. Messages stay as they are. */
  async close(): Promise<void> {
    this.#rooms.closed = true;
    await this.#turns.stopAll();
    await this.#titles.close();
    await this.#rooms.workspaces.closeAll();
    await this.#rooms.settled();
  }

  #summary(id: string): SessionSummary {
    return summaryOf(this.#rooms.store.row(id)!, this.#rooms.peek(id));
  }

  #measure(id: string): void {
    const live = this.#rooms.live(id);
    if (live.meter) return;
    this.#rooms.inBackground(async () => {
      const meter = await measuredMeter(this.#rooms, id);
      if (!meter || live.meter || live.turn) return;
      live.meter = meter;
      this.#rooms.feed.changed(id, { list: false });
    }, `The context of the chat ${id} could not be measured`);
  }
}

function asChatError(error: unknown): never {
  if (!(error instanceof CheckpointError)) throw error;
  throw new ChatError(error.code === 'not_found' ? 'not_found' : 'unavailable', error.message, { cause: error });
}
