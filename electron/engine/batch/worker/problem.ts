import type { RolloutResult } from '../queue/types.ts';

/** Why an attempt could not begin. */
export type ProblemCause =
  /** A column of the row cannot be used. */
  | 'bad_row'
  /** The row names a tool or toolset that nobody knows, or that is not part of this version. */
  | 'unknown_tool'
  /** One that exists and is not set up here. */
  | 'tool_unavailable'
  /** The run's distribution cannot be used any more. */
  | 'distribution'
  /** No docker, or one that does not answer. */
  | 'docker_missing'
  /** The image of a container could not be had. */
  | 'image_pull'
  /** An image in which no command can be run, or a container that did not start. */
  | 'container'
  /** The workspace could not be made. */
  | 'sandbox'
  | 'disk_full'
  /** A fault of the program. */
  | 'defect';

/** An attempt that cannot begin for a reason that a person can understand. */
export class RolloutProblem extends Error {
  readonly problem: ProblemCause;
  /** The same row may succeed without being changed. */
  readonly retryable: boolean;
  constructor(problem: ProblemCause, message: string, { retryable, cause }: { retryable: boolean; cause?: unknown }) {
    super(message, { cause });
    this.name = 'RolloutProblem';
    this.problem = problem;
    this.retryable = retryable;
  }

  get defect(): NonNullable<RolloutResult['defect']> {
    return { cause: this.problem, reason: this.message, retryable: this.retryable };
  }
}
