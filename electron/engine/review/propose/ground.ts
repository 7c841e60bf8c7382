import type { Proposal, ProposalKind, ReviewSettings } from '#shared/contract/reviews.ts';
import type { Finding } from '#shared/contract/skills.ts';
import type { Redaction } from '../../agent/types.ts';
import { ToolError } from '../../tools/define.ts';
import { notToBeKept } from '../capture-rules.ts';
import { checkedEvidence } from '../evidence.ts';
import type { ProposalStore } from '../proposal-store.ts';
import type { Conversation } from '../snapshot.ts';

/** What the proposals of one review have in common. */
export interface ProposingReview {
  reviewId: string;
  /** Of the review agent itself: where its changes come from. */
  trajectoryId: () => string | null;
  conversations: readonly Conversation[];
  settings: ReviewSettings;
  proposals: ProposalStore;
  redact?: Redaction | undefined;
  /** A proposal came, or changed. */
  changed: () => void;
}

const MAX_PROPOSALS = 20;
const MAX_REASON_CHARS = 300;

/** Why a change is made: given beside the arguments of a call, checked when the call turns out to change something. */
export class Grounds {
  readonly #review: ProposingReview;
  #given: { reason: unknown; evidence: unknown } = { reason: undefined, evidence: undefined };

  constructor(review: ProposingReview) {
    this.#review = review;
  }

  give(given: { reason: unknown; evidence: unknown }): void {
    this.#given = given;
  }

  /** Throws ToolError when what is given does not carry a change. */
  check(): Pick<Proposal, 'reason' | 'evidence'> {
    const { conversations, proposals, reviewId } = this.#review;
    const evidence = checkedEvidence(this.#given.evidence, conversations);
    if (proposals.ofReview(reviewId).length >= MAX_PROPOSALS) throw new ToolError(`This review has made ${MAX_PROPOSALS} changes, the most it may. Finish with one line that says what you kept.`);
    const reason = typeof this.#given.reason === 'string' ? this.#given.reason.trim().slice(0, MAX_REASON_CHARS).toWellFormed() : '';
    return { reason, evidence };
  }

  /** Throws ToolError for texts that must not be kept. @param of.short claims that stand for themselves: entries and descriptions */
  keepable(text: string, of: { short: boolean }): void {
    const why = notToBeKept(text, of) ?? ((this.#review.redact?.(text) ?? text) === text ? null : 'This holds a key of the person. Leave it out.');
    if (why !== null) throw new ToolError(why);
  }
}

/** Whether a change waits for the person: what is theirs and what the scan warns of always does. */
export function waits(kind: ProposalKind, settings: ReviewSettings, { persons, findings }: { persons: boolean; findings: readonly Finding[] }): boolean {
  return persons || settings.apply[kind] !== 'at_once' || findings.some((f) => f.severity === 'high' || f.severity === 'critical');
}

export const APPLIED = 'Done: it holds from the next session on. Do not repeat it.';
export const WAITING = 'Taken down: the person decides about it. Go on as if it were done, and do not repeat it.';

/** An expected failure of skills or memory as the model is told it; anything else goes on as it is. */
export async function asToolError<T>(work: () => T | Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ToolError || !(error instanceof Error) || typeof (error as { code?: unknown }).code !== 'string') throw error;
    throw new ToolError(error.message, (error as { details?: Record<string, unknown> }).details ?? {});
  }
}
