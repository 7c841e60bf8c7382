import { setImmediate as yieldToOthers } from 'node:timers/promises';
import type { SpendPurpose } from '#shared/contract/chats.ts';
import { addUsage, type Message, type TrajectoryKind, type Usage, ZERO_USAGE } from '#shared/trajectory.ts';
import { runAgent } from '../agent/loop.ts';
import { LOST_RESULT, missingResults } from '../agent/messages.ts';
import type { AgentDeps, AgentEvent, AgentResult, AgentSpec } from '../agent/types.ts';
import type { SpendLedger } from '../model/spend.ts';
import type { Database } from '../store/database.ts';
import type { LiveHub } from '../trajectories/live.ts';
import { TrajectoryRecorder } from '../trajectories/record.ts';
import { type Ended, Limits } from './limits.ts';

const DOING = { content: 'answering', reasoning: 'thinking', tool: 'calling a tool' };

export interface RunDeps {
  db: Database;
  hub: LiveHub;
  spend: Pick<SpendLedger, 'record'>;
  now: () => number;
}

/** How far an agent is. */
export interface Progress {
  /** What it does now, in a few words. */
  activity: string;
  turns: number;
  toolCalls: number;
  /** Prompt and completion tokens of all calls. */
  tokens: number;
}

/** An agent outside of chats, with a trajectory of its own. */
export interface ChildAgent {
  kind: TrajectoryKind;
  /** What its calls are booked under. */
  purpose: SpendPurpose;
  /** Its first line becomes the title. */
  prompt: string;
  toolsets: readonly string[];
  spec: AgentSpec;
  /** The first messages behind the system prompt. */
  input: readonly Message[];
  agent: Omit<AgentDeps, 'now'>;
  /** Asked when it has ended by itself: a message to go on with, or null when it is done. */
  goOn?: (answer: string) => Message | null;
  /** Ms from its beginning; null or left out: none. */
  timeoutMs?: number | null;
  /** Ms without a sign of life; 0 or left out: any time. */
  stallMs?: number;
  /** In one transaction with the trajectory's beginning. */
  begun?: (trajectoryId: string) => void;
  /** In one transaction with the trajectory's end. */
  ended?: (outcome: ChildOutcome) => void;
  progress?: (progress: Progress) => void;
}

export interface ChildOutcome {
  trajectoryId: string;
  result: AgentResult;
  /** Why it was told to end; null when it ended by itself. */
  cause: Ended | null;
  messages: readonly Message[];
}

/**
 * Runs an agent to its end: everything it does is in the store and can be watched live. What goes wrong in it is its result and nobody
 * else's; one that does not end when it must is left behind. Its sandbox stays open: that is the caller's. Throws only what the store throws.
 * @param signal stops it, within a second.
 */
export async function runChild(child: ChildAgent, deps: RunDeps, signal: AbortSignal): Promise<ChildOutcome> {
  const { db, hub, now } = deps;
  const { endpoint, scripted } = child.agent.model;
  const limits = new Limits(signal, { timeoutMs: child.timeoutMs ?? null, stallMs: child.stallMs ?? 0 });
  let recorder: TrajectoryRecorder | null = null;
  try {
    recorder = db.transaction(() => {
      const begun = TrajectoryRecorder.begin(db, hub, now, {
        kind: child.kind,
        prompt: child.prompt,
        model: endpoint.model,
        provider: endpoint.provider,
        scripted,
        systemPrompt: child.spec.systemPrompt,
        toolsets: child.toolsets,
        tools: child.agent.tools.specs,
      });
      child.begun?.(begun.id);
      return begun;
    });
    const run = new Run(child, deps, recorder, limits);
    const result = await run.toTheEnd();
    const outcome = { trajectoryId: recorder.id, result, cause: limits.cause, messages: run.messages };
    db.transaction(() => {
      recorder!.end(result);
      child.ended?.(outcome);
    });
    return outcome;
  } finally {
    limits.dispose();
    recorder?.announceEnd();
  }
}

class Run {
  readonly messages: Message[] = [];
  readonly #child: ChildAgent;
  readonly #deps: RunDeps;
  readonly #recorder: TrajectoryRecorder;
  readonly #limits: Limits;
  #paid: { apiCalls: number; usage: Usage } = { apiCalls: 0, usage: ZERO_USAGE };
  /** Tools that run. */
  #calls = 0;
  #activity = 'starting';

  constructor(child: ChildAgent, deps: RunDeps, recorder: TrajectoryRecorder, limits: Limits) {
    this.#child = child;
    this.#deps = deps;
    this.#recorder = recorder;
    this.#limits = limits;
  }

  /** Never throws for what the agent does. */
  async toTheEnd(): Promise<AgentResult> {
    const { spec, agent, goOn } = this.#child;
    let input = this.#child.input;
    for (;;) {
      const events = runAgent(spec, { history: [...this.messages], input }, { ...agent, now: this.#deps.now }, this.#limits.signal);
      const result = this.#told(await this.#follow(events));
      const next = result.exitReason === 'completed' ? (goOn?.(result.finalAnswer ?? '') ?? null) : null;
      if (next === null) return result;
      input = [next];
    }
  }

  async #follow(agent: AsyncGenerator<AgentEvent>): Promise<AgentResult> {
    const { signal, overdue } = this.#limits;
    try {
      for (;;) {
        const next = await Promise.race([agent.next(), overdue]);
        if (next === 'overdue') return this.#leftBehind();
        if (next.done) throw new Error('The agent ended without a result');
        if (next.value.type === 'end') return next.value.result;
        this.#take(next.value);
        // a model that answers without real waiting must not keep others from their turn
        if (next.value.type === 'turn') await yieldToOthers();
      }
    } catch (error) {
      if (signal.aborted) return this.#leftBehind();
      const reason = error instanceof Error ? error.message : String(error);
      return { exitReason: 'error', error: `The agent failed unexpectedly: ${reason}`, modelError: null, finalAnswer: null, apiCalls: 0, usage: ZERO_USAGE };
    } finally {
      // not awaited: that may be what hangs
      void agent.return(undefined).catch(() => undefined);
    }
  }

  #take(event: Exclude<AgentEvent, { type: 'end' }>): void {
    const recorder = this.#recorder;
    this.#limits.alive({ inTool: this.#calls > 0 || event.type === 'tool_start', ...(event.type === 'retry' ? { waitMs: event.waitMs } : {}) });
    switch (event.type) {
      case 'message':
        recorder.append(event.message);
        this.messages.push(event.message);
        if (event.message.role === 'tool') this.#calls = Math.max(0, this.#calls - 1);
        this.#say(this.#activity);
        break;
      case 'delta':
        recorder.delta(event.channel, event.text);
        if (this.#activity !== DOING[event.channel]) this.#say(DOING[event.channel]);
        break;
      case 'discard_deltas':
        recorder.discardDeltas();
        break;
      case 'turn':
        this.#calls = 0;
        this.#say('waiting for the model');
        break;
      case 'tool_start':
        this.#calls++;
        recorder.toolStart(event.callId, event.name, event.summary);
        this.#say(event.summary);
        break;
      case 'tool_output':
        recorder.toolOutput(event.callId, event.text);
        break;
      case 'usage':
        this.#paid = { apiCalls: this.#paid.apiCalls + 1, usage: addUsage(this.#paid.usage, event.usage) };
        this.#deps.spend.record({ purpose: event.purpose ?? this.#child.purpose, provider: event.provider, model: event.model, usage: event.usage, costUsd: event.costUsd, trajectoryN: recorder.n });
        this.#say(this.#activity);
        break;
      case 'compressing':
        this.#say('compressing the context');
        break;
      case 'retry':
        this.#say('waiting to try again');
        break;
      case 'context':
        break;
    }
  }

  #say(activity: string): void {
    this.#activity = activity;
    const { turns, toolCalls } = this.#recorder.counters;
    const { promptTokens, completionTokens } = this.#paid.usage;
    this.#child.progress?.({ activity, turns, toolCalls, tokens: promptTokens + completionTokens });
  }

  /** What it does later changes nothing any more. */
  #leftBehind(): AgentResult {
    for (const result of missingResults(this.messages, LOST_RESULT, this.#deps.now())) {
      this.#recorder.append(result);
      this.messages.push(result);
    }
    return { exitReason: 'interrupted', error: 'The run was interrupted.', modelError: null, finalAnswer: null, apiCalls: 0, usage: ZERO_USAGE };
  }

  /** The result with everything that was paid for, and with the reason for which it was told to end. */
  #told(result: AgentResult): AgentResult {
    const { cause } = this.#limits;
    const all = { ...result, ...this.#paid };
    if (result.exitReason !== 'interrupted' || cause === null || cause === 'stopped') return all;
    const seconds = (ms: number | null | undefined): string => `${Math.round((ms ?? 0) / 1000)} s`;
    const error = cause === 'timeout' ? `Its time was up (${seconds(this.#child.timeoutMs)}).` : `It showed no sign of life for ${seconds(this.#child.stallMs)} or longer.`;
    return { ...all, exitReason: 'timeout', error };
  }
}
