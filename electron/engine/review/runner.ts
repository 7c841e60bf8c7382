import { runChild } from '../delegation/run-child.ts';
import type { ModelChoice } from '../model/service.ts';
import { sqlFor } from '../store/database.ts';
import type { ToolServices } from '../tools/types.ts';
import type { ReviewDeps } from './deps.ts';
import { GONE } from './ends.ts';
import { asksOf, type ReviewKind } from './kinds.ts';
import { reviewModel } from './model-choice.ts';
import { reviewInstructions, reviewRequest } from './prompts.ts';
import { Grounds, type ProposingReview } from './propose/ground.ts';
import { MemoryProposals } from './propose/memory.ts';
import { SkillProposals } from './propose/skills.ts';
import { settingsOf } from './settings.ts';
import { type Conversation, readSources } from './snapshot.ts';
import type { ReviewRecord, ReviewStore } from './store.ts';
import { reviewSandbox, reviewTools } from './tools.ts';
import { transcriptOf } from './transcript.ts';

/** Part of the context that the conversation may take, the most it may take, and what is assumed where nobody knows. Source: Hermes, background review. */
const CONTEXT_PART = 0.75;
const MAX_TOKENS = 600_000;
const USUAL_TOKENS = 120_000;
/** Kept for instructions, tools and the agent's own work. */
const RESERVED_TOKENS = 6_000;
const LEAST_TOKENS = 2_000;
/** What any model in use takes. */
const SURE_TOKENS = 6_000;
const TIMEOUT_MS = 20 * 60_000;
const STALL_MS = 5 * 60_000;

export interface RunningReview {
  record: ReviewRecord;
  store: ReviewStore;
  /** A reason not to make another model call. */
  overBudget: () => string | null;
  changed: () => void;
}

/**
 * Runs one review to its end: an agent with a trajectory of its own reads the conversation as it was and makes proposals. The source is
 * only read. The review's state is in the store when this resolves; what goes wrong is its `error`. Throws only what the store throws.
 * @param signal ends it within a second; its reason is the sentence that is kept
 */
export async function runReview(review: RunningReview, deps: ReviewDeps, signal: AbortSignal): Promise<void> {
  const { record, store, changed } = review;
  const end = (state: 'done' | 'cancelled' | 'failed', error: string | null): void => {
    const given = signal.aborted;
    store.update(record.id, { state: given ? 'cancelled' : state, error: given ? String(signal.reason) : error, endedAt: deps.now() });
  };
  try {
    const conversations = readSources(deps.db, record.sources);
    if (conversations.length === 0) end('cancelled', GONE);
    else await read(review, conversations, deps, signal, end);
  } catch (error) {
    const expected = error instanceof Error && typeof (error as { code?: unknown }).code === 'string';
    if (!expected && !signal.aborted) deps.log.error(`The review ${record.id} failed unexpectedly`, error);
    end('failed', error instanceof Error ? error.message : String(error));
  }
  changed();
}

async function read(review: RunningReview, conversations: Conversation[], deps: ReviewDeps, signal: AbortSignal, end: (state: 'done' | 'failed', error: string | null) => void): Promise<void> {
  const { record, store } = review;
  const place = placeOf(record, deps);
  const config = deps.config.read();
  const settings = settingsOf(config);
  const kind = possible(record.kind, config.memory.enabled);
  if (kind === null) return end('failed', 'The memory is switched off (memory.enabled in config.yaml).');
  const choice = reviewModel(conversations, place?.choice ?? null, deps);
  const model = await deps.models.create(choice);
  const contextLength = await unlessAborted(deps.models.contextLength(choice.provider, choice.model), signal);
  const { sandbox, files, close } = await reviewSandbox(place?.workspace ?? null, deps.home);
  try {
    let trajectoryId: string | null = null;
    const proposing: ProposingReview = { reviewId: record.id, trajectoryId: () => trajectoryId, conversations, settings, proposals: store.proposals, redact: deps.redact, changed: review.changed };
    const grounds = new Grounds(proposing);
    const services = servicesOf(kind, proposing, grounds, place?.workspace ?? null, deps);
    const tools = reviewTools(kind, { services, files, extra: config.review.extra_tools, grounds });
    const { memory, skills } = asksOf(kind);
    const blocks = memory ? deps.memory.promptBlocks() : { memory: null, user: null };
    const known = { memory: blocks.memory, user: blocks.user, skills: skills ? deps.skills.indexFor({ tools: tools.specs, workspace: place?.workspace ?? null }) : null };
    const attempt = (room: { maxTokens: number; digest: boolean }, tooLong: () => boolean): Promise<unknown> =>
      runChild(
        {
          kind: 'review',
          purpose: 'review',
          prompt: `Review: ${store.titleOf(record) || 'a conversation'}`,
          toolsets: [...(memory ? ['memory'] : []), ...(skills ? ['skills'] : []), ...(files ? ['file'] : [])],
          spec: { systemPrompt: reviewInstructions(kind), maxTurns: settings.maxIterations, contextLength },
          input: [{ role: 'user', content: reviewRequest({ kind, focus: record.focus, conversations: conversations.length, transcript: transcriptOf(conversations, room), known, files }), createdAt: deps.now() }],
          agent: { model, tools, sandbox, toolServices: services, overBudget: review.overBudget, ...(deps.redact ? { redact: deps.redact } : {}) },
          timeoutMs: TIMEOUT_MS,
          stallMs: STALL_MS,
          begun: (id) => {
            trajectoryId = id;
            store.update(record.id, { trajectoryId: id });
            review.changed();
          },
          ended: ({ result }) => {
            if (result.exitReason === 'context_overflow' && !signal.aborted && tooLong()) return;
            // out of calls is an end like another: what it proposed by then is there
            if (result.exitReason === 'completed' || result.exitReason === 'max_turns') end('done', null);
            else end('failed', sentenceOf(result));
          },
        },
        deps,
        signal,
      );
    if (signal.aborted) return end('failed', null);
    let again = false;
    // nobody knows how much some models take before they refuse it
    await attempt({ maxTokens: roomIn(contextLength), digest: conversations.some((c) => c.provider !== choice.provider || c.model !== choice.model) }, () => (again = true));
    if (again) await attempt({ maxTokens: SURE_TOKENS, digest: true }, () => false);
  } finally {
    await close().catch((error: unknown) => deps.log.error('The place of a review could not be closed', error));
  }
}

function servicesOf(kind: ReviewKind, proposing: ProposingReview, grounds: Grounds, workspace: string | null, deps: ReviewDeps): ToolServices {
  const { memory, skills } = asksOf(kind);
  return {
    ...deps.toolServices,
    ...(memory ? { memory: new MemoryProposals(deps.memory, proposing, grounds).tools() } : {}),
    ...(skills ? { skills: new SkillProposals(deps.skills, proposing, grounds).tools(workspace) } : {}),
  };
}

/** Without the memory where it is switched off; null when nothing is left. */
function possible(kind: ReviewKind, memory: boolean): ReviewKind | null {
  if (memory || kind === 'skill') return kind;
  return kind === 'combined' ? 'skill' : null;
}

/** Where the chat works and which model it has now; null for what is no chat. */
function placeOf({ sessionId }: ReviewRecord, { db }: ReviewDeps): { workspace: string; choice: ModelChoice } | null {
  const row = sessionId === null ? undefined : db.get(sqlFor.selectFrom('sessions').select(['workspace', 'provider', 'model']).where('id', '=', sessionId));
  return row ? { workspace: row.workspace, choice: { provider: row.provider, model: row.model } } : null;
}

/** Null when the signal comes first: a list of models may take seconds. */
function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return Promise.race([work, new Promise<null>((resolve) => (signal.aborted ? resolve(null) : signal.addEventListener('abort', () => resolve(null), { once: true })))]);
}

function roomIn(contextLength: number | null): number {
  return contextLength === null ? USUAL_TOKENS : Math.max(LEAST_TOKENS, Math.min(MAX_TOKENS, Math.floor(contextLength * CONTEXT_PART) - RESERVED_TOKENS));
}

function sentenceOf({ error, modelError }: { error: string | null; modelError: { providerMessage: string | null } | null }): string {
  const said = modelError?.providerMessage;
  return said && !error?.includes(said) ? `${error ?? ''} The provider said: “${said}”` : (error ?? 'The review ended without an answer.');
}
