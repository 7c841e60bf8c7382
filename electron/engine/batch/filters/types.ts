import type { ExitReason, Message, ToolSpec, Usage } from '#shared/trajectory.ts';

/** What is known of an ended rollout besides its messages. */
export interface FilterFacts {
  exitReason: ExitReason | null;
  model: string;
  provider: string;
  toolsets: readonly string[];
  /** As offered to the model. */
  tools: readonly ToolSpec[];
  turns: number;
  turnsWithReasoning: number;
  toolCalls: number;
  toolErrors: number;
  apiCalls: number;
  usage: Usage;
  costUsd: number | null;
  reward: number | null;
  rating: number | null;
  /** Epoch ms. */
  startedAt: number;
  endedAt: number;
}

/** Another rollout of the run, for duplicate answers. */
export interface OtherRollout {
  promptIndex: number;
  rollout: number;
}

/** What filters are held against. Functions are asked only when a filter needs what they know. */
export interface FilterSubject {
  facts: FilterFacts;
  promptIndex: number;
  rollout: number;
  /** All messages, whole. */
  messages(): readonly Message[];
  prompt(): string;
  /** The further columns of the dataset's row. */
  row(): Readonly<Record<string, unknown>>;
  /** Values of score rules by their name. */
  scores(): Readonly<Record<string, number | null>>;
  /** A kept rollout of the run with the same final answer: to another prompt, or with `samePrompt` to this one too. */
  sameAnswer(answer: string, samePrompt: boolean): OtherRollout | null;
}

/** Why a trajectory is left out. */
export interface FilterHit {
  /** The filter's name. */
  cause: string;
  /** A sentence in English; translations go by the cause. */
  reason: string;
}
