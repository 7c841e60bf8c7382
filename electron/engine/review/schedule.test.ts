import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callTool, fail, gated, hangAfter, say, together } from '../../../e2e/fakes/steps.ts';
import { FAKE, idle } from '../chat/testing.ts';
import { getDetail } from '../trajectories/query.ts';
import { createSkill, ended, making, openReviews, quote, type ReviewGround, twoAgents, working } from './testing.ts';

let t: ReviewGround;
beforeEach(async () => {
  t = await openReviews({ config: [[['skills', 'creation_nudge_interval'], 2]] });
});
afterEach(() => t.close());

const answered = (id: string, turns: number) => t.until(id, (s) => idle(s) && t.messages(id).filter((m) => m.role === 'user').length === turns && t.messages(id).at(-1)?.role === 'assistant');
const running = () => t.reviewsUntil((all) => all.some((r) => r.state === 'running' && r.trajectoryId !== null));
const hanging = () => together(say('Let me see'), hangAfter(1));

describe('scheduling', () => {
  // Bug: a review goes on beside the person's next turn and takes the model from them; or what it had learned is thrown away.
  test('given up when the person goes on, whatever its model does; what it had done stays; made up for after the next turn, once', async () => {
    t.respond(twoAgents(working(3), ({ turnsSinceUser: n }) => (n === 0 ? createSkill('tagging', quote('tags first')) : hanging())));
    const id = await t.talk('He tags first.');
    await t.reviewsUntil((all) => all[0]?.proposals[0]?.state === 'applied');
    await t.fake.waitForChats(6);
    t.config.change([[['skills', 'creation_nudge_interval'], 100]]);
    await t.send(id, 'go on');
    const [given] = await t.reviewsUntil((all) => all.every((r) => r.state !== 'running'));
    expect(given).toMatchObject({ state: 'cancelled', error: 'The chat went on before this was done.', proposals: [{ state: 'applied' }] });
    expect(getDetail(t.store.db, given!.trajectoryId!)).toMatchObject({ state: 'ended', exitReason: 'interrupted' });
    expect(await t.skills.list()).toHaveLength(1);
    await answered(id, 2);
    // the next turn is followed by the one that makes up for it, which is given up as well, and by no third
    await running();
    await t.send(id, 'and on');
    await answered(id, 3);
    await t.allEnded(2);
    t.respond(twoAgents(working(0), making()));
    await t.turn(id, 'and on again');
    expect(t.all().map((r) => [r.trigger, r.state])).toEqual([['nudge', 'cancelled'], ['nudge', 'cancelled']]);
    expect(t.counters(id).due).toBe('');
    // what nobody has read by then is read when the session ends
    await t.chats.mark({ id, archived: true });
    expect((await t.allEnded(3))[0]).toMatchObject({ trigger: 'session_end', state: 'done' });
  });

  // #99661: reviews flooded the list, 74 waited.
  test('one at a time; those of a chat that wait are one', async () => {
    const [a, b] = [t.chat(), t.chat()];
    t.respond(twoAgents(working(3), () => together(say('Nothing to save.'), gated('review'))));
    await t.turn(a, 'first');
    await running();
    for (const text of ['one', 'two', 'three']) await t.turn(b, text);
    const waiting = t.all().filter((r) => r.sessionId === b);
    expect(waiting).toMatchObject([{ state: 'queued', kind: 'skill', sources: [{ through: t.messages(b).length - 1 }] }]);
    // asked for by the person as well: the same one, which is theirs from then on
    const asked = t.reviews.start({ sessionId: b, kind: 'memory', focus: 'tone' });
    expect(asked).toMatchObject({ id: waiting[0]!.id, kind: 'combined', trigger: 'manual', focus: 'tone' });
    expect(t.reviews.counts().running).toBe(1);
    t.fake.release('review');
    await t.allEnded(2);
    expect(t.fake.counts.mostOpen).toBeLessThanOrEqual(2);
    expect(t.reviewCalls()).toBe(2);
  });

  // Bug: a review begins between two messages that were sent one after the other.
  test('none begins while its chat is at work', async () => {
    t = await t.again({ startDelayMs: 100 });
    const id = t.chat();
    t.respond(twoAgents(({ lastUser, turnsSinceUser }) => (lastUser === 'second' ? together(say('done'), gated('second')) : working(3)({ turnsSinceUser } as never)), making()));
    await t.send(id, 'first');
    await t.until(id, (s) => s.session.state !== 'idle');
    await t.send(id, 'second');
    await t.until(id, () => t.messages(id).some((m) => m.content === 'second'));
    expect(t.reviewCalls()).toBe(0);
    t.fake.release('second');
    const [review] = await t.allEnded(1);
    expect(review!.sources[0]!.through).toBe(t.messages(id).length - 1);
  });

  // Bug: a provider that refuses is asked again and again.
  test('a failure of the provider is the end of the review, with its words; the same content is not tried again', async () => {
    t.respond(twoAgents(working(3), () => fail(401, { message: 'no such key' })));
    const id = await t.talk('go');
    const [review] = await t.allEnded(1);
    expect(review!.state).toBe('failed');
    expect(review!.error).toContain('no such key');
    expect(getDetail(t.store.db, review!.trajectoryId!)).toMatchObject({ state: 'ended', exitReason: 'provider_error' });
    const asked = t.reviewCalls();
    await t.chats.mark({ id, archived: true });
    expect(t.all()).toHaveLength(1);
    expect(t.reviewCalls()).toBe(asked);
  });

  // Bug: the daily cap is passed by one review after the other, or nobody knows why nothing happens.
  test('caps of the day hold back what nobody asked for, and say so; one row however often; asked for by the person it runs', async () => {
    t.reviews.configure({ dayReviews: 1 });
    t.respond(twoAgents(working(3), making()));
    const id = await t.talk('one');
    await t.allEnded(1);
    expect(t.reviews.list({ show: 'all', limit: 5 }).paused).toContain('review.day_reviews');
    for (const text of ['two', 'three']) {
      await t.turn(id, text);
      await t.allEnded(2);
    }
    const [held] = t.all();
    expect(held).toMatchObject({ state: 'cancelled', trajectoryId: null });
    expect(held!.error).toContain('review.day_reviews');
    expect(t.reviewCalls()).toBe(1);
    t.reviews.start({ sessionId: id, kind: 'combined', focus: '' });
    await t.allEnded(3);
    expect(t.reviewCalls()).toBe(2);
    t.reviews.configure({ dayReviews: 9 });
    expect(t.reviews.list({ show: 'all', limit: 5 }).paused).toBeNull();
  });

  // #87250: reviews cost more than the person would have allowed.
  test('the money of a day ends a review before its next call, and keeps others from beginning', async () => {
    t.config.change([[['prices', 'fake-model'], { input: 1_000, output: 0 }]]);
    t.reviews.configure({ dayUsd: 1 });
    t.respond(twoAgents(working(3), () => ({ ...callTool('skills_list', {}), usage: { prompt: 2_000, completion: 1 } })));
    const id = await t.talk('one');
    const [review] = await t.allEnded(1);
    expect(review).toMatchObject({ state: 'failed', costUsd: 2 });
    expect(review!.error).toContain('review.day_usd');
    await t.turn(id, 'two');
    expect((await t.allEnded(2))[0]!.error).toContain('review.day_usd');
    expect(t.reviewCalls()).toBe(1);
  });

  // Bug: a review that the person stops goes on, or comes again.
  test('cancelled by the person: at once, also while it waits, and not made up for', async () => {
    const [a, b] = [t.chat(), t.chat()];
    t.respond(twoAgents(working(3), hanging));
    await t.turn(a, 'first');
    await running();
    await t.turn(b, 'second');
    const waiting = t.all().find((r) => r.sessionId === b)!;
    expect(await t.reviews.cancel({ id: waiting.id })).toMatchObject({ state: 'cancelled', error: 'Stopped.' });
    const first = t.all().find((r) => r.sessionId === a)!;
    expect(await t.reviews.cancel({ id: first.id })).toMatchObject({ state: 'cancelled', error: 'Stopped.' });
    expect(await t.reviews.cancel({ id: first.id })).toMatchObject({ state: 'cancelled' });
    expect(t.counters(a).due).toBe('');
    await t.chats.mark({ id: a, archived: true });
    expect(t.all()).toHaveLength(2);
  });

  // Bug: closing waits for a model; a review begins while the store is being closed.
  test('closing gives up what runs; what waits goes on at the next start', async () => {
    const [a, b] = [t.chat(), t.chat()];
    t.respond(twoAgents(working(3), hanging));
    await t.turn(a, 'first');
    await running();
    await t.turn(b, 'second');
    await t.stop();
    t.respond(twoAgents(working(0), making()));
    t = await t.again();
    const all = await t.reviewsUntil((reviews) => reviews.every(ended));
    expect(all.map((r) => [r.sessionId, r.state])).toEqual([[b, 'done'], [a, 'cancelled']]);
    expect(t.counters(a).due).toBe('skill');
  });
});

describe('asked for', () => {
  // Bug: "learn from this" of many trajectories makes as many reviews.
  test('several trajectories of the Library: one review, which knows them apart and quotes across', async () => {
    t.config.change([[['skills', 'creation_nudge_interval'], 0]]);
    t.respond(twoAgents(working(1), making()));
    const ids: string[] = [];
    for (const text of ['Deploy blue.', 'Deploy green.', 'Deploy red.']) {
      const id = t.chat();
      await t.turn(id, text);
      ids.push(t.chats.get({ id }).tip!);
    }
    const before = ids.map((id) => t.raw(id));
    t.respond(twoAgents(working(0), making(createSkill('deploy', [{ message: '2:1', quote: 'Deploy green' }, { message: '3:1', quote: 'Deploy red' }]))));
    const review = await t.asked({ trajectoryIds: [...ids, ids[0]!, 'nobody'], kind: 'skill', focus: 'how deploys are done' });
    expect(review).toMatchObject({ sessionId: null, trigger: 'learn', state: 'done', title: 'Deploy blue.', focus: 'how deploys are done', proposals: [{ evidence: [{ trajectoryId: ids[1] }, { trajectoryId: ids[2] }] }] });
    expect(review.sources.map((s) => s.trajectoryId)).toEqual(ids);
    expect(JSON.stringify(t.fake.chats.at(-1)!.body.messages[1])).toContain('how deploys are done');
    expect(ids.map((id) => t.raw(id))).toEqual(before);
  });

  // Bug: nonsense is answered with a review that fails later.
  test('what is not there is refused', () => {
    expect(() => t.reviews.start({ kind: 'combined', focus: '' })).toThrow(expect.objectContaining({ code: 'invalid' }) as Error);
    expect(() => t.reviews.start({ sessionId: 'nobody', kind: 'combined', focus: '' })).toThrow(expect.objectContaining({ code: 'not_found' }) as Error);
    expect(() => t.reviews.start({ sessionId: t.chat(), kind: 'combined', focus: '' })).toThrow(expect.objectContaining({ code: 'invalid' }) as Error);
    expect(() => t.reviews.start({ trajectoryIds: ['nobody'], kind: 'combined', focus: '' })).toThrow(expect.objectContaining({ code: 'not_found' }) as Error);
  });

  // Bug: a review that the person asked for is lost when they go on talking.
  test('goes on while the person goes on', async () => {
    t.reviews.configure({ skillInterval: 0 });
    t.respond(twoAgents(working(0), () => together(say('Nothing to save.'), gated('review'))));
    const id = await t.talk('one');
    t.reviews.start({ sessionId: id, kind: 'combined', focus: '' });
    await running();
    await t.turn(id, 'two');
    t.fake.release('review');
    expect((await t.allEnded(1))[0]).toMatchObject({ trigger: 'manual', state: 'done' });
  });
});

describe('the end of a session', () => {
  beforeEach(() => {
    t.config.change([[['skills', 'creation_nudge_interval'], 10]]);
    t.respond(twoAgents(working(1), making()));
  });

  // #58669: sessions shorter than ten turns were never reviewed, and what they showed was lost.
  test('an archived session that never came to an interval is reviewed once, for both', async () => {
    const id = await t.talk('I prefer tabs.');
    await t.turn(id, 'Thanks.');
    await t.chats.mark({ id, archived: true });
    expect(await t.allEnded(1)).toMatchObject([{ trigger: 'session_end', kind: 'combined', state: 'done' }]);
    expect(t.counters(id)).toEqual({ iters: 0, turns: 0, due: '' });
    await t.chats.mark({ id, archived: false });
    await t.chats.mark({ id, archived: true });
    expect(t.all()).toHaveLength(1);
  });

  // Bug: every question with one answer costs a review; what was thrown away is learned from.
  test('neither one question with its answer, nor a deleted chat, nor a background without words', async () => {
    const [short, gone] = [t.chat(), t.chat()];
    await t.turn(short, 'What is two and two?');
    await t.chats.mark({ id: short, archived: true });
    await t.turn(gone, 'one');
    await t.turn(gone, 'two');
    await t.chats.remove({ id: gone });
    await t.chats.mark({ id: t.chat(), archived: true });
    expect(t.all()).toEqual([]);
  });

  // Bug: a session that the engine was ended with is forgotten, or reviewed at every start.
  test('one that was left open is found at a later start, once; one of a moment ago is left alone', async () => {
    const id = await t.talk('I prefer tabs.');
    await t.turn(id, 'Thanks.');
    t = await t.again();
    expect(t.all()).toEqual([]);
    t = await t.again({ idleMs: 0 });
    await t.allEnded(1);
    t = await t.again({ idleMs: 0 });
    expect(t.all()).toMatchObject([{ sessionId: id, trigger: 'session_end', state: 'done' }]);
  });

  // Bug: an idle chat is reviewed while the person reads, and again when they come back and leave.
  test('a chat that nobody goes on with counts as ended after a while', async () => {
    t = await t.again({ idleMs: 30 });
    const id = await t.talk('I prefer tabs.');
    await t.turn(id, 'Thanks.');
    await t.allEnded(1);
    await t.chats.mark({ id, archived: true });
    expect(t.all()).toHaveLength(1);
  });

  // Bug: what was said in a chat with the memory switched off ends up in the memory when the chat ends.
  test('a chat without a toolset is not reviewed for what it would be for', async () => {
    const [neither, skills] = [t.chats.create({ ...FAKE, toolsets: ['terminal'] }).session.id, t.chats.create({ ...FAKE, toolsets: ['terminal', 'skills'] }).session.id];
    for (const id of [neither, skills]) {
      await t.turn(id, 'My doctor is Dr. Who.');
      await t.turn(id, 'Thanks.');
      await t.chats.mark({ id, archived: true });
    }
    expect(await t.allEnded(1)).toMatchObject([{ sessionId: skills, kind: 'skill', trigger: 'session_end' }]);
  });

  // Bug: a review of the memory that was due before the person switched the memory off comes after it.
  test('what was due before a toolset was switched off is not made up for', async () => {
    t.reviews.configure({ memoryInterval: 1 });
    const id = t.chat();
    t.respond(() => ({ fault: { kind: 'hang' } }));
    await t.chats.send({ id, text: 'one', attachments: [], whenBusy: 'queue' });
    await t.fake.waitForChats(1);
    await t.chats.stop({ id });
    expect(t.counters(id).due).toBe('memory');
    t.chats.configure({ id, settings: { toolsets: ['terminal'] } });
    t.respond(() => say('Fine.'));
    await t.turn(id, 'My doctor is Dr. Who.');
    expect(t.counters(id).due).toBe('');
    expect(t.all()).toEqual([]);
  });

  // Bug: `session_end: false` is ignored.
  test('off by its setting', async () => {
    t.reviews.configure({ sessionEnd: false });
    const id = await t.talk('one');
    await t.turn(id, 'two');
    await t.chats.mark({ id, archived: true });
    expect(t.all()).toEqual([]);
  });
});
