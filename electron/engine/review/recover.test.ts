import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callTool } from '../../../e2e/fakes/steps.ts';
import { idle } from '../chat/testing.ts';
import { createSkill, making, openReviews, quote, remember, type ReviewGround, twoAgents, working } from './testing.ts';

let t: ReviewGround;
beforeEach(async () => {
  t = await openReviews();
});
afterEach(() => t.close());

const WHY = quote('tag first');
const run = (sql: string) => t.store.db.connection.prepare(sql).run();

describe('after a kill', () => {
  // Bug: what was done when the power went is offered again, is done twice, or cannot be undone.
  test('what skills and memory know to be done of a proposal counts as done, with all of its changes; what waits waits on', async () => {
    const patch = callTool('skill_manage', { action: 'patch', name: 'release', old_string: 'Tag it.', new_string: 'Tag!', evidence: WHY, reason: 'x' });
    const removal = callTool('memory', { action: 'remove', target: 'user', old_text: 'Tags', evidence: WHY, reason: 'x' });
    t.respond(twoAgents(working(0), making(createSkill('release', WHY), patch, remember('Tags first.', WHY), removal)));
    const id = await t.talk('He will tag first.');
    const review = await t.asked({ sessionId: id });
    const before = review.proposals;
    expect(before.map((p) => p.state)).toEqual(['applied', 'applied', 'waiting']);

    // as the store is when nothing was noted after the changes themselves
    run("UPDATE proposals SET state = 'waiting', done = NULL");
    run("UPDATE reviews SET state = 'running', ended_at = NULL");
    t = await t.again();
    expect(t.all()).toMatchObject([{ state: 'failed', proposals: [{ state: 'applied' }, { state: 'applied' }, { state: 'waiting' }] }]);
    // as it is when the second change of the skill was not noted, and the person had just accepted the entry
    run(`UPDATE proposals SET done = '{"versions":[1]}' WHERE kind = 'skill_new'`);
    run("UPDATE reviews SET state = 'running', ended_at = NULL");
    t = await t.again();
    for (const proposal of before.slice(0, 2)) await t.reviews.decide({ proposalId: proposal.id, decision: 'undo' });
    expect(existsSync(join(t.skillsFolder, 'release'))).toBe(false);
    expect(t.memory.read('user').entries).toEqual([]);
    t = await t.again();
    expect(t.proposals().map((p) => p.state)).toEqual(['undone', 'undone', 'waiting']);
  });

  // Bug: a deleted chat is read after all.
  test('a review that waited for a chat that was deleted meanwhile is not made', async () => {
    t.respond(twoAgents(working(0), making()));
    const id = await t.talk('one');
    t = await t.again({ begin: false });
    t.reviews.start({ sessionId: id, kind: 'combined', focus: '' });
    run(`UPDATE sessions SET deleted_at = ${Date.now()} WHERE id = '${id}'`);
    t = await t.again();
    expect(t.all()).toMatchObject([{ state: 'cancelled', trajectoryId: null }]);
  });
});

describe('each content once', () => {
  // Bug: editing one message makes the whole conversation new, and it is reviewed again from its beginning.
  test('what a branch took over counts as read', async () => {
    t.respond(twoAgents(working(0), making()));
    const id = t.chat();
    for (const text of ['one', 'two', 'three']) await t.turn(id, text);
    await t.chats.mark({ id, archived: true });
    await t.allEnded(1);
    await t.chats.mark({ id, archived: false });
    const seq = t.messages(id).findLast((m) => m.role === 'user')!.seq;
    await t.chats.edit({ id, seq, text: 'three, but other', attachments: [] });
    await t.until(id, (s) => idle(s) && t.messages(id).at(-1)?.role === 'assistant');
    await t.chats.mark({ id, archived: true });
    expect(t.all()).toHaveLength(1);
    await t.chats.mark({ id, archived: false });
    await t.turn(id, 'four');
    await t.chats.mark({ id, archived: true });
    await t.allEnded(2);
  });
});
