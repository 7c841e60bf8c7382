import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import type { Delegation, delegationsContract } from '#shared/contract/delegations.ts';
import type { Message } from '#shared/trajectory.ts';
import type { ChatExtension } from '../chat/extensions.ts';
import { Feed } from '../feed.ts';
import { resultText, ToolError } from '../tools/define.ts';
import type { ToolContext } from '../tools/types.ts';
import { workChild } from './child.ts';
import type { DelegationDeps } from './deps.ts';
import { Delivery } from './delivery.ts';
import { DelegationError } from './errors.ts';
import { Place } from './place.ts';
import { type Parent, planChildren, type PlannedChild } from './plan.ts';
import { endLost } from './recover.ts';
import { type ChildReport, resultsOf } from './report.ts';
import { parseSpawn } from './request.ts';
import type { Progress } from './run-child.ts';
import { type Slot, Slots } from './slots.ts';
import { type DelegationRecord, DelegationStore } from './store.ts';
import { viewOf } from './view.ts';

type Contract = typeof delegationsContract;
type Input<K extends keyof Contract> = NonNullable<Contract[K]['~orpc']['inputSchema']> extends z.ZodType<infer T> ? T : never;
type Nothing = Record<never, never>;
type Answer = Record<string, unknown>;

/** At most so often is a watcher told. */
const TOLD_EVERY_MS = 250;

/** A child that has not ended. */
interface LiveChild {
  id: string;
  delegation: DelegationRecord;
  abort: AbortController;
  steering: Message[];
  progress: Progress | null;
  /** Its report; never rejects. */
  done: Promise<ChildReport>;
}

/** Children of agents: started, queued, watched, steered, stopped, and their results brought back. Expected failures are DelegationErrors, of tools ToolErrors. */
export class DelegationService {
  readonly #deps: DelegationDeps;
  readonly #store: DelegationStore;
  readonly #slots: Slots;
  readonly #feed = new Feed<DelegationRecord>(TOLD_EVERY_MS);
  readonly #delivery: Delivery;
  readonly #live = new Map<string, LiveChild>();
  /** Calls whose children have not all ended, and sandboxes that are being closed. */
  readonly #running = new Set<Promise<unknown>>();
  #closed = false;

  constructor(deps: DelegationDeps) {
    this.#deps = deps;
    this.#store = new DelegationStore(deps.db);
    this.#slots = new Slots(() => deps.config.read().delegation.max_concurrent_children);
    this.#delivery = new Delivery(deps, this.#store);
  }

  /** What chats get: the tools, and results of the background when a turn has ended. */
  extension(): ChatExtension {
    return {
      services: ({ sessionId, settings }, turn) => ({
        delegation: { spawn: (_tool, input, context) => this.#spawn({ sessionId, trajectoryId: turn?.trajectoryId() ?? '', settings, depth: 0 }, null, input, context) },
      }),
      // behind what the person has queued, which begins at this moment
      turnEnded: ({ sessionId }) => queueMicrotask(() => this.#delivery.deliver(sessionId)),
      left: (sessionId) => this.#left(sessionId),
      resultOf: (trajectoryId, callId) => this.#resultOf(trajectoryId, callId),
    };
  }

  /** Call once after trajectories and chats were recovered. With `deliver` what waits for chats begins turns in them. */
  recover({ deliver }: { deliver: boolean }): void {
    const lost = endLost(this.#deps, this.#store);
    if (lost > 0) this.#deps.log.info(`${lost} sub-agents had been at work when Talaria was ended; their agents are told.`);
    if (deliver) this.#delivery.deliverAll();
  }

  async *watch({ sessionId, trajectoryId }: Input<'watch'>, signal?: AbortSignal): AsyncGenerator<{ items: Delegation[] }> {
    if (sessionId === undefined && trajectoryId === undefined) throw new DelegationError('invalid', 'Say whose delegations: of a session or of a trajectory.');
    const concerns = (of: DelegationRecord): boolean => (sessionId === undefined || of.sessionId === sessionId) && (trajectoryId === undefined || of.trajectoryId === trajectoryId);
    yield* this.#feed.watch(() => ({ items: this.#view(this.#store.list({ sessionId, trajectoryId })) }), { concerns, signal });
  }

  get({ id }: Input<'get'>): Delegation {
    const record = this.#store.get(id);
    if (!record) throw new DelegationError('not_found', 'This delegation is no longer in the store.');
    return this.#view([record])[0]!;
  }

  /** The child hears it before its next model call. */
  steer({ childId, text }: Input<'steer'>): Nothing {
    const live = this.#live.get(childId);
    if (live && !live.abort.signal.aborted) live.steering.push({ role: 'user', content: text.toWellFormed(), createdAt: this.#deps.now() });
    else if (this.#store.child(childId)) throw new DelegationError('conflict', 'This sub-agent has ended; it can hear nothing any more.');
    else throw new DelegationError('not_found', 'This sub-agent is no longer in the store.');
    return {};
  }

  /** Resolves when they have ended, within a second. What has ended already stays as it is. */
  async stop({ childId, delegationId }: Input<'stop'>): Promise<{ stopped: number }> {
    if (childId === undefined && delegationId === undefined) throw new DelegationError('invalid', 'Say what to stop: a sub-agent, or all of a delegation.');
    if (childId !== undefined && !this.#store.child(childId)) throw new DelegationError('not_found', 'This sub-agent is no longer in the store.');
    if (delegationId !== undefined && !this.#store.get(delegationId)) throw new DelegationError('not_found', 'This delegation is no longer in the store.');
    return { stopped: await this.#stop((live) => (childId === undefined || live.id === childId) && (delegationId === undefined || live.delegation.id === delegationId)) };
  }

  /** Stops every child; what the background had to tell is delivered after the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#delivery.close();
    await this.#stop(() => true);
    await Promise.all(this.#running);
  }

  /** @param place of the agent that asks, when it is a child itself */
  async #spawn(parent: Parent, place: Place | null, input: Answer, context: ToolContext): Promise<Answer> {
    const request = parseSpawn(input);
    const planned = await planChildren(this.#deps, parent, request.tasks);
    if (this.#closed) throw new ToolError('Talaria is closing. Nothing was started.');
    context.signal.throwIfAborted();
    // a child ends with its answer: there is no later turn that could be told
    const background = request.background && parent.depth === 0 && parent.sessionId !== null;
    const record: DelegationRecord = { id: randomUUID(), sessionId: parent.sessionId, trajectoryId: parent.trajectoryId, callId: context.callId, background, createdAt: this.#deps.now(), endedAt: null, deliveredAt: null };
    const ids = planned.map(() => randomUUID());
    this.#store.create(record, planned.map((plan, index) => ({ id: ids[index]!, goal: plan.task.goal, spec: specOf(plan) })));
    const own = new Slots(() => request.maxParallel ?? Infinity);
    const children = planned.map((plan, index) => this.#begin(ids[index]!, index, plan, parent, record, context, own));
    this.#feed.changed(record);
    const ended = this.#untilEnded(record, children);
    if (background) return handleOf(record, children, planned);
    const reports = await (place ? place.away(() => ended) : ended);
    const note = request.background ? { note: 'A sub-agent cannot have results of the background delivered to it; these ran in the foreground.' } : {};
    return { ...resultsOf(record.id, reports, this.#deps.now() - record.createdAt), ...note };
  }

  #begin(id: string, index: number, plan: PlannedChild, parent: Parent, delegation: DelegationRecord, context: ToolContext, own: Slots): LiveChild {
    const abort = new AbortController();
    const signal = delegation.background ? abort.signal : AbortSignal.any([context.signal, abort.signal]);
    const place = new Place(this.#slots, parent.sessionId ?? parent.trajectoryId, signal);
    let turn: Slot | null = null;
    const live: LiveChild = { id, delegation, abort, steering: [], progress: null, done: Promise.resolve(null as never) };
    this.#live.set(id, live);
    const job = {
      id,
      index,
      plan,
      parent,
      services: context.services,
      delegation: (self: { trajectoryId: () => string | null; toolsets: readonly string[]; model: PlannedChild['model'] }) => ({
        spawn: (_tool: string, input: Answer, inner: ToolContext) => {
          const { provider, model } = self.model.endpoint;
          const settings = { ...parent.settings, provider, model, toolsets: [...self.toolsets] };
          return this.#spawn({ sessionId: parent.sessionId, trajectoryId: self.trajectoryId() ?? '', settings, depth: plan.depth }, place, input, inner);
        },
      }),
      signal,
      begin: async () => {
        turn = await own.take('', signal);
        await place.take();
      },
      steering: () => live.steering.splice(0),
      progress: (progress: Progress) => {
        // what a grandchild does is a sign of life of its parent
        if (parent.depth > 0 && progress.activity !== live.progress?.activity) context.onOutput(`${index}: ${progress.activity}\n`);
        live.progress = progress;
        this.#feed.changed(delegation);
      },
      changed: () => this.#feed.changed(delegation),
      closing: (closed: Promise<void>) => this.#track(closed),
    };
    live.done = workChild(job, this.#deps, this.#store).finally(() => {
      place.release();
      turn?.release();
      this.#live.delete(id);
      this.#feed.changed(delegation);
    });
    return live;
  }

  /** Never rejects. */
  #untilEnded(record: DelegationRecord, children: readonly LiveChild[]): Promise<ChildReport[]> {
    const ended = Promise.all(children.map((child) => child.done)).then((reports) => {
      try {
        this.#store.end(record.id, this.#deps.now());
      } catch (error) {
        this.#deps.log.error(`The end of the delegation ${record.id} could not be stored`, error);
      }
      this.#feed.changed(record);
      if (record.background) this.#delivery.deliver(record.sessionId!);
      return reports;
    });
    this.#track(ended);
    return ended;
  }

  /** Waited for when the engine closes. */
  #track(work: Promise<unknown>): void {
    this.#running.add(work);
    void work.finally(() => this.#running.delete(work));
  }

  async #stop(which: (live: LiveChild) => boolean): Promise<number> {
    const chosen = [...this.#live.values()].filter(which);
    for (const { abort } of chosen) abort.abort();
    await Promise.all(chosen.map((live) => live.done));
    return chosen.length;
  }

  /** Of a call in the foreground that a kill left without its result. */
  #resultOf(trajectoryId: string, callId: string): string | null {
    const record = this.#store.list({ trajectoryId }).find((one) => one.callId === callId && !one.background && one.endedAt !== null);
    if (!record) return null;
    const reports = this.#store.children(record.id).flatMap(({ report }) => report ?? []);
    const { redact = (text: string) => text } = this.#deps;
    return redact(resultText(resultsOf(record.id, reports, record.endedAt! - record.createdAt)));
  }

  #left(sessionId: string): void {
    void this.#stop((live) => live.delegation.sessionId === sessionId).then(() => this.#store.dropResults(sessionId, this.#deps.now()));
  }

  #view(records: readonly DelegationRecord[]): Delegation[] {
    return viewOf(this.#deps.db, records, (id) => this.#live.get(id)?.progress ?? null);
  }
}

function specOf({ task, toolsets, model, maxTurns, depth, reasoningEffort }: PlannedChild) {
  const { provider, model: name } = model.endpoint;
  const { context, outputSchema, timeoutSeconds } = task;
  return { depth, model: `${provider}/${name}`, toolsets, maxTurns, reasoningEffort, context, timeoutSeconds, outputSchema: outputSchema?.schema ?? null };
}

function handleOf({ id }: DelegationRecord, children: readonly LiveChild[], planned: readonly PlannedChild[]): Answer {
  return {
    delegation_id: id,
    status: 'running',
    background: true,
    children: children.map((child, index) => ({ task_index: index, child_id: child.id, goal: planned[index]!.task.goal.slice(0, 200), ...(planned[index]!.note ? { note: planned[index]!.note } : {}) })),
    next: 'They work on by themselves. Do not wait for them and do not ask for them: their results come as a message when all have ended.',
  };
}
