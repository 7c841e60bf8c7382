import { randomUUID } from 'node:crypto';
import type { QueuedMessage } from '#shared/contract/chats.ts';
import type { ExitReason, Message } from '#shared/trajectory.ts';
import { runAgent } from '../agent/loop.ts';
import { LOST_RESULT, missingResults } from '../agent/messages.ts';
import type { AgentResult } from '../agent/types.ts';
import { branchTrajectory } from '../trajectories/branch.ts';
import { getDetail } from '../trajectories/query.ts';
import { TrajectoryRecorder } from '../trajectories/record.ts';
import { ChatError } from './errors.ts';
import { wholeHistory } from './history.ts';
import type { LiveSession, RunningTurn } from './live-session.ts';
import { agentDeps, agentSpec, behindOf, type NewText, type Prepared, prepareTurn, userMessage } from './prepare.ts';
import type { Rooms } from './rooms.ts';
import { saveSample } from './samples.ts';
import type { Titles } from './titles.ts';
import { followAgent } from './turn.ts';

/** Ends after which what is queued goes on by itself; after the others the person decides. */
const GOES_ON: readonly ExitReason[] = ['completed', 'max_turns', 'truncated', 'empty_response', 'invalid_tool_calls'];

const NO_DRAFT = { draft: { text: '', attachments: [] } };

/** Where a turn goes on: the branch that is shown, or a new one with the messages of `from` before seq `before`. */
type Base = 'tip' | { from: string; before: number; /** The last of them, which a person said and is answered again. */ again?: string };

type Sent = { state: 'started' | 'queued' | 'steering'; trajectoryId: string | null };

/** Turns: started, steered, queued, stopped. One at a time in a session; many sessions at once. */
export class Turns {
  readonly #rooms: Rooms;
  readonly #titles: Titles;

  constructor(rooms: Rooms, titles: Titles) {
    this.#rooms = rooms;
    this.#titles = titles;
  }

  /** The person says something: it begins a turn, or waits for one. */
  send(id: string, said: NewText, whenBusy: 'queue' | 'steer'): Promise<Sent> {
    const live = this.#rooms.live(id);
    return live.alone(async (): Promise<Sent> => {
      const { queue } = this.#rooms.session(id);
      if (said.text.trim() === '' && said.attachments.length === 0) {
        const [first] = queue;
        if (!first || live.turn) throw new ChatError('invalid', 'Write a message, or attach a file.', { field: 'text' });
        return { state: 'started', trajectoryId: await this.#startQueued(live, first) };
      }
      if (!live.turn) return { state: 'started', trajectoryId: await this.start(live, said) };
      return this.#wait(live, said, whenBusy);
    });
  }

  unqueue(id: string, itemId: string): void {
    const live = this.#rooms.live(id);
    live.steering = live.steering.filter((s) => s.itemId !== itemId);
    this.#setQueue(id, this.#rooms.session(id).queue.filter((item) => item.id !== itemId));
  }

  /** Resolves when what runs has ended. What is being prepared does not begin. */
  async stop(id: string): Promise<void> {
    const live = this.#rooms.peek(id);
    live?.starting?.abort();
    const turn = live?.turn;
    if (!turn) return;
    turn.abort.abort();
    await turn.done;
  }

  async stopAll(): Promise<void> {
    await Promise.all(this.#rooms.all().map((live) => this.stop(live.id)));
  }

  /**
   * Stores the message and begins the turn; answers with its trajectory. Within `live.alone`. Throws, with nothing stored, when the
   * model, the workspace or an attachment cannot be used.
   * @param notes what the harness says before the first model call
   * @param within runs in the transaction that stores all this
   */
  async start(live: LiveSession, said: NewText | null, base: Base = 'tip', notes: readonly Message[] = [], within?: () => void): Promise<string> {
    if (this.#rooms.closed) throw new ChatError('unavailable', 'Talaria is closing.');
    if (live.turn) throw new ChatError('conflict', 'The agent is working. Stop it first.');
    const { deps, store, feed } = this.#rooms;
    const prepared = await this.#prepare(live, said, base);
    const { tip, draft } = this.#rooms.session(live.id);
    const { recorder, history } = deps.db.transaction(() => {
      this.#rooms.tell('turnBegins', live.id, { tools: prepared.tools.specs, said: said !== null });
      const opened = this.#open(live.id, prepared, said, base, tip);
      for (const message of [...(prepared.message ? [prepared.message] : []), ...prepared.behind, ...notes]) opened.history.push(opened.recorder.append(message));
      store.update(live.id, { tip: opened.recorder.id, updatedAt: deps.now(), ...(said && draft.text === said.text ? NO_DRAFT : {}) });
      if (said) this.#titles.fromPrompt(live.id, said.text || said.attachments.map((a) => a.name).join(', '));
      within?.();
      return opened;
    });
    const turn: RunningTurn = { startedAt: deps.now(), abort: new AbortController(), sandbox: prepared.sandbox, done: Promise.resolve() };
    Object.assign(live, { turn, startError: null, activity: 'waiting for the model' });
    feed.changed(live.id);
    turn.done = this.#run(live, turn, prepared, recorder, history);
    return recorder.id;
  }

  /**
   * Messages that come between turns: begins a turn that answers them. False while the session is not at rest, and when the turn could
   * not begin; then nothing is stored. What the person has queued goes first.
   * @param take asked when the session is at rest: the messages, and what must be stored together with them; null when there is nothing any more
   */
  deliver(id: string, take: () => { messages: readonly Message[]; within: () => void } | null): Promise<boolean> {
    const live = this.#rooms.live(id);
    return live.alone(async () => {
      const { store, closed } = this.#rooms;
      const session = store.get(id);
      if (closed || live.turn || !session || session.deletedAt !== null || session.archived || session.tip === null) return false;
      if (session.queue.length > 0 && GOES_ON.includes(store.row(id)?.exit_reason ?? 'interrupted')) return false;
      const delivery = take();
      if (!delivery) return false;
      try {
        await this.start(live, null, 'tip', delivery.messages, delivery.within);
        return true;
      } catch (error) {
        live.startError = error instanceof Error ? error.message : String(error);
        this.#rooms.needsEyes(id);
        return false;
      }
    });
  }

  /** Begins what is queued, when nothing runs and the last turn ended by itself. */
  next(live: LiveSession, exitReason: ExitReason): void {
    if (this.#rooms.closed || !GOES_ON.includes(exitReason)) return;
    void live.alone(async () => {
      const session = this.#rooms.store.get(live.id);
      const [first] = session?.queue ?? [];
      if (!first || live.turn || session?.deletedAt !== null) return;
      try {
        await this.#startQueued(live, first);
      } catch (error) {
        // it stays queued: the person sees why and decides
        live.startError = error instanceof Error ? error.message : String(error);
        this.#rooms.needsEyes(live.id);
      }
    });
  }

  /** Opens the trajectory for more messages: results that a kill left out are stored first. Within a transaction. */
  reopen(id: string, by: { model: string; provider: string; scripted: boolean }): { recorder: TrajectoryRecorder; history: Message[] } {
    const { db, hub, now } = this.#rooms.deps;
    const history: Message[] = wholeHistory(db, id);
    const recorder = TrajectoryRecorder.reopen(db, hub, now, id, by, history);
    for (const result of missingResults(history, LOST_RESULT, now())) history.push(recorder.append(this.#rooms.foundAgain(id, result)));
    return { recorder, history };
  }

  /** What can fail, before anything is stored. */
  async #prepare(live: LiveSession, said: NewText | null, base: Base): Promise<Prepared> {
    const starting = (live.starting = new AbortController());
    try {
      const prepared = await prepareTurn(this.#rooms, live, said, base === 'tip' ? { goesOn: true } : { goesOn: false, again: base.again });
      if (this.#rooms.closed) throw new ChatError('unavailable', 'Talaria is closing.');
      if (starting.signal.aborted) throw new ChatError('conflict', 'Stopped before it was sent.');
      return prepared;
    } finally {
      live.starting = null;
    }
  }

  async #wait(live: LiveSession, said: NewText, whenBusy: 'queue' | 'steer'): Promise<Sent> {
    const item: QueuedMessage = { id: randomUUID(), text: said.text, attachments: [...said.attachments], ...(whenBusy === 'steer' ? { steer: true } : {}) };
    const { id, turn } = live;
    // a compression cannot be steered: what is said then is its own turn
    const steers = whenBusy === 'steer' && turn?.sandbox;
    if (steers) live.steering.push({ itemId: item.id, messages: [await userMessage(this.#rooms, said, steers), ...(await behindOf(this.#rooms, { sessionId: id, settings: this.#rooms.session(id).settings, sandbox: steers }, said.text))] });
    const { queue, tip, draft } = this.#rooms.session(live.id);
    this.#rooms.store.update(live.id, { queue: [...queue, item], ...(draft.text === said.text ? NO_DRAFT : {}) });
    this.#rooms.feed.changed(live.id);
    // bringing its files took a moment, in which the turn may have ended
    if (live.turn !== turn) {
      live.steering = live.steering.filter((s) => s.itemId !== item.id);
      this.next(live, this.#rooms.store.row(live.id)?.exit_reason ?? 'interrupted');
    }
    return { state: steers ? 'steering' : 'queued', trajectoryId: tip };
  }

  #setQueue(id: string, queue: readonly QueuedMessage[]): void {
    this.#rooms.store.update(id, { queue });
    this.#rooms.feed.changed(id);
  }

  /** Begins the first of what is queued. Within `live.alone`. */
  async startFirst(live: LiveSession): Promise<void> {
    const [first] = this.#rooms.session(live.id).queue;
    if (first) await this.#startQueued(live, first);
  }

  async #startQueued(live: LiveSession, item: QueuedMessage): Promise<string> {
    const trajectoryId = await this.start(live, item);
    this.unqueue(live.id, item.id);
    return trajectoryId;
  }

  #open(id: string, prepared: Prepared, said: NewText | null, base: Base, tip: string | null): { recorder: TrajectoryRecorder; history: Message[] } {
    const { db, now } = this.#rooms.deps;
    const { model, tools, settings, renewed, systemPrompt } = prepared;
    const from = base !== 'tip' ? base : tip !== null && renewed ? { from: tip, before: getDetail(db, tip)?.messageCount ?? 0 } : null;
    const trajectoryId = from === null ? tip : branchTrajectory(db, now, from.from, from.before, { sessionId: id, ...(renewed ? { systemPrompt } : {}) });
    if (trajectoryId === null) return this.#begin(id, prepared, said?.text ?? '');
    const opened = this.reopen(trajectoryId, { ...model.endpoint, scripted: model.scripted });
    opened.recorder.offer(settings.toolsets, tools.specs);
    return opened;
  }

  #begin(id: string, { model, tools, settings, systemPrompt }: Prepared, prompt: string): { recorder: TrajectoryRecorder; history: Message[] } {
    const { db, hub, now } = this.#rooms.deps;
    const recorder = TrajectoryRecorder.begin(db, hub, now, {
      kind: this.#rooms.session(id).background ? 'background' : 'chat',
      prompt,
      sessionId: id,
      model: model.endpoint.model,
      provider: model.endpoint.provider,
      scripted: model.scripted,
      systemPrompt,
      toolsets: settings.toolsets,
      tools: tools.specs,
    });
    return { recorder, history: [recorder.append({ role: 'system', content: systemPrompt, createdAt: now() })] };
  }

  /** The turn from its first model call to its end in the store. Never rejects. */
  async #run(live: LiveSession, turn: RunningTurn, prepared: Prepared, recorder: TrajectoryRecorder, history: Message[]): Promise<void> {
    const { deps } = this.#rooms;
    const { signal } = turn.abort;
    const place = { sessionId: live.id, settings: prepared.settings, sandbox: prepared.sandbox, trajectoryId: recorder.id, tools: prepared.tools.specs, systemPrompt: prepared.systemPrompt };
    let result: AgentResult;
    try {
      const spec = await agentSpec(this.#rooms, prepared, signal);
      const parts = await agentDeps(this.#rooms, live, prepared, { recorder, steering: () => this.#takeSteering(live), signal });
      const stored = (message: Message): void => this.#rooms.tell('stored', place, message);
      result = await followAgent(this.#rooms, live, recorder, runAgent(spec, { history, input: [] }, parts, signal), signal, stored);
    } catch (error) {
      deps.log.error(`A turn of the chat ${live.id} failed unexpectedly`, error);
      turn.abort.abort();
      const reason = error instanceof Error ? error.message : String(error);
      result = { exitReason: 'error', error: `The turn failed unexpectedly: ${reason}`, modelError: null, finalAnswer: null, apiCalls: 0, usage: recorder.counters.usage };
    }
    try {
      recorder.end({ ...result, error: sentenceOf(result) });
      this.#rooms.store.update(live.id, { updatedAt: deps.now() });
      recorder.announceEnd();
    } catch (error) {
      deps.log.error(`The end of a turn of the chat ${live.id} could not be stored`, error);
    }
    Object.assign(live, { turn: null, activity: null, retry: null, compressing: false, steering: [] });
    this.#rooms.needsEyes(live.id);
    saveSample(this.#rooms, recorder.id);
    this.#rooms.tell('turnEnded', place, result);
    if (!this.#rooms.closed) this.#titles.improve(live.id);
    this.next(live, result.exitReason);
  }

  #takeSteering(live: LiveSession): Message[] {
    const taken = live.steering;
    if (taken.length === 0) return [];
    live.steering = [];
    const ids = new Set(taken.map((s) => s.itemId));
    this.#setQueue(live.id, (this.#rooms.store.get(live.id)?.queue ?? []).filter((item) => !ids.has(item.id)));
    return taken.flatMap((s) => s.messages);
  }
}

/** Why, with the provider's own words when it was the provider. */
function sentenceOf({ error, modelError }: AgentResult): string | null {
  const said = modelError?.providerMessage;
  return said && !error?.includes(said) ? `${error ?? ''} The provider said: “${said}”` : error;
}
