import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callTool, contextOverflow, fail, gated, say, together } from '../../../e2e/fakes/steps.ts';
import { idle } from '../chat/testing.ts';
import { getDetail } from '../trajectories/query.ts';
import { createSkill, isReview, making, openReviews, quote, remember, type ReviewGround, twoAgents, working } from './testing.ts';

let t: ReviewGround;
beforeEach(async () => {
  t = await openReviews();
});
afterEach(() => t.close());

describe('the nudge', () => {
  // Bug: eleven calls without a skill teach nothing, teach it twice, or what was learned is not there in the next session.
  test('eleven tool iterations without a skill: one review, whose skill has its provenance, is offered in the next session and used there', async () => {
    t.respond(twoAgents(working(11), making(createSkill('release-package', quote('echo step 3', '2')))));
    const id = await t.talk('Release the package.');
    const before = t.raw(t.tip(id));
    const [review, ...more] = await t.allEnded();
    expect(more).toEqual([]);
    expect(review).toMatchObject({ sessionId: id, kind: 'skill', trigger: 'nudge', state: 'done', error: null, title: 'Release the package.', model: 'fake/fake-model' });
    expect(review!.sources).toEqual([{ trajectoryId: t.tip(id), through: t.messages(id).length - 1 }]);
    expect(review!.proposals).toMatchObject([{ kind: 'skill_new', target: 'release-package', title: 'release-package', state: 'applied', evidence: [{ trajectoryId: t.tip(id), role: 'assistant', quote: 'echo step 3' }] }]);
    // #47268 #47364 #50296: the review wrote into the session, or took it over
    expect(t.raw(t.tip(id))).toBe(before);
    expect(t.chats.get({ id })).toMatchObject({ tip: t.tip(id), branches: [{ trajectoryId: t.tip(id) }] });
    const own = getDetail(t.store.db, review!.trajectoryId!)!;
    expect(own).toMatchObject({ kind: 'review', sessionId: null, state: 'ended', exitReason: 'completed' });

    const [skill] = await t.skills.list();
    expect(skill).toMatchObject({ name: 'release-package', author: 'review', offered: true });
    const version = t.store.db.connection.prepare('SELECT author, trajectory_id, review_id FROM skill_versions').all();
    expect(version).toEqual([{ author: 'review', trajectory_id: review!.trajectoryId, review_id: review!.id }]);

    const next = t.chat();
    const asked = t.fake.chats.length;
    t.respond(({ turnsSinceUser }) => (turnsSinceUser === 0 ? callTool('skill_view', { name: 'release-package' }) : say('Released by the steps.')));
    await t.turn(next, 'Release the other package.');
    expect(JSON.stringify(t.fake.chats[asked]!.body.messages[0])).toContain('release-package');
    expect(t.messages(next).find((m) => m.role === 'tool')).toMatchObject({ toolName: 'skill_view', isError: false });
    expect(t.messages(next).find((m) => m.role === 'tool')!.content).toContain('npm test');
    expect(t.all()).toHaveLength(1);
  });

  // #2235: text of the nudge was put into the person's messages, and from there into training data.
  test('what the person said is what the model is shown and what is stored, before and after a review', async () => {
    t.config.change([[['skills', 'creation_nudge_interval'], 2], [['memory', 'nudge_interval'], 2]]);
    t.respond(twoAgents(working(3), making()));
    const id = t.chat();
    for (const text of ['one', 'two', 'three']) {
      await t.turn(id, text);
      await t.allEnded();
    }
    expect(t.all().length).toBeGreaterThan(1);
    expect(t.messages(id).filter((m) => m.role === 'user').map((m) => m.content)).toEqual(['one', 'two', 'three']);
    for (const { body } of t.fake.chats.filter((c) => !isReview(c.body))) {
      expect(body.messages.filter((m) => m.role === 'user').map((m) => m.content)).toEqual(['one', 'two', 'three'].slice(0, body.messages.filter((m) => m.role === 'user').length));
    }
  });

  // Bug: memory is reviewed after ten answers rather than ten turns of the person, or never.
  test('turns of the person without the memory tool come to a memory review, which has the memory tool and no skills', async () => {
    t.config.change([[['memory', 'nudge_interval'], 3]]);
    t.respond(twoAgents(() => say('Fine.'), making(remember('Prefers answers in German.', quote('answer in German')))));
    const id = await t.talk('Please answer in German.');
    await t.turn(id, 'And now?');
    expect(t.counters(id)).toMatchObject({ turns: 2 });
    expect(t.all()).toEqual([]);
    await t.turn(id, 'Third.');
    const [review] = await t.allEnded();
    expect(review).toMatchObject({ kind: 'memory', state: 'done', proposals: [{ kind: 'memory_add', target: 'user', state: 'applied', title: 'Prefers answers in German.', changes: [{ path: 'USER.md', before: null, after: 'Prefers answers in German.' }] }] });
    expect(t.memory.read('user').entries).toMatchObject([{ text: 'Prefers answers in German.', author: 'review', reviewId: review!.id, trajectoryId: review!.trajectoryId }]);
    expect(t.fake.chats.find((c) => isReview(c.body))!.body.tools!.map((tool) => tool.function.name).sort()).toEqual(['memory', 'read_file', 'search_files']);
    expect(t.counters(id)).toEqual({ iters: 3, turns: 0, due: '' });
  });

  // #13075 #13092: counters were lost with a restart or an interrupt, or the review came twice.
  test('counters outlive a restart and an interrupted turn; the review comes once, after the turn that ends with an answer', async () => {
    t.respond(twoAgents(working(6), making()));
    const id = await t.talk('first');
    expect(t.counters(id)).toMatchObject({ iters: 7, turns: 1 });
    t = await t.again();
    expect(t.counters(id)).toMatchObject({ iters: 7, turns: 1 });
    t.respond(({ turnsSinceUser }) => (turnsSinceUser < 4 ? callTool('terminal', { command: `echo ${turnsSinceUser}` }) : together(say('half an answer'), gated('never', 1))));
    await t.chats.send({ id, text: 'second', attachments: [], whenBusy: 'queue' });
    await t.until(id, () => t.messages(id).filter((m) => m.role === 'tool').length === 10);
    await t.chats.stop({ id });
    expect(t.counters(id).due).toBe('skill');
    expect(t.all()).toEqual([]);
    t.respond(twoAgents(working(0), making()));
    await t.turn(id, 'third');
    await t.allEnded(1);
    await t.turn(id, 'fourth');
    expect(t.all()).toHaveLength(1);
  });

  // Bug: a turn that the provider failed is reviewed, although nothing was answered.
  test('a turn that failed fires nothing', async () => {
    t.config.change([[['skills', 'creation_nudge_interval'], 2]]);
    t.respond(({ turnsSinceUser }) => (turnsSinceUser < 3 ? callTool('terminal', { command: `echo ${turnsSinceUser}` }) : fail(400, { message: 'no' })));
    const id = t.chat();
    await t.chats.send({ id, text: 'go', attachments: [], whenBusy: 'queue' });
    await t.until(id, idle);
    expect(t.counters(id)).toMatchObject({ due: 'skill' });
    expect(t.all()).toEqual([]);
  });

  // Bug: a chat in which the agent keeps its skills by itself is reviewed all the same.
  test('skill_manage in the conversation sets the counter back', async () => {
    t.config.change([[['skills', 'creation_nudge_interval'], 4]]);
    t.respond(({ turnsSinceUser: n }) => (n < 3 ? callTool('terminal', { command: `echo ${n}` }) : n === 3 ? callTool('skill_manage', { action: 'delete', name: 'nothing-there' }) : say('ok')));
    const id = await t.talk('go');
    expect(t.counters(id)).toMatchObject({ iters: 1 });
    expect(t.all()).toEqual([]);
  });

  // Bug: `enabled: false` only hides the results.
  test('switched off, nothing is asked of any model', async () => {
    t.reviews.configure({ enabled: false, skillInterval: 1, memoryInterval: 1 });
    t.respond(twoAgents(working(3), making()));
    const id = await t.talk('go');
    await t.chats.mark({ id, archived: true });
    expect(t.all()).toEqual([]);
    expect(t.reviews.list({ show: 'all', limit: 5 }).paused).toContain('switched off');
  });
});

describe('the review agent', () => {
  const review = async (...steps: Parameters<typeof making>) => {
    t.respond(twoAgents(working(1), making(...steps)));
    const id = await t.talk('Do the thing.');
    return { id, done: await t.asked({ sessionId: id }) };
  };

  // #41465 #27422 #45877 #45892: the review saw read_file and was denied it, wrote blind patches and tried again and again.
  test('reads files of the workspace, and is told which tools there are when it calls another', async () => {
    const id = t.chat();
    const { workspace } = t.chats.get({ id }).settings;
    mkdirSync(workspace, { recursive: true });
    writeFileSync(join(workspace, 'notes.md'), 'the line\n');
    t.respond(twoAgents(working(1), making(callTool('read_file', { path: 'notes.md' }), callTool('terminal', { command: 'rm -rf .' }), callTool('write_file', { path: 'x', content: 'y' }))));
    await t.turn(id, 'go');
    const done = await t.asked({ sessionId: id });
    const [read, terminal] = t.answers(done);
    expect(read).toContain('the line');
    for (const name of ['memory', 'skills_list', 'skill_view', 'skill_manage', 'read_file', 'search_files']) expect(terminal).toContain(name);
    expect(done.state).toBe('done');
    const offered = t.fake.chats.find((c) => isReview(c.body))!.body.tools!.map((tool) => tool.function.name);
    expect(offered).not.toContain('write_file');
    expect(offered).not.toContain('terminal');
  });

  // Bug: the list of tools cannot be widened, or by more than what only reads.
  test('further tools that only read are allowed by config.yaml; others are not', async () => {
    t.config.change([[['review', 'extra_tools'], ['session_search']]]);
    t.respond(twoAgents(working(1), making(callTool('session_search', { query: 'thing' }))));
    const id = await t.talk('Do the thing.');
    const done = await t.asked({ sessionId: id, kind: 'memory' });
    expect(t.answers(done)[0]).toContain('Do the thing.');
    t.reviews.configure({ extraTools: ['web_search'] });
    expect([t.reviews.settings().extraTools, t.config.read().review.extra_tools]).toEqual([['web_search'], ['web_search']]);
    t.config.change([[['review', 'extra_tools'], ['terminal']]]);
    expect(t.config.read().review.extra_tools).toEqual([]);
    expect(t.config.read().problems.join()).toContain('review.extra_tools');
  });

  // Bug: with the memory off a review of it runs without a tool, and costs money for nothing.
  test('without the memory: skills only, or nothing', async () => {
    t.config.change([[['memory', 'enabled'], false]]);
    t.respond(twoAgents(working(1), making()));
    const id = await t.talk('Do the thing.');
    t.reviews.start({ sessionId: id, kind: 'combined', focus: '' });
    await t.allEnded(1);
    expect(t.fake.chats.find((c) => isReview(c.body))!.body.tools!.map((tool) => tool.function.name)).not.toContain('memory');
    t.reviews.start({ sessionId: id, kind: 'memory', focus: '' });
    expect((await t.allEnded(2))[0]).toMatchObject({ state: 'failed', trajectoryId: null });
  });

  // Bug: successes of the copied conversation are announced as the review's own.
  test('what the conversation itself had changed is not proposed again', async () => {
    t.respond(twoAgents(({ turnsSinceUser }) => (turnsSinceUser === 0 ? callTool('memory', { action: 'add', target: 'memory', content: 'Builds with make.' }) : say('ok')), making()));
    const id = await t.talk('remember it');
    const done = await t.asked({ sessionId: id });
    expect(done).toMatchObject({ state: 'done', proposals: [] });
    expect(t.memory.read('memory').entries).toHaveLength(1);
  });

  // #87250: what reviews cost was nowhere to be seen.
  test('its calls are booked as reviews, and the review says what it cost', async () => {
    t.config.change([[['prices', 'fake-model'], { input: 1_000, output: 1_000 }]]);
    t.respond(twoAgents(working(1), () => ({ ...say('Nothing to save.'), usage: { prompt: 1_000, completion: 10 } })));
    const id = await t.talk('go');
    const spentInChat = t.chats.get({ id }).session.costUsd;
    const done = await t.asked({ sessionId: id });
    expect(done).toMatchObject({ costUsd: 1.01, usage: { promptTokens: 1_000, completionTokens: 10 } });
    const rows = t.store.db.connection.prepare("SELECT purpose, sum(calls) AS calls, round(sum(cost_usd), 3) AS usd FROM spend_days WHERE purpose = 'review' GROUP BY purpose").all();
    expect(rows).toEqual([{ purpose: 'review', calls: 1, usd: 1.01 }]);
    expect(t.chats.get({ id }).session.costUsd).toBe(spentInChat);
  });

  // Bug: instructions that stand in a conversation are followed by the one who reviews it; a review runs away.
  test('at most as many calls as it may make; what it proposed by then stays', async () => {
    t.reviews.configure({ maxIterations: 3 });
    const { done } = await review(remember('Likes short answers.', quote('Do the thing')), callTool('skills_list', {}), callTool('memory', { action: 'read' }), callTool('skills_list', { category: 'x' }), callTool('skills_list', { category: 'y' }));
    expect(done).toMatchObject({ state: 'done', proposals: [{ state: 'applied' }] });
    expect(t.reviewCalls()).toBeLessThanOrEqual(4);
  });

  // Bug: the other model is sent everything; or reviews go to the chat's expensive model although another one is set.
  test('another model is asked when one is set, with a digest', async () => {
    t.config.change([[['providers', 'cheap', 'base_url'], t.fake.url], [['providers', 'cheap', 'context_length'], 32_000]]);
    t.reviews.configure({ model: 'cheap/small' });
    t.respond(twoAgents(working(40), making()));
    await t.talk('a long work');
    await t.allEnded(1);
    const asked = t.fake.chats.find((c) => isReview(c.body))!.body;
    expect(asked.model).toBe('small');
    expect(JSON.stringify(asked.messages[1])).toContain('messages are left out here');
    expect(t.all()[0]!.model).toBe('cheap/small');
    expect(() => t.reviews.configure({ model: 'nobody/x' })).toThrow(/no provider/);
  });

  // Bug: a model that does not say how much it takes refuses the conversation, and it is never learned from.
  test('a conversation that the model refuses as too long is tried once more as a digest', async () => {
    t.respond(twoAgents(working(1), () => contextOverflow()));
    const id = await t.talk('Do the thing.');
    const failed = await t.asked({ sessionId: id, kind: 'skill' });
    expect(failed).toMatchObject({ state: 'failed' });
    expect(t.fake.chats.filter((c) => isReview(c.body))).toHaveLength(2);
    let refused = false;
    t.respond(twoAgents(working(1), () => (refused ? say('Nothing to save.') : ((refused = true), contextOverflow()))));
    t.reviews.start({ sessionId: id, kind: 'skill', focus: '' });
    expect((await t.allEnded(2))[0]).toMatchObject({ state: 'done', error: null });
  });

  // Bug: trajectories of a run whose server was given on its command line cannot be learned from.
  test('trajectories whose model is not there any more are read by the model of new chats', async () => {
    t.respond(twoAgents(working(1), making()));
    const id = await t.talk('Do the thing.');
    t.store.db.connection.prepare("UPDATE trajectories SET provider = 'custom', model = 'gone' WHERE kind = 'chat'").run();
    t.reviews.start({ trajectoryIds: [t.tip(id)], kind: 'skill', focus: '' });
    expect((await t.allEnded(1))[0]).toMatchObject({ state: 'done', model: 'fake/fake-model' });
  });

  // #27190: what the review said leaked into the memory of the chat; a later session search found the review instead of the chat.
  test('chats do not see reviews: neither in their lists nor when they search', async () => {
    const { id } = await review(remember('Likes zebras.', quote('Do the thing')));
    expect((await t.chats.list({ limit: 10, archived: false } as never)).items.map((s) => s.id)).toEqual([id]);
    const hits = await t.store.readers.run('sessions', { query: 'thing', limit: 10, roles: null, without: null });
    expect(hits.map((h) => h.sessionId)).toEqual([id]);
  });
});
