import type { PromptState, RunSpec } from '#shared/contract/runs.ts';
import type { SpendPurpose } from '#shared/contract/chats.ts';
import type { ExitReason, Message, ToolSpec, Usage } from '#shared/trajectory.ts';
import type { ModelErrorCode } from '../../model/types.ts';

/*
 * The border between who keeps a run (queue, store, files) and who makes its rollouts. What crosses it is plain JSON and every call is
 * asynchronous, so that the two may be different processes or machines that share no files: nothing behind it may assume otherwise.
 */

/** One rollout to be made. */
export interface RolloutTask {
  runId: string;
  runName: string;
  /** Number of the rollout within its run. */
  index: number;
  /** Row of the dataset, from 0, and which of its rollouts this is, from 0. */
  promptIndex: number;
  rollout: number;
  prompt: string;
  /** The row's other columns, by our names where the reader knows them. */
  row: Record<string, unknown>;
  /** As an earlier attempt drew them; null when they have still to be drawn. */
  toolsets: string[] | null;
  /** From 1. */
  attempt: number;
  spec: RunSpec;
}

/** A task that is this worker's until `until` (epoch ms) unless it is renewed; then it may go to another. */
export interface Lease {
  id: string;
  until: number;
  task: RolloutTask;
}

/** What the engine must know of an attempt before its first message. */
export interface RolloutHeader {
  model: string;
  provider: string;
  scripted: boolean;
  systemPrompt: string;
  toolsets: string[];
  tools: readonly ToolSpec[];
}

/** A number that a rule gave. `value` is null when it could not say; `detail` tells why, or what was compared. */
export interface ScoreResult {
  name: string;
  /** As it was written. */
  rule: string;
  value: number | null;
  weight: number;
  detail: Record<string, unknown>;
}

/** A failure of the provider, as plain data. */
export interface RolloutModelError {
  code: ModelErrorCode;
  message: string;
  providerMessage: string | null;
  /** No later request can succeed either. */
  stopsRun: boolean;
}

/** How an attempt ended. What becomes of the prompt is decided by who takes it. */
export interface RolloutResult {
  /** `interrupted` when the worker was told to stop. Null when it failed before it began or by a defect: `defect` says how. */
  exitReason: ExitReason | null;
  error: string | null;
  defect: { cause: string; reason: string; retryable: boolean } | null;
  modelError: RolloutModelError | null;
  /** A spend cap stopped it: the cap's sentence. */
  overBudget: string | null;
  finalAnswer: string | null;
  apiCalls: number;
  usage: Usage;
  scores: ScoreResult[];
}

/** What became of a rollout; it is stored. */
export interface Disposition {
  state: PromptState;
  /** Code of why it failed or was discarded. */
  cause: string | null;
  /** The same in a sentence. */
  reason: string | null;
  retryable: boolean;
  trajectoryId: string | null;
}

export type RolloutActivity = { type: 'turn'; turn: number } | { type: 'activity'; text: string } | { type: 'delta'; channel: 'content' | 'reasoning' | 'tool'; text: string } | { type: 'discard_deltas' } | { type: 'tool_start'; callId: string; name: string; summary: string } | { type: 'tool_output'; callId: string; text: string };

/**
 * Where the worker of one lease reports to. `begin` before everything else; a message is durable when its call resolves.
 * Messages keep the order of their calls, also when one is made before the one before has resolved. Calls reject
 * with LeaseLostError when the lease is no longer this worker's, or QueueUnavailableError: it then stops and settles nothing.
 */
export interface RolloutSink {
  begin(header: RolloutHeader): Promise<{ trajectoryId: string }>;
  message(message: Message): Promise<void>;
  /** One model call was paid for. */
  spend(call: { purpose: SpendPurpose | null; provider: string; model: string; usage: Usage; costUsd: number | null }): Promise<void>;
  /** For people who watch; may be dropped. */
  activity(activity: RolloutActivity): void;
  /** A sentence when a spend cap is reached: asked before each model call. */
  overBudget(): string | null;
}

/**
 * The work of one run. Embedded it is the table `prompts`; a distributed one can stand in its place.
 */
export interface WorkQueue {
  /** The next rollout, in order; null when none is left to begin. What another worker's lease let lapse comes again. */
  claim(): Promise<{ lease: Lease; sink: RolloutSink } | null>;
  /** A sign of life: `lease.until` is put off. Rejects with LeaseLostError. */
  renew(lease: Lease): Promise<void>;
  /** Hands in the end of an attempt: trajectory, scores and disposition become durable together. Rejects with LeaseLostError. */
  settle(lease: Lease, result: RolloutResult): Promise<Disposition>;
}

export class LeaseLostError extends Error {
  override name = 'LeaseLostError';
  constructor() {
    super('This rollout has gone to another worker.');
  }
}

/** The queue cannot be reached, or cannot store anything: no attempt can go on. */
export class QueueUnavailableError extends Error {
  override name = 'QueueUnavailableError';
  constructor(cause: unknown) {
    super('The work queue is not available.', { cause });
  }
}
