import { join } from 'node:path';
import type { ChatBody, ModelRequest } from '../../../e2e/fakes/fake-model.ts';
import { callTool, say, type Step } from '../../../e2e/fakes/steps.ts';
import type { Proposal, Review } from '#shared/contract/reviews.ts';
import { type ChatGround, openChats } from '../chat/testing.ts';
import { MemoryFiles } from '../memory/files.ts';
import { skillsInChats } from '../skills/extension.ts';
import { SkillLibrary } from '../skills/library.ts';
import { sqlFor } from '../store/database.ts';
import type { ReviewDeps } from './deps.ts';
import { ReviewService } from './service.ts';

/** A review that begins only when a test says so by ending a turn: no waiting for what is queued. */
const AT_ONCE = { startDelayMs: 0, idleMs: 3_600_000 };

export type ReviewGround = Awaited<ReturnType<typeof openReviews>>;

/** Chats with skills, memory and reviews on a real store, as the engine puts them together, with the provider `fake` at `baseUrl`. */
export async function openReviews(home: string, baseUrl: string, { config: changes = [], begin = true, ...delays }: Partial<Pick<ReviewDeps, 'startDelayMs' | 'idleMs' | 'now'>> & { config?: Parameters<ChatGround['config']['change']>[0]; begin?: boolean } = {}) {
  let made: { reviews: ReviewService; memory: MemoryFiles; skills: SkillLibrary } | null = null;
  const ground = await openChats(home, baseUrl, {
    ...(delays.now ? { now: delays.now } : {}),
    config: (file) => file.change([[['chat', 'checkpoints'], false], ...changes]),
    extend: ({ db, readers, hub, now, log, home: paths, config, models, spend }) => {
      const memory = new MemoryFiles({ db, folder: paths.memories, config, now, log });
      const skills = new SkillLibrary({ db, home: paths, config, now, log });
      const reviews = new ReviewService({ db, hub, now, log, home, config: config as ReviewDeps['config'], models, spend: spend as ReviewDeps['spend'], skills, memory, toolServices: { searchSessions: (input) => readers.run('sessions', { ...input, without: null }) }, ...AT_ONCE, ...delays });
      made = { reviews, memory, skills };
      return [memory.extension(), skillsInChats(skills, now), reviews.extension()];
    },
  });
  const { reviews, memory, skills } = made!;
  await skills.recover();
  reviews.recover();
  if (begin) reviews.begin();
  return {
    ...ground,
    reviews,
    memory,
    skills,
    skillsFolder: join(home, 'skills'),
    all: (): Review[] => reviews.list({ show: 'all', limit: 100 }).items,
    proposals: (): Proposal[] => reviews.list({ show: 'all', limit: 100 }).items.flatMap((review) => review.proposals),
    counters(id: string) {
      const row = ground.store.db.get(sqlFor.selectFrom('sessions').select(['iters_since_skill', 'turns_since_memory', 'review_due']).where('id', '=', id))!;
      return { iters: row.iters_since_skill, turns: row.turns_since_memory, due: row.review_due };
    },
    /** Every row of a trajectory as the store has it. */
    raw(trajectoryId: string): string {
      const { db } = ground.store;
      const head = db.get(sqlFor.selectFrom('trajectories').selectAll().where('id', '=', trajectoryId))!;
      return JSON.stringify([head, db.all(sqlFor.selectFrom('messages').selectAll().where('trajectory_n', '=', head.n).orderBy('seq'))]);
    },
    /** Resolves with the reviews once they are so. */
    async reviewsUntil(fits: (reviews: Review[]) => boolean): Promise<Review[]> {
      const abort = new AbortController();
      try {
        for await (const _ of reviews.changes(abort.signal)) {
          const now = this.all();
          if (fits(now)) return now;
        }
      } finally {
        abort.abort();
      }
      throw new Error('Reviews ended before they came to that state');
    },
    async close(): Promise<void> {
      await reviews.close();
      await ground.close();
    },
  };
}

export const ended = (review: Review): boolean => !['queued', 'running'].includes(review.state);

/** What the review agent quotes. */
export const quote = (text: string, message = '1') => [{ message, quote: text }];

export const SKILL = (name: string, description = 'Releases a package: build, check, tag and publish in this order.', body = '# Steps\n\n1. Run `npm test`.\n2. Tag it.\n') => `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}`;

export const createSkill = (name: string, evidence: unknown, content = SKILL(name)) => callTool('skill_manage', { action: 'create', name, content, evidence, reason: 'Found with effort.' });
export const remember = (content: string, evidence: unknown, target = 'user') => callTool('memory', { action: 'add', target, content, evidence, reason: 'The person said so.' });

/** Answers of the agent in chats and of the review agent, each by how often it was asked since the person spoke. Queued steps go before. */
export function twoAgents(chat: (request: ModelRequest) => Step, review: (request: ModelRequest) => Step): (request: ModelRequest) => Step {
  return (request) => (isReview(request.body) ? review(request) : chat(request));
}

/** A request that the review agent made. */
export function isReview(body: ChatBody): boolean {
  const [first] = body.messages;
  return typeof first?.content === 'string' && first.content.startsWith('You review a finished conversation');
}

/** A turn of `calls` tool calls and an answer. */
export const working = (calls: number) => ({ turnsSinceUser: n }: ModelRequest): Step => (n < calls ? callTool('terminal', { command: `echo step ${n}` }) : say('All of it is done.'));

/** The review agent makes these calls one after the other, then ends. */
export const making = (...steps: Step[]) => ({ turnsSinceUser: n }: ModelRequest): Step => steps[n] ?? say('Nothing to save.');
