import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callTool, type Step } from '../../../e2e/fakes/steps.ts';
import { ASK_ALWAYS, changeMemory, createSkill, making, manageSkill, openReviews, quote, remember, type ReviewGround, SKILL, twoAgents, working } from './testing.ts';

let t: ReviewGround;
let id: string;
beforeEach(async () => {
  t = await openReviews();
  t.respond(twoAgents(working(1), making()));
  await t.turn((id = t.chat()), SAID);
});
afterEach(() => t.close());

const SAID = 'Release it, and always tag before you publish.';
const WHY = quote('always tag before you publish');
const manage = (args: Record<string, unknown>) => manageSkill(args, WHY);
const memory = (args: Record<string, unknown>) => changeMemory(args, WHY);
/** A review in which the agent makes these calls; with what each of them was answered. */
async function review(...steps: Step[]) {
  const done = await t.reviewing(id, steps);
  return { ...done, answers: t.answers(done).map((text) => JSON.parse(text) as Record<string, unknown>) };
}
const ownSkill = (name: string) => t.skills.change({ action: 'create', name, content: SKILL(name, 'Something that the person wrote for themselves.') }, { author: 'person', trajectoryId: null, reviewId: null, reason: '' });

describe('proposals', () => {
  // Bug: a proposal of a review is written before anybody saw it, or the model is told less than the real tool would say.
  test('by the default settings additions and new skills hold at once; changes and removals wait', async () => {
    const first = await review(createSkill('release', WHY), remember('Tags before publishing.', WHY), manage({ action: 'patch', name: 'release', old_string: 'Tag it.', new_string: 'Tag it, then publish.' }));
    // a skill that this very review made is one proposal, however many calls it took
    expect(first.proposals).toMatchObject([
      { kind: 'skill_new', state: 'applied', changes: [{ path: 'SKILL.md', before: null }] },
      { kind: 'memory_add', state: 'applied' },
    ]);
    expect(first.proposals[0]!.changes[0]!.after).toContain('Tag it, then publish.');
    expect(t.file('release/SKILL.md')).toContain('Tag it, then publish.');

    const second = await review(
      manage({ action: 'patch', name: 'release', old_string: 'npm test', new_string: 'npm run check' }),
      memory({ action: 'replace', target: 'user', old_text: 'Tags before', content: 'Tags before publishing, always.' }),
      memory({ action: 'remove', target: 'user', old_text: 'Tags before publishing' }),
    );
    expect(second.answers.map((a) => a['applied'])).toEqual([false, false, false]);
    expect(second.proposals).toMatchObject([
      { kind: 'skill_change', target: 'release', state: 'waiting', changes: [{ path: 'SKILL.md' }] },
      { kind: 'memory_change', target: 'user', state: 'waiting', changes: [{ before: 'Tags before publishing.', after: 'Tags before publishing, always.' }] },
      { kind: 'memory_remove', target: 'user', state: 'waiting', changes: [{ before: 'Tags before publishing, always.', after: null }] },
    ]);
    expect(t.file('release/SKILL.md')).toContain('npm test');
    expect(t.memory.read('user').entries.map((e) => e.text)).toEqual(['Tags before publishing.']);
    expect(t.reviews.counts()).toEqual({ waiting: 3, running: 0 });
  });

  // Bug: the setting of a kind is not looked at.
  test('each kind by its setting', async () => {
    t.reviews.configure({ apply: { memory_add: 'ask', memory_change: 'at_once', memory_remove: 'at_once', skill_new: 'ask', skill_change: 'at_once', skill_remove: 'ask' } });
    await t.memory.apply('memory', [{ op: 'add', text: 'Builds with make.' }], { author: 'agent' });
    const { proposals } = await review(createSkill('release', WHY), remember('Tags first.', WHY), memory({ action: 'replace', target: 'memory', old_text: 'make', content: 'Builds with ninja.' }));
    expect(proposals.map((p) => [p.kind, p.state])).toEqual([['skill_new', 'waiting'], ['memory_add', 'waiting'], ['memory_change', 'applied']]);
    expect(t.reviews.settings().apply).toMatchObject({ memory_add: 'ask', skill_change: 'at_once' });
  });

  // #19040 #44942: a review rewrote skills that the person had written.
  test("the person's own skills wait for them, whatever the settings say", async () => {
    t.reviews.configure({ apply: { memory_add: 'at_once', memory_change: 'at_once', memory_remove: 'at_once', skill_new: 'at_once', skill_change: 'at_once', skill_remove: 'at_once' } });
    await ownSkill('mine');
    const before = t.file('mine/SKILL.md');
    const { proposals, answers } = await review(manage({ action: 'patch', name: 'mine', old_string: 'Tag it.', new_string: 'Sign it.' }), createSkill('other', WHY, SKILL('other', 'Sets up a new laptop with all the keys and tools.')));
    expect(proposals.map((p) => [p.kind, p.state])).toEqual([['skill_change', 'waiting'], ['skill_new', 'applied']]);
    expect(answers[0]).toMatchObject({ success: true, applied: false });
    expect(t.file('mine/SKILL.md')).toBe(before);
    // and what the person pinned: it is not removed at all
    t.skills.setMark('own/other', { pinned: true });
    const pinned = await review(manage({ action: 'patch', name: 'other', old_string: 'Tag it.', new_string: 'Sign it.' }), manage({ action: 'delete', name: 'other' }));
    expect(pinned.proposals.filter((p) => p.state !== 'waiting')).toEqual([]);
    expect(t.file('other/SKILL.md')).toContain('Tag it.');
  });

  // #33064 #63388 #58475: a patch after a create that was only planned fails, and the review turns in circles.
  test('later calls see what earlier ones proposed, also what waits', async () => {
    t.reviews.configure({ apply: ASK_ALWAYS });
    const { proposals, answers } = await review(
      createSkill('release', WHY),
      manage({ action: 'patch', name: 'release', old_string: 'Tag it.', new_string: 'Tag and sign it.' }),
      manage({ action: 'patch', name: 'release', old_string: 'Tag it.', new_string: 'x' }),
      manage({ action: 'write_file', name: 'release', file_path: 'references/tags.md', file_content: 'v1.2.3' }),
      manage({ action: 'write_file', name: 'release', file_path: '../../x.md', file_content: 'out' }),
      callTool('skill_view', { name: 'release' }),
      remember('Tags first.', WHY),
      memory({ action: 'replace', target: 'user', old_text: 'Tags first', content: 'Tags first, then publishes.' }),
    );
    expect(answers[1]).toMatchObject({ success: true });
    expect(answers[2]!['error']).toContain('skill_view');
    expect(answers[4]!['error']).toBeTruthy();
    expect(answers[5]!['content']).toContain('Tag and sign it.');
    expect(proposals.map((p) => [p.kind, p.state, p.changes.map((c) => c.path)])).toEqual([
      ['skill_new', 'waiting', ['SKILL.md', 'references/tags.md']],
      ['memory_add', 'waiting', ['USER.md']],
      ['memory_change', 'waiting', ['USER.md']],
    ]);
    expect(proposals[2]!.changes[0]).toMatchObject({ before: 'Tags first.', after: 'Tags first, then publishes.' });
    expect((await t.skills.list()).length).toBe(0);
  });

  // Bug: the model hears of a mistake only when the person accepts.
  test('a call that could not be done is refused at once, with the words of the real tool, and proposes nothing', async () => {
    const { proposals, answers } = await review(
      manage({ action: 'patch', name: 'nobody', old_string: 'a', new_string: 'b' }),
      manage({ action: 'create', name: 'no frontmatter', content: 'just text' }),
      manage({ action: 'create', name: 'escape', category: '../../x', content: SKILL('escape') }),
      memory({ action: 'replace', target: 'user', old_text: 'not there', content: 'x' }),
      memory({ action: 'add', target: 'memory', content: 'x'.repeat(5_000) }),
    );
    expect(answers.map((a) => typeof a['error'])).toEqual(Array(5).fill('string'));
    expect(proposals).toEqual([]);
  });

  // #66350 #75423: one-offs and things that nobody had said were saved.
  test('no change without evidence; no failures of the surroundings; no secrets', async () => {
    const { proposals, answers } = await review(
      createSkill('release', undefined),
      remember('Likes blue.', quote('I like blue')),
      remember('The browser tool does not work.', WHY, 'memory'),
      remember('The token is ghp_abcdefghijklmnopqrst.', WHY, 'memory'),
      createSkill('deploy', WHY, `${SKILL('deploy')}\nexport KEY=sk-abcdefghijklmnopqrstuv\n`),
    );
    for (const answer of answers) expect(typeof answer['error']).toBe('string');
    expect(answers[0]!['error']).toContain('"evidence"');
    expect(proposals).toEqual([]);
    expect(t.memory.read('user').entries).toEqual([]);
  });

  // #99661: one review left 74 items.
  test('at most 20 proposals of one review', async () => {
    t.reviews.configure({ maxIterations: 40 });
    const { proposals } = await review(...Array.from({ length: 24 }, (_, i) => remember(`Fact ${i}.`, WHY)));
    expect(proposals).toHaveLength(20);
  });
});
