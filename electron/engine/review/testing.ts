import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ChatBody, type FakeModel, type ModelRequest, startFakeModel } from '../../../e2e/fakes/fake-model.ts';
import { callTool, say, type Step } from '../../../e2e/fakes/steps.ts';
import type { Proposal, Review } from '#shared/contract/reviews.ts';
import { type ChatGround, FAKE, idle, openChats, testHome } from '../chat/testing.ts';
import { MemoryFiles } from '../memory/files.ts';
import { skillsInChats } from '../skills/extension.ts';
import { SkillLibrary } from '../skills/library.ts';
import { sqlFor } from '../store/database.ts';
import type { ReviewDeps } from './deps.ts';
import { ReviewService } from './service.ts';

/** A review that begins only when a test says so by ending a turn: no waiting for what is queued. */
const AT_ONCE = { startDelayMs: 0, idleMs: 3_600_000 };

type Options = Partial<Pick<ReviewDeps, 'startDelayMs' | 'idleMs' | 'now'>> & { config?: Parameters<ChatGround['config']['change']>[0]; begin?: boolean };

export interface ReviewGround extends Awaited<ReturnType<typeof reviewsAt>> {
  fake: FakeModel;
  /** Says something and waits until the turn has ended with an answer. */
  turn: (id: string, text: string) => Promise<void>;
  /** The same in a new chat. Answers with that. */
  talk: (text: string) => Promise<string>;
  respond: FakeModel['respond'];
  /** How often the review agent has asked its model. */
  reviewCalls: () => number;
  /** A review of the chat in which the agent makes these calls. */
  reviewing: (id: string, steps: Step[]) => Promise<Review>;
  /** Ends it like the program; `again` opens it as its next start does. */
  stop: () => Promise<void>;
  again: (options?: Options) => Promise<ReviewGround>;
  /** Ends it and removes its home; what was logged as an error fails the test. */
  close: () => Promise<void>;
}

/** Chats with skills, memory and reviews, as the engine puts them together, with a model server and a home of their own. */
export async function openReviews(options: Options = {}, at?: { fake: FakeModel; home: string; remove: () => void }): Promise<ReviewGround> {
  const place = at ?? { fake: await startFakeModel(), ...testHome() };
  const { fake } = place;
  const t = await reviewsAt(place.home, fake.url, options);
  const spoken = (id: string): number => t.messages(id).filter((m) => m.role === 'user').length;
  let ended: Promise<void> | null = null;
  const stop = (): Promise<void> =>
    (ended ??= t.close().then(() => {
      if (t.errors.length > 0) throw new Error(`Errors were logged:\n${t.errors.join('\n')}`);
    }));
  const turn = async (id: string, text: string): Promise<void> => {
    const before = spoken(id);
    await t.send(id, text);
    await t.until(id, (s) => idle(s) && !s.session.hasDraft && s.queue.length === 0 && spoken(id) > before && t.messages(id).at(-1)?.role === 'assistant');
  };
  return {
    ...t,
    fake,
    stop,
    turn,
    async talk(text) {
      const id = t.chat();
      await turn(id, text);
      return id;
    },
    respond: (responder) => fake.respond(responder),
    reviewCalls: () => fake.chats.filter((c) => isReview(c.body)).length,
    reviewing(id, steps) {
      fake.respond(twoAgents(working(0), making(...steps)));
      return t.asked({ sessionId: id });
    },
    async again(more) {
      await stop();
      return openReviews(more, place);
    },
    async close() {
      try {
        await stop();
      } finally {
        await fake.close();
        place.remove();
      }
    },
  };
}

/** The same in `home`, with the provider `fake` at `baseUrl`. */
async function reviewsAt(home: string, baseUrl: string, { config: changes = [], begin = true, ...delays }: Options) {
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
    /** A new chat. */
    chat: (): string => ground.chats.create({ ...FAKE }).session.id,
    send: (id: string, text: string) => ground.chats.send({ id, text, attachments: [], whenBusy: 'queue' }),
    tip: (id: string): string => ground.chats.get({ id }).tip!,
    /** A file below the folder of skills. */
    file: (path: string): string => readFileSync(join(home, 'skills', path), 'utf8'),
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
    /** Resolves when all reviews have ended and are so many, or any. */
    allEnded(count?: number): Promise<Review[]> {
      return this.reviewsUntil((all) => (count === undefined ? all.length > 0 : all.length === count) && all.every(ended));
    },
    /** A review that the person asks for, when all have ended. */
    async asked(input: Partial<Parameters<ReviewService['start']>[0]>): Promise<Review> {
      const { id } = reviews.start({ kind: 'combined', focus: '', ...input });
      return (await this.allEnded()).find((review) => review.id === id)!;
    },
    /** What the tools of a review answered its agent. */
    answers({ trajectoryId }: Review): string[] {
      const [, messages] = JSON.parse(this.raw(trajectoryId!)) as [unknown, { role: string; content: string }[]];
      return messages.filter((m) => m.role === 'tool').map((m) => m.content);
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

export const manageSkill = (args: Record<string, unknown>, evidence: unknown) => callTool('skill_manage', { ...args, evidence, reason: 'The person said so.' });
export const changeMemory = (args: Record<string, unknown>, evidence: unknown) => callTool('memory', { ...args, evidence, reason: 'The person said so.' });
export const createSkill = (name: string, evidence: unknown, content = SKILL(name)) => manageSkill({ action: 'create', name, content }, evidence);
export const remember = (content: string, evidence: unknown, target = 'user') => changeMemory({ action: 'add', target, content }, evidence);

/** Settings under which every change waits for the person. */
export const ASK_ALWAYS = { memory_add: 'ask', memory_change: 'ask', memory_remove: 'ask', skill_new: 'ask', skill_change: 'ask', skill_remove: 'ask' } as const;

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
