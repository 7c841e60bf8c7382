import { typedText } from '#shared/attached.ts';
import { type Attachment, saidByPerson, type StoredMessage } from '#shared/trajectory.ts';
import { sqlFor } from '../store/database.ts';
import { branchTrajectory } from '../trajectories/branch.ts';
import { getDetail, getMessages } from '../trajectories/query.ts';
import { ChatError } from './errors.ts';
import { requestSeqs, seqBehind } from './history.ts';
import type { LiveSession } from './live-session.ts';
import type { NewText } from './prepare.ts';
import type { Rooms } from './rooms.ts';
import type { Turns } from './turns.ts';

/** Other ways to go on from an earlier message. What was said stays: each way is a branch with a trajectory of its own. */
export class Branches {
  readonly #rooms: Rooms;
  readonly #turns: Turns;

  constructor(rooms: Rooms, turns: Turns) {
    this.#rooms = rooms;
    this.#turns = turns;
  }

  edit(id: string, seq: number, said: NewText): Promise<string> {
    return this.#alone(id, async (live) => {
      const { tip } = this.#shown(id);
      if (!saidByPerson(this.#message(tip, seq))) throw new ChatError('invalid', 'Only messages of yours can be said anew.', { field: 'seq' });
      if (said.text.trim() === '' && said.attachments.length === 0) throw new ChatError('invalid', 'Write a message, or attach a file.', { field: 'text' });
      return this.#turns.start(live, said, { from: tip, before: seq });
    });
  }

  /** The session goes on with the model that is given here. */
  retry(id: string, by: { provider?: string | undefined; model?: string | undefined }): Promise<string> {
    return this.#alone(id, async (live) => {
      const { tip, request } = this.#lastRequest(id, true);
      const { settings } = this.#rooms.session(id);
      if (by.model !== undefined) this.#rooms.store.update(id, { settings: { provider: by.provider ?? settings.provider, model: by.model } });
      try {
        return await this.#turns.start(live, null, { from: tip, before: request.seq + 1, ...(saidByPerson(request) ? { again: typedText(request.content, request.attachments) } : {}) });
      } catch (error) {
        this.#rooms.store.update(id, { settings: { provider: settings.provider, model: settings.model } });
        throw error;
      }
    });
  }

  undo(id: string): Promise<{ text: string; attachments: Attachment[] }> {
    return this.#alone(id, async () => {
      const { deps, store, feed } = this.#rooms;
      const { tip, request } = this.#lastRequest(id);
      const undone = { text: typedText(request.content, request.attachments), attachments: request.attachments ?? [] };
      deps.db.transaction(() => {
        const first = requestSeqs(deps.db, tip)[0] === request.seq;
        const bare = this.#bare(tip);
        const before = first ? null : branchTrajectory(deps.db, deps.now, tip, request.seq, { sessionId: id, ...(bare ? { parentId: bare } : {}) });
        store.update(id, { tip: before, updatedAt: deps.now() });
        if (bare) this.#drop(tip);
        const { draft } = this.#rooms.session(id);
        // kept here too: the page may go away before it has saved it
        if (draft.text === '' && draft.attachments.length === 0) store.update(id, { draft: undone });
      });
      this.#forgetMeter(id);
      feed.changed(id);
      deps.hub.listChanged();
      return Promise.resolve(undone);
    });
  }

  show(id: string, trajectoryId: string): Promise<void> {
    return this.#alone(id, () => {
      const { store, deps, feed } = this.#rooms;
      if (!store.branches(id).some((b) => b.trajectoryId === trajectoryId)) throw new ChatError('not_found', 'This branch is no longer in the store.');
      const { tip } = this.#rooms.session(id);
      deps.db.transaction(() => {
        store.update(id, { tip: trajectoryId });
        if (tip !== null && tip !== trajectoryId && this.#bare(tip)) this.#drop(tip);
      });
      this.#forgetMeter(id);
      feed.changed(id);
      return Promise.resolve();
    });
  }

  /** Answers with the id of the new session. It works in the same folder, as its messages speak of the files there. */
  fork(id: string, seq: number | undefined): string {
    const { deps, store, feed } = this.#rooms;
    const { tip } = this.#shown(id);
    const before = seq === undefined ? Number.MAX_SAFE_INTEGER : seqBehind(deps.db, tip, this.#message(tip, seq).seq);
    const source = this.#rooms.session(id);
    const fork = deps.db.transaction(() => {
      const created = store.create(source.settings);
      const count = getDetail(deps.db, tip)?.messageCount ?? 0;
      const trajectory = branchTrajectory(deps.db, deps.now, tip, Math.min(before, count), { sessionId: created.id });
      store.update(created.id, { tip: trajectory, title: source.title, titleBy: source.titleBy === 'person' ? 'person' : 'model', todos: source.todos });
      return created.id;
    });
    feed.changed(fork);
    deps.hub.listChanged();
    return fork;
  }

  /** For what changes which branch is shown: never under a running agent. */
  #alone<T>(id: string, work: (live: LiveSession) => Promise<T>): Promise<T> {
    const live = this.#rooms.live(id);
    return live.alone(async () => {
      this.#rooms.session(id);
      if (live.turn) throw new ChatError('conflict', 'The agent is working. Stop it first.');
      return work(live);
    });
  }

  #shown(id: string): { tip: string } {
    const { tip } = this.#rooms.session(id);
    if (tip === null) throw new ChatError('invalid', 'Nothing has been said in this chat yet.');
    return { tip };
  }

  #message(trajectoryId: string, seq: number): StoredMessage {
    const detail = getDetail(this.#rooms.deps.db, trajectoryId);
    const [message] = detail ? getMessages(this.#rooms.deps.db, detail.n, seq - 1, 1, true) : [];
    if (message?.seq !== seq) throw new ChatError('invalid', 'There is no such message in this branch.', { field: 'seq' });
    return message;
  }

  /** What the last turn answers; results of sub-agents that came between turns only when asked for. */
  #lastRequest(id: string, delivered = false): { tip: string; request: StoredMessage } {
    const { tip } = this.#shown(id);
    const last = requestSeqs(this.#rooms.deps.db, tip, { delivered }).at(-1);
    if (last === undefined) throw new ChatError('invalid', 'Nothing has been said in this branch yet.');
    return { tip, request: this.#message(tip, last) };
  }

  /** The parent of a branch that has nothing of its own (made by undo and not gone on with); null when it has. */
  #bare(trajectoryId: string): string | null {
    const detail = getDetail(this.#rooms.deps.db, trajectoryId);
    return detail?.parentId && detail.messageCount <= (detail.parentSeq ?? 0) && getDetail(this.#rooms.deps.db, detail.parentId)?.sessionId === detail.sessionId ? detail.parentId : null;
  }

  #drop(trajectoryId: string): void {
    this.#rooms.deps.db.run(sqlFor.deleteFrom('trajectories').where('id', '=', trajectoryId));
    this.#rooms.deps.hub.drop(trajectoryId);
  }

  /** What was measured holds for the branch that was shown. */
  #forgetMeter(id: string): void {
    const live = this.#rooms.peek(id);
    if (live) live.meter = null;
  }
}
