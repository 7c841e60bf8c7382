import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { skillManageTool, skillViewTool } from '../tools/skills.ts';
import type { SkillChange } from '../tools/types.ts';
import { openBench, type Bench } from '../tools/testing.ts';
import { AGENT, contextOf, openSkills, PERSON, type SkillGround, skillText } from './testing.ts';

let t: SkillGround;
beforeEach(async () => {
  t = await openSkills();
});
afterEach(() => t.close());

const make = (name: string, body = 'Do it.', description?: string) => t.library.change({ action: 'create', name, content: skillText(name, body, description) }, AGENT);
const change = (input: SkillChange, by = AGENT) => t.library.change(input, by);
const main = (path: string): string => readFileSync(join(t.home.skills, path, 'SKILL.md'), 'utf8');
const tools = (more: { author?: 'agent' | 'review'; workspace?: string } = {}) => t.library.toolsFor({ author: more.author ?? 'agent', trajectoryId: () => 't1', workspace: more.workspace ?? null });

describe('#1939, #3844: a category or name that leads elsewhere', () => {
  it('is refused', async () => {
    // Bug: create writes outside of the skills.
    for (const category of ['../../x', '/etc', 'a/../../b', '..', '.hidden', 'a\\b', 'a\0b', 'a/b/c', 'CON', 'x'.repeat(65), ' ']) {
      await expect(change({ action: 'create', name: 'fine', category, content: skillText('fine') }), category).rejects.toMatchObject({ code: 'invalid', field: 'category' });
    }
    for (const name of ['../x', '/x', 'a/b', '..', 'A', 'a b', 'a\0', '', 'a.', 'nul']) {
      await expect(change({ action: 'create', name, content: skillText('fine') }), name).rejects.toMatchObject({ code: 'invalid', field: 'name' });
    }
  });
});

describe('#38643: reading and writing files outside of a skill', () => {
  it('is refused by view, write, patch and remove', async () => {
    // Bug (P0): skill_view reads any file of the machine.
    await make('fine');
    writeFileSync(join(t.root, 'secret'), 'secret');
    for (const filePath of ['../secret', '/etc/passwd', 'references/../../x', '~/x', 'C:/x', 'references\\..\\x', 'a\0b', 'references/../../../etc/passwd']) {
      await expect(tools().view({ name: 'fine', filePath }), filePath).rejects.toThrow(/Give a path inside/);
      for (const action of ['write_file', 'remove_file', 'patch'] as const) {
        await expect(change({ action, name: 'fine', filePath, fileContent: 'x', oldString: 'a', newString: 'b' }), filePath).rejects.toThrow(/Give a path inside/);
      }
    }
  });

  it('a link out is neither read nor written through, and makes the skill a danger that no model sees', async () => {
    // Bug: a link in a skill shows an agent any file; writing goes through it.
    await make('fine');
    writeFileSync(join(t.root, 'secret'), 'secret');
    mkdirSync(join(t.home.skills, 'fine/references'));
    symlinkSync(join(t.root, 'secret'), join(t.home.skills, 'fine/references/a.md'));
    await expect(tools().view({ name: 'fine', filePath: 'references/a.md' })).rejects.toThrow(/may be dangerous/);
    await expect(change({ action: 'write_file', name: 'fine', filePath: 'references/a.md', fileContent: 'x' })).rejects.toThrow(/link/);
    const detail = await t.service.get({ id: 'own/fine' });
    expect(detail.summary).toMatchObject({ verdict: 'dangerous', offered: false });
    expect(detail.findings).toMatchObject([{ category: 'symlink', file: 'references/a.md', excerpt: join(t.root, 'secret') }]);
    expect((await t.service.file({ id: 'own/fine', path: 'SKILL.md' })).text).toContain('Do it.');
    await expect(t.service.file({ id: 'own/fine', path: 'references/a.md' })).rejects.toMatchObject({ code: 'not_found' });
    expect(readFileSync(join(t.root, 'secret'), 'utf8')).toBe('secret');
    symlinkSync(t.root, join(t.home.skills, 'elsewhere'));
    await expect(change({ action: 'create', name: 'x', category: 'elsewhere', content: skillText('x', 'y', 'Quite another thing to do') })).rejects.toThrow(/link/);
    expect(existsSync(join(t.root, 'x'))).toBe(false);
  });
});

it('#40453: file_path "SKILL.md" is the main file', async () => {
  // Bug: patch and view refuse the file that they mean when it is left out.
  await make('fine');
  await change({ action: 'patch', name: 'fine', filePath: 'SKILL.md', oldString: 'Do it.', newString: 'Do it well.' });
  await change({ action: 'write_file', name: 'fine', filePath: './SKILL.md', fileContent: skillText('fine', 'Do it better.') });
  expect(await tools().view({ name: 'fine', filePath: 'SKILL.md' })).toMatchObject({ content: skillText('fine', 'Do it better.') });
  await expect(change({ action: 'remove_file', name: 'fine', filePath: 'SKILL.md' })).rejects.toThrow(/use action "delete"/);
});

it('#110974: links of documents that go up are no danger, paths to files of the system are', async () => {
  // Bug: the guard blocks a skill for "[see](../other/README.md)".
  await make('links', 'See [the other](../../docs/README.md), `import x from "../lib"` and ../notes.md.');
  expect((await t.service.get({ id: 'own/links' })).summary).toMatchObject({ verdict: 'safe', offered: true });
  await expect(make('etc', 'Run `cat ../../../etc/passwd`.', 'Reads who may log in here')).rejects.toThrow(/Refused/);
});

describe('#13265, #37352: near duplicates, related skills, lint', () => {
  it('an agent is told of what is there before it makes the same again, and can say that it is another thing', async () => {
    // Bug: twenty skills about one thing.
    await make('git-rebase', 'a', 'Rebase a branch onto another and solve conflicts');
    await expect(make('rebase-git', 'b', 'Something')).rejects.toMatchObject({ code: 'conflict', details: { similar: [{ name: 'git-rebase' }] } });
    await expect(make('branches', 'b', 'Rebase branches onto another and solve the conflicts')).rejects.toThrow(/"git-rebase".*patch/);
    await change({ action: 'create', name: 'branches', content: skillText('branches', 'b', 'Rebase branches onto another and solve the conflicts'), allowSimilar: true });
    await make('poems', 'c', 'Writes sonnets about the sea');
    await expect(make('poems')).rejects.toThrow(/already/);
  });

  it('related_skills, linked files, platform and what must be installed are looked at', async () => {
    // Bug: related_skills that nobody ever made; a script that is named and not there.
    t.put('odd/SKILL.md', '---\nname: even\ndescription: Does things with tools that are not here\nplatforms: [macos]\nprerequisites:\n  commands: [no-such-command-here]\n  env_vars: [NO_SUCH_VAR]\nmetadata:\n  hermes:\n    related_skills: [nobody]\n---\nRun scripts/go.sh, see [more](references/more.md) and [up](../x.md).\n');
    const { lint, summary } = await t.service.get({ id: 'own/odd' });
    expect(new Set(lint.map(({ code }) => code))).toEqual(new Set(['name_not_folder', 'file_missing', 'link_outside', 'platform_other', 'prerequisite_missing', 'related_missing']));
    await expect(tools().view({ name: 'even', filePath: null })).rejects.toMatchObject({ details: { readiness: 'unsupported' } });
    expect(summary).toMatchObject({ name: 'even', offered: false, notOffered: 'It is only for macos.' });
  });
});

describe('#117736: one reader for loading and for changing', () => {
  const LOOSE = '---\nname: loose\ndescription: Use this: when it rains\n---\nBody\n';

  it('what loads can be patched; what was wrong before is not held against an edit; what it made worse is named by its key', async () => {
    // Bug: the skill loads leniently and every patch of it is refused by a strict reader.
    t.put('loose/SKILL.md', LOOSE);
    expect((await t.service.get({ id: 'own/loose' })).summary).toMatchObject({ description: 'Use this: when it rains', offered: true });
    await change({ action: 'patch', name: 'loose', oldString: 'Body', newString: 'Better body' }, { ...AGENT, consent: true });
    expect(main('loose')).toBe(LOOSE.replace('Body', 'Better body'));
    await expect(change({ action: 'patch', name: 'loose', oldString: 'Use this: when it rains', newString: '[Use this' }, { ...AGENT, consent: true })).rejects.toThrow(/key "description"/);
    await expect(change({ action: 'patch', name: 'loose', oldString: 'description: Use this: when it rains', newString: 'summary: x' }, { ...AGENT, consent: true })).rejects.toThrow(/key "description"/);
    expect(main('loose')).toContain('Use this: when it rains');
  });

  it('a text that nobody can read may be mended, also in steps', async () => {
    // Bug: a broken file can only be mended by a person, because each patch is checked as a whole.
    t.put('broken/SKILL.md', '---\nname: broken\ndescription: [x\n---\n');
    await change({ action: 'patch', name: 'broken', oldString: '[x', newString: 'Mends what is broken' }, { ...AGENT, consent: true });
    await change({ action: 'patch', name: 'broken', oldString: 'broken\n---\n', newString: 'broken\n---\nDo it.\n' }, { ...AGENT, consent: true });
    expect((await t.service.get({ id: 'own/broken' })).summary).toMatchObject({ errors: 0, offered: true });
  });
});

describe('#33064, #63388, #58475: errors that say the next step', () => {
  const CASES: [Partial<SkillChange>, RegExp, Record<string, unknown>][] = [
    [{}, /needs old_string: text that stands in SKILL\.md exactly once, copied from skill_view/, { file_preview: skillText('fine', 'One.\nTwo.\nOne.') }],
    [{ content: 'x' }, /use action "edit"/, {}],
    [{ oldString: 'One.' }, /needs new_string/, {}],
    [{ oldString: 'One.', newString: 'One.' }, /the same/, {}],
    [{ oldString: 'One.', newString: 'Three.' }, /stands 2 times.*replace_all/, { match_count: 2, lines: [6, 8] }],
    [{ oldString: 'Twoo.', newString: 'Three.' }, /copy old_string from them/, { match_count: 0, closest_lines: expect.stringContaining('7|Two.') as string }],
    [{ oldString: 'zzzzzzzzzz', newString: 'Two.' }, /made already/, { match_count: 0 }],
    [{ oldString: 'qqqqqqqq', newString: 'x', filePath: 'references/a.md' }, /has no file "references\/a\.md". It has SKILL\.md/, { available_files: ['SKILL.md'] }],
  ];

  it('a patch that cannot be made', async () => {
    // Bug: "old_string is required", and the model tries the same call for ever.
    await make('fine', 'One.\nTwo.\nOne.');
    for (const [input, message, details] of CASES) {
      const error = await change({ action: 'patch', name: 'fine', ...input }).catch((e: unknown) => e);
      expect(error, JSON.stringify(input)).toMatchObject({ message: expect.stringMatching(message) as string, details });
    }
  });

  it('what is long is shown in short, and replace_all changes every place', async () => {
    // Bug: an error that echoes 100,000 characters.
    await make('fine', 'One. '.repeat(2_000));
    const error = (await change({ action: 'patch', name: 'fine' }).catch((e: unknown) => e)) as { details: { file_preview: string } };
    expect(error.details.file_preview.length).toBeLessThanOrEqual(501);
    await change({ action: 'patch', name: 'fine', oldString: 'One.', newString: 'Two.', replaceAll: true });
    expect(main('fine')).not.toContain('One.');
    await expect(change({ action: 'edit', name: 'fine' })).rejects.toThrow(/needs content/);
    await expect(change({ action: 'write_file', name: 'fine', filePath: 'x.md', fileContent: 'x' })).rejects.toThrow(/Put it below references\//);
    await expect(change({ action: 'remove_file', name: 'fine', filePath: 'references/no.md' })).rejects.toThrow(/It has SKILL\.md/);
    await expect(change({ action: 'patch', name: 'fin', oldString: 'a', newString: 'b' })).rejects.toThrow(/Did you mean "fine"/);
  });
});

describe('#19040, #44942: what is the person\'s own', () => {
  it('is changed by an agent only when the person says yes in the chat, and never by a review', async () => {
    // Bug: an update or the curator moves or rewrites skills that people wrote.
    t.put('mine/SKILL.md', skillText('mine', 'My way.'));
    await t.service.create({ name: 'made', category: null, description: 'Made by hand in the screen' });
    for (const name of ['mine', 'made']) await expect(change({ action: 'delete', name })).rejects.toThrow(/person's own.*consent/);
    await expect(change({ action: 'patch', name: 'mine', oldString: 'My', newString: 'Its' }, { ...AGENT, author: 'review' })).rejects.toThrow(/person's own/);
    const asked: string[] = [];
    const call = (answer: boolean) => tools().manage!({ action: 'patch', name: 'mine', oldString: 'My', newString: 'Its', reason: 'shorter' }, contextOf((request) => (asked.push(`${request.key} ${request.reason}`), Promise.resolve(answer))));
    await expect(call(false)).rejects.toThrow(/does not want/);
    expect(main('mine')).toContain('My way.');
    await expect(tools().manage!({ action: 'patch', name: 'mine', oldString: 'My', newString: 'Its' }, contextOf())).rejects.toThrow(/person's own/);
    await expect(tools({ author: 'review' }).manage!({ action: 'patch', name: 'mine', oldString: 'My', newString: 'Its' }, contextOf(() => Promise.resolve(true)))).rejects.toThrow(/person's own/);
    expect(await call(true)).toMatchObject({ success: true });
    expect(main('mine')).toContain('Its way.');
    expect(asked).toEqual(['skill:mine The agent wants to change your skill "mine": shorter', 'skill:mine The agent wants to change your skill "mine": shorter']);
    expect((await t.service.versions({ id: 'own/mine' })).items.map((v) => [v.action, v.author])).toEqual([['patch', 'agent'], ['found', 'person']]);
  });

  it('an agent\'s skill that a person has written in is theirs, and provenance stays (#18373, #29912)', async () => {
    // Bug: hand-written text is overwritten because an agent had begun the file; the view calls it agent-made or hand-made at random.
    await make('shared');
    await change({ action: 'patch', name: 'shared', oldString: 'Do it.', newString: 'Do it well.' });
    const { hash, text } = await t.service.get({ id: 'own/shared' });
    await t.service.save({ id: 'own/shared', text: `${text}Mind the gap.\n`, baseHash: hash, reason: '' });
    await expect(change({ action: 'delete', name: 'shared' })).rejects.toThrow(/person's own/);
    expect((await t.service.get({ id: 'own/shared' })).summary.author).toBe('agent');
    expect((await t.library.plan({ action: 'patch', name: 'shared', oldString: 'Mind', newString: 'Watch' })).changes).toMatchObject([{ path: 'SKILL.md', after: expect.stringContaining('Watch the gap') as string }]);
    expect(main('shared')).toContain('Mind the gap');
  });

  it('pinned is not deleted by anybody, and not changed by agents without a yes; switched off is left alone', async () => {
    // Bug: a pin that only the curator minds.
    await make('pinned');
    await t.service.mark({ id: 'own/pinned', pinned: true });
    await expect(change({ action: 'delete', name: 'pinned' }, { ...AGENT, consent: true })).rejects.toThrow(/Unpin/);
    await expect(t.service.remove({ id: 'own/pinned' })).rejects.toThrow(/Unpin/);
    await expect(change({ action: 'patch', name: 'pinned', oldString: 'Do', newString: 'Did' })).rejects.toThrow(/pinned by the person/);
    await expect(tools().manage!({ action: 'patch', name: 'pinned', oldString: 'Do', newString: 'Did' }, contextOf(() => Promise.resolve(true)))).rejects.toThrow(/pinned by the person/);
    await t.service.mark({ id: 'own/pinned', pinned: false, enabled: false });
    await expect(change({ action: 'patch', name: 'pinned', oldString: 'Do', newString: 'Did' })).rejects.toThrow(/switched off/);
    await expect(tools().view({ name: 'pinned', filePath: null })).rejects.toThrow(/switched off/);
    expect(await tools().list({ category: null })).toMatchObject({ skills: [] });
  });

  it('what is read only is not changed at all', async () => {
    // Bug: an agent writes into the Hermes home of the person.
    mkdirSync(join(t.root, 'hermes/skills/theirs'), { recursive: true });
    writeFileSync(join(t.root, 'hermes/skills/theirs/SKILL.md'), skillText('theirs'));
    t.config.change([[['skills', 'hermes_home'], join(t.root, 'hermes')]]);
    await expect(change({ action: 'patch', name: 'theirs', oldString: 'Do', newString: 'Did' }, PERSON)).rejects.toThrow(/read only/);
    await expect(make('theirs')).rejects.toThrow(/already/);
    await expect(t.service.remove({ id: 'hermes/theirs' })).rejects.toThrow(/read only/);
    expect(await tools().view({ name: 'theirs', filePath: null })).toMatchObject({ readiness: 'available' });
  });
});

describe('tools', () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await openBench();
    bench.context.services.skills = tools();
  });
  afterEach(() => bench.close());

  it('answer with errors that a model can go on with', async () => {
    // Bug: a thrown error without details ends in "failed unexpectedly".
    await make('fine');
    expect(await bench.call(skillManageTool, { action: 'patch', name: 'fine', old_string: 'Do it.', new_string: 'Do it.' })).toMatchObject({ error: expect.stringMatching(/the same/) as string });
    expect(await bench.call(skillManageTool, { action: 'patch', name: 'fine', old_string: 'Do itt', new_string: 'x' })).toMatchObject({ match_count: 0 });
    expect(await bench.call(skillManageTool, { action: 'write_file', name: 'fine', file_path: 'references/a.md', file_content: 'A' })).toMatchObject({ success: true, changed: ['references/a.md'] });
    expect(await bench.call(skillViewTool, { name: 'fine' })).toMatchObject({ linked_files: { references: ['references/a.md'] }, readiness: 'available' });
    expect(await bench.call(skillViewTool, { name: 'fine', file_path: 'references/a.md' })).toMatchObject({ content: 'A' });
    expect(await bench.call(skillViewTool, { name: 'fin' })).toMatchObject({ error: expect.stringMatching(/Did you mean "fine"/) as string });
    expect(t.library.records.uses('own/fine')).toMatchObject({ uses: 1 });
  });
});
