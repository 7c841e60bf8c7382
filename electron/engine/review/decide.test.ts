import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Step } from '../../../e2e/fakes/steps.ts';
import type { Proposal } from '#shared/contract/reviews.ts';
import { ASK_ALWAYS, changeMemory, createSkill, making, manageSkill, openReviews, quote, remember, type ReviewGround, SKILL, twoAgents, working } from './testing.ts';

let t: ReviewGround;
let id: string;
beforeEach(async () => {
  t = await openReviews();
  t.respond(twoAgents(working(1), making()));
  await t.turn((id = t.chat()), 'Always tag first.');
});
afterEach(() => t.close());

const WHY = quote('Always tag first');
const manage = (args: Record<string, unknown>) => manageSkill(args, WHY);
const memory = (args: Record<string, unknown>) => changeMemory(args, WHY);
const entries = (target: 'user' | 'memory' = 'user') => t.memory.read(target).entries.map((e) => e.text);
const state = (p: Proposal) => t.proposals().find((q) => q.id === p.id)!;
const decide = (p: Proposal, decision: 'accept' | 'reject' | 'undo', edited?: { path: string; after: string | null }[]) => t.reviews.decide({ proposalId: p.id, decision, ...(edited ? { edited } : {}) });

const review = async (...steps: Step[]): Promise<Proposal[]> => (await t.reviewing(id, steps)).proposals;

describe('decisions', () => {
  // Bug: accepting writes without provenance, twice when pressed twice, or undo leaves half of it.
  test('accepted once, however often; undone wholly; accepted again', async () => {
    t.reviews.configure({ apply: ASK_ALWAYS });
    const [skill, entry] = await review(createSkill('release', WHY), manage({ action: 'write_file', name: 'release', file_path: 'references/tags.md', file_content: 'v1' }), remember('Tags first.', WHY));
    await Promise.all([decide(skill!, 'accept'), decide(skill!, 'accept'), decide(entry!, 'accept'), decide(entry!, 'accept')]);
    expect(t.file('release/references/tags.md')).toBe('v1');
    expect(entries()).toEqual(['Tags first.']);
    const rows = () => t.store.db.connection.prepare('SELECT author, review_id FROM skill_versions ORDER BY id').all();
    expect(rows()).toEqual(Array(2).fill({ author: 'review', review_id: skill!.reviewId }));
    expect(state(skill!)).toMatchObject({ state: 'accepted', error: null });
    expect((await t.skills.list())[0]).toMatchObject({ author: 'review' });

    await decide(skill!, 'undo');
    await decide(skill!, 'undo');
    await decide(entry!, 'undo');
    expect(existsSync(join(t.skillsFolder, 'release'))).toBe(false);
    expect(entries()).toEqual([]);
    expect([state(skill!).state, state(entry!).state]).toEqual(['undone', 'undone']);
    await decide(skill!, 'accept');
    expect(t.file('release/SKILL.md')).toContain('npm test');
  });

  // Bug: what was applied at once cannot be taken back.
  test('what held at once is undone too', async () => {
    const [skill, entry] = await review(createSkill('release', WHY), manage({ action: 'patch', name: 'release', old_string: 'Tag it.', new_string: 'Tag!' }), remember('Tags first.', WHY));
    expect([skill!.state, entry!.state]).toEqual(['applied', 'applied']);
    await decide(skill!, 'undo');
    await decide(entry!, 'undo');
    expect(existsSync(join(t.skillsFolder, 'release'))).toBe(false);
    expect(entries()).toEqual([]);
    expect(() => t.reviews.get({ id: 'nobody' })).toThrow(/no longer in the store/);
    await expect(decide({ ...skill!, id: 'nobody' }, 'undo')).rejects.toMatchObject({ code: 'not_found' });
  });

  // Bug: the person mends a proposal, and what the agent had written is saved.
  test('what the person edited is what is written, and what is shown from then on', async () => {
    t.reviews.configure({ apply: ASK_ALWAYS });
    const [skill, entry] = await review(createSkill('release', WHY), remember('Tags first.', WHY));
    const text = SKILL('release').replace('Tag it.', 'Tag it by hand.');
    await decide(skill!, 'accept', [{ path: 'SKILL.md', after: text }]);
    await decide(entry!, 'accept', [{ path: 'USER.md', after: 'Tags before everything.' }]);
    expect(t.file('release/SKILL.md')).toBe(text);
    expect(entries()).toEqual(['Tags before everything.']);
    expect(state(skill!).changes).toMatchObject([{ path: 'SKILL.md', after: text }]);
    expect(state(entry!).changes).toMatchObject([{ after: 'Tags before everything.' }]);
  });

  // Bug: an edit that is refused has been written into the memory all the same; an emptied entry is kept as it was proposed.
  test('an edit of an entry that is refused writes nothing', async () => {
    t.reviews.configure({ apply: ASK_ALWAYS });
    const [entry] = await review(remember('Tags first.', WHY));
    for (const edited of [[{ path: 'MEMORY.md', after: 'x' }], [{ path: 'USER.md', after: null }], [{ path: 'USER.md', after: '  ' }]]) {
      await expect(decide(entry!, 'accept', edited)).rejects.toMatchObject({ code: 'invalid' });
    }
    expect(entries()).toEqual([]);
    expect(state(entry!).state).toBe('waiting');
  });

  // Bug: a mistake in an edit costs the proposal.
  test('an edit that cannot be is refused, and the proposal waits on', async () => {
    t.reviews.configure({ apply: ASK_ALWAYS });
    const [skill] = await review(createSkill('release', WHY));
    for (const edited of [[{ path: 'SKILL.md', after: 'no frontmatter' }], [{ path: 'SKILL.md', after: null }], [{ path: '../../evil', after: 'x' }]]) {
      await expect(decide(skill!, 'accept', edited)).rejects.toMatchObject({ code: 'invalid' });
      expect(state(skill!).state).toBe('waiting');
    }
    expect(existsSync(join(t.skillsFolder, 'release'))).toBe(false);
  });

  // Bug: accepting an old proposal undoes what the person wrote meanwhile.
  test('a target that changed meanwhile is a conflict; nothing is written over it', async () => {
    await review(createSkill('release', WHY), remember('Tags first.', WHY));
    const [change, remove] = await review(manage({ action: 'patch', name: 'release', old_string: 'Tag it.', new_string: 'Tag!' }), memory({ action: 'replace', target: 'user', old_text: 'Tags', content: 'Signs first.' }));
    writeFileSync(join(t.skillsFolder, 'release/SKILL.md'), SKILL('release').replace('npm test', 'make test'));
    await t.memory.apply('user', [{ op: 'replace', old: 'Tags', text: 'Never tags.' }], { author: 'person' });
    for (const proposal of [change!, remove!]) {
      await expect(decide(proposal, 'accept')).rejects.toMatchObject({ code: 'conflict' });
      expect(state(proposal)).toMatchObject({ state: 'failed' });
      expect(state(proposal).error).toBeTruthy();
    }
    expect(t.file('release/SKILL.md')).toContain('make test');
    expect(t.file('release/SKILL.md')).toContain('Tag it.');
    expect(entries()).toEqual(['Never tags.']);
    expect(t.reviews.counts().waiting).toBe(0);
  });

  // Bug: undo takes away what was changed after it.
  test('undo is a conflict when something was changed since, and leaves that', async () => {
    const [skill] = await review(createSkill('release', WHY));
    const text = t.file('release/SKILL.md').replace('npm test', 'make test');
    await t.skills.change({ action: 'edit', name: 'release', content: text }, { author: 'person', trajectoryId: null, reviewId: null, reason: '' });
    await expect(decide(skill!, 'undo')).rejects.toMatchObject({ code: 'conflict' });
    expect(t.file('release/SKILL.md')).toBe(text);
    expect(state(skill!).state).toBe('applied');
  });

  // #18373 #29912: skills were removed without anybody having said so, and for good.
  test('a removal happens when the person accepts it, and undo brings everything back', async () => {
    await t.skills.change({ action: 'create', name: 'mine', content: SKILL('mine') }, { author: 'person', trajectoryId: null, reviewId: null, reason: '' });
    await t.skills.change({ action: 'write_file', name: 'mine', filePath: 'references/a.md', fileContent: 'kept' }, { author: 'person', trajectoryId: null, reviewId: null, reason: '' });
    const [removal] = await review(manage({ action: 'delete', name: 'mine' }));
    expect(removal).toMatchObject({ kind: 'skill_remove', state: 'waiting' });
    expect(t.file('mine/references/a.md')).toBe('kept');
    await decide(removal!, 'accept');
    expect(existsSync(join(t.skillsFolder, 'mine'))).toBe(false);
    await decide(removal!, 'undo');
    expect(t.file('mine/references/a.md')).toBe('kept');
    expect(t.file('mine/SKILL.md')).toBe(SKILL('mine'));
  });

  // Bug: what was rejected is counted as waiting, or is done by a second press.
  test('rejected: nothing is written; what is done is undone rather than rejected', async () => {
    const [, waiting] = await review(createSkill('release', WHY), memory({ action: 'add', target: 'user', content: 'a' }), memory({ action: 'remove', target: 'user', old_text: 'a' }));
    void waiting;
    const removal = t.proposals().find((p) => p.kind === 'memory_remove')!;
    await decide(removal, 'reject');
    await decide(removal, 'reject');
    expect(state(removal).state).toBe('rejected');
    expect(entries()).toEqual(['a']);
    await expect(decide(removal, 'undo')).rejects.toMatchObject({ code: 'invalid' });
    await expect(decide(t.proposals().find((p) => p.kind === 'skill_new')!, 'reject')).rejects.toMatchObject({ code: 'invalid' });
    expect(t.reviews.counts().waiting).toBe(0);
  });
});
