import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ownDisk } from './disk.ts';
import { SkillLibrary } from './library.ts';
import { AGENT, openSkills, PERSON, type SkillGround, skillText } from './testing.ts';

let t: SkillGround;
beforeEach(async () => {
  t = await openSkills();
});
afterEach(() => t.close());

const create = (name: string, by = AGENT, body?: string, category?: string) => t.library.change({ action: 'create', name, category, content: skillText(name, body) }, by);
const read = (path: string): string => readFileSync(join(t.home.skills, path), 'utf8');
const one = async (id: string) => (await t.library.list()).find((skill) => skill.id === id);

describe('versions', () => {
  it('every change is a version with author, trajectory, review and reason; what it changed can be shown', async () => {
    // Bug: history that does not say who changed what and why.
    await create('tidy', { author: 'review', trajectoryId: 'tr', reviewId: 'rv', reason: 'it was hard won' }, 'One.', 'writing');
    await t.library.change({ action: 'patch', name: 'tidy', oldString: 'One.', newString: 'Two.' }, AGENT);
    await t.library.change({ action: 'write_file', name: 'tidy', filePath: 'references/a.md', fileContent: 'More' }, AGENT);
    const { items } = await t.service.versions({ id: 'own/writing/tidy' });
    expect(items.map((v) => [v.action, v.author, v.files])).toEqual([['write_file', 'agent', ['references/a.md']], ['patch', 'agent', ['SKILL.md']], ['create', 'review', ['SKILL.md']]]);
    expect(items[2]).toMatchObject({ trajectoryId: 'tr', reviewId: 'rv', reason: 'it was hard won' });
    const { files } = await t.service.diff({ versionId: items[1]!.id, against: 'previous' });
    expect(files).toMatchObject([{ path: 'SKILL.md', before: expect.stringContaining('One.') as string, after: expect.stringContaining('Two.') as string }]);
    expect((await t.service.diff({ versionId: items[2]!.id, against: 'now' })).files.map((f) => f.path)).toEqual(['SKILL.md', 'references/a.md']);
    expect(await one('own/writing/tidy')).toMatchObject({ author: 'review', category: 'writing', offered: true });
  });

  it('restores any version with all files, and undoes one change when nothing came after it', async () => {
    // Bug: restore brings back SKILL.md and forgets the other files; undo overwrites newer work.
    const made = await create('tidy', AGENT, 'One.');
    const wrote = await t.library.change({ action: 'write_file', name: 'tidy', filePath: 'scripts/run.sh', fileContent: '#!/bin/sh\necho 1\n' }, AGENT);
    await t.library.change({ action: 'remove_file', name: 'tidy', filePath: 'scripts/run.sh' }, AGENT);
    expect(existsSync(join(t.home.skills, 'tidy/scripts'))).toBe(false);
    await t.service.restore({ versionId: wrote.versionId });
    expect(read('tidy/scripts/run.sh')).toBe('#!/bin/sh\necho 1\n');
    await t.service.restore({ versionId: made.versionId });
    expect(existsSync(join(t.home.skills, 'tidy/scripts/run.sh'))).toBe(false);
    const patch = await t.library.change({ action: 'patch', name: 'tidy', oldString: 'One.', newString: 'Two.' }, AGENT);
    await t.library.revert(patch.versionId, PERSON);
    expect(read('tidy/SKILL.md')).toContain('One.');
    await expect(t.library.revert(patch.versionId, PERSON)).rejects.toThrow(/changed since/);
  });

  it('a deleted skill is in the trash with everything, comes back from it, and its name may be used meanwhile', async () => {
    // Bug (#18373, #119275): "archive" carried out as a deletion for good.
    await create('tidy', AGENT, 'Mine.');
    t.put('tidy/assets/raw.bin', Buffer.from([0, 1, 2, 255]));
    const { versionId } = await t.library.change({ action: 'delete', name: 'tidy' }, { ...AGENT, consent: true });
    expect(existsSync(join(t.home.skills, 'tidy'))).toBe(false);
    expect(t.service.trash().items).toMatchObject([{ name: 'tidy', versionId, author: 'agent' }]);
    await create('tidy', AGENT, 'Another.');
    await expect(t.service.restore({ versionId })).rejects.toThrow(/called "tidy" now/);
    await t.service.move({ id: 'own/tidy', name: 'tidy-two', category: null });
    await t.service.restore({ versionId });
    expect(read('tidy/SKILL.md')).toContain('Mine.');
    expect(readFileSync(join(t.home.skills, 'tidy/assets/raw.bin'))).toEqual(Buffer.from([0, 1, 2, 255]));
    expect(read('tidy-two/SKILL.md')).toContain('Another.');
    expect(t.service.trash().items).toEqual([]);
    expect((await t.service.versions({ id: 'own/tidy' })).items.map((v) => v.action)).toEqual(['restore', 'delete', 'edit', 'create']);
    expect((await t.service.versions({ id: 'own/tidy-two' })).items.map((v) => v.action)).toEqual(['rename', 'create']);
  });

  it('is removed from the trash for good with its files, versions, choice and use; the others stay, also one of its name', async () => {
    // Bug: the trash only grows; emptying it takes what was restored meanwhile, or leaves files on the disk for ever.
    const trash = (): string[] => readdirSync(join(t.home.skills, '.trash'));
    const rows = (): unknown[] => ['skill_versions', 'skill_marks', 'skill_uses'].map((table) => t.store.db.connection.prepare(`SELECT count(*) n FROM ${table}`).get()).map((row) => (row as { n: number }).n);
    await create('tidy', AGENT, 'First.');
    t.library.records.used('own/tidy', 'x', 'view');
    await t.service.mark({ id: 'own/tidy', enabled: false });
    const first = await t.service.remove({ id: 'own/tidy' });
    await create('tidy', AGENT, 'Second.');
    const second = await t.service.remove({ id: 'own/tidy' });
    await create('tidy', AGENT, 'Third.');
    t.put('fruit/SKILL.md', skillText('fruit'));
    const restored = await t.service.remove({ id: 'own/fruit' });
    await t.service.restore(restored);
    expect(trash()).toHaveLength(2);
    expect(await t.service.purge({ versionIds: [first.versionId, restored.versionId, 999] })).toEqual({ removed: 1, failed: [] });
    expect(trash()).toHaveLength(1);
    expect(t.service.trash().items.map(({ versionId }) => versionId)).toEqual([second.versionId]);
    await expect(t.service.restore(first)).rejects.toMatchObject({ code: 'not_found' });
    expect((await t.service.versions({ id: 'own/tidy' })).items.map((v) => v.action)).toEqual(['create']);
    expect(read('tidy/SKILL.md')).toContain('Third.');
    expect(read('fruit/SKILL.md')).toContain('Do it.');
    // one whose files another program removed
    rmSync(join(t.home.skills, 'fruit'), { recursive: true });
    await t.library.list();
    const gone = t.service.trash().items.find(({ skill }) => skill === 'fruit')!;
    expect(await t.service.purge({ versionIds: [second.versionId, gone.versionId] })).toEqual({ removed: 2, failed: [] });
    expect(rows()).toEqual([1, 0, 0]);
    expect(trash()).toEqual([]);
    // and so it is after a restart
    await t.close({ keep: true });
    t = await openSkills({ at: t.root });
    await t.library.list();
    expect(t.service.trash().items).toEqual([]);
  });

  it('what the disk does not let go stays in the trash, whole, with the reason', async () => {
    // Bug: the trash is empty on the screen, and the files are still there.
    await create('tidy', AGENT, 'Mine.');
    const { versionId } = await t.service.remove({ id: 'own/tidy' });
    const trash = join(t.home.skills, '.trash');
    renameSync(trash, `${trash}-away`);
    writeFileSync(trash, 'in the way');
    expect(await t.service.purge({ versionIds: [versionId] })).toEqual({ removed: 0, failed: [{ versionId, message: expect.stringMatching(/"tidy" could not be removed \(ENOTDIR\)/) as string }] });
    expect(t.service.trash().items).toHaveLength(1);
    rmSync(trash);
    renameSync(`${trash}-away`, trash);
    await t.service.restore({ versionId });
    expect(read('tidy/SKILL.md')).toContain('Mine.');
  });

  it('a rename keeps history, choice and use, and changes nothing of the text but the name', async () => {
    // Bug: renaming makes a skill without a past; a rewrite of the frontmatter loses comments.
    t.put('old/SKILL.md', '---\n# why\nname: old   # keep\ndescription: "All about it, in short words"\n---\nBody\n');
    await t.library.list();
    t.library.records.used('own/old', 'x', 'view');
    await t.service.mark({ id: 'own/old', pinned: true });
    const detail = await t.service.move({ id: 'own/old', name: 'new', category: 'cat' });
    expect(detail.summary).toMatchObject({ id: 'own/cat/new', pinned: true, uses: 1, name: 'new' });
    expect(detail.text).toBe('---\n# why\nname: new   # keep\ndescription: "All about it, in short words"\n---\nBody\n');
    expect((await t.service.versions({ id: 'own/cat/new' })).items.map((v) => v.action)).toEqual(['rename', 'found']);
    expect(existsSync(join(t.home.skills, 'old'))).toBe(false);
  });
});

describe('what other programs do', () => {
  it('an edit becomes a version by the person at the next look, also one made while the engine was away', async () => {
    // Bug: an outside edit is lost on undo, or written over unseen.
    await create('tidy', AGENT, 'One.');
    t.put('tidy/SKILL.md', skillText('tidy', 'By hand.'));
    t.put('tidy/references/new.md', 'by hand');
    await t.library.list();
    const edit = (await t.service.versions({ id: 'own/tidy' })).items[0]!;
    expect(edit).toMatchObject({ action: 'edit', author: 'person', files: ['SKILL.md', 'references/new.md'] });
    await t.close({ keep: true });
    t.put('tidy/references/new.md', 'again');
    t = await openSkills({ at: t.root });
    await t.library.list();
    const { items } = await t.service.versions({ id: 'own/tidy' });
    expect(items.map((v) => [v.action, v.author])).toEqual([['edit', 'person'], ['edit', 'person'], ['create', 'agent']]);
    await t.service.restore({ versionId: items[1]!.id });
    expect(read('tidy/references/new.md')).toBe('by hand');
    await t.service.restore({ versionId: items[2]!.id });
    expect(read('tidy/SKILL.md')).toContain('One.');
  });

  it('a folder that was removed can be restored', async () => {
    // Bug: rm -r in a terminal takes the history with it.
    await create('tidy', AGENT, 'One.');
    await t.library.list();
    rmSync(join(t.home.skills, 'tidy'), { recursive: true });
    expect(await t.library.list()).toEqual([]);
    const [gone] = t.service.trash().items;
    await t.service.restore({ versionId: gone!.versionId });
    expect(read('tidy/SKILL.md')).toContain('One.');
  });

  it('a save over a file that changed meanwhile is a conflict', async () => {
    // Bug: the editor in the page writes over what an agent changed.
    await create('tidy', AGENT, 'One.');
    const { hash } = await t.service.get({ id: 'own/tidy' });
    await t.library.change({ action: 'patch', name: 'tidy', oldString: 'One.', newString: 'Two.' }, AGENT);
    await expect(t.service.save({ id: 'own/tidy', text: skillText('tidy', 'Three.'), baseHash: hash, reason: '' })).rejects.toMatchObject({ code: 'conflict' });
    const saved = await t.service.save({ id: 'own/tidy', text: skillText('tidy', 'Three.'), baseHash: null, reason: 'mine' });
    expect(saved.text).toContain('Three.');
  });

  it('the stream of changes ticks for changes of both kinds', async () => {
    // Bug: the screen shows the list of an hour ago.
    const abort = new AbortController();
    const ticks = t.service.changes(abort.signal);
    const first = (await ticks.next()).value!.generation;
    await create('tidy');
    const second = (await ticks.next()).value!.generation;
    expect(second).toBeGreaterThan(first);
    t.put('other/SKILL.md', skillText('other'));
    expect((await ticks.next()).value!.generation).toBeGreaterThan(second);
    abort.abort();
    await ticks.return(undefined);
  });
});

it('project, own, external and Hermes: of one name the first wins, the others are there and read only', async () => {
  // Bug: the order in which folders are read decides which skill an agent gets; a folder that is missing ends the list.
  const place = (folder: string, name: string): void => {
    mkdirSync(join(t.root, folder, name), { recursive: true });
    writeFileSync(join(t.root, folder, name, 'SKILL.md'), skillText(name.split('/').at(-1)!));
  };
  const names = ['a', 'b', 'c', 'd'];
  for (const [i, folder] of ['work/.talaria/skills', 'home/skills', 'more', 'hermes/skills'].entries()) for (const name of names.slice(i)) place(folder, i === 3 ? `ml/training/${name}` : name);
  t.config.change([[['skills', 'external_dirs'], [join(t.root, 'more'), join(t.root, 'missing')]], [['skills', 'hermes_home'], join(t.root, 'hermes')]]);
  const shown = await t.library.list({ workspace: join(t.root, 'work') });
  expect(shown.filter((s) => s.offered).map((s) => [s.root, s.name])).toEqual([['project', 'a'], ['project', 'b'], ['project', 'c'], ['project', 'd']]);
  const without = await t.library.list();
  expect(without.filter((s) => s.offered).map((s) => [s.root, s.name, s.readOnly])).toEqual([['own', 'b', false], ['own', 'c', false], ['own', 'd', false]]);
  expect(without.find((s) => s.root === 'hermes')).toMatchObject({ name: 'd', category: 'ml/training', shadowedBy: 'own/d', id: 'hermes/ml/training/d' });
  await t.service.mark({ id: 'own/d', enabled: false });
  expect((await t.library.list()).filter((s) => s.offered).map((s) => [s.root, s.name])).toEqual([['own', 'b'], ['own', 'c'], ['external', 'd']]);
  const { roots } = await t.service.list();
  expect(roots.map((r) => [r.root, r.problem])).toEqual([['own', null], ['external', null], ['external', 'The folder is not there.'], ['hermes', null]]);
});

it('a disk that refuses in the middle leaves everything as it was, and no version', async () => {
  // Bug: "no space left" leaves half of a change, and a history that tells of a whole one.
  const files = (n: number) => ['SKILL.md', 'references/a.md', 'references/b.md'].map((path) => ({ path, bytes: Buffer.from(path === 'SKILL.md' ? skillText('tidy', `Edition ${n}.`) : `${n}`) }));
  await t.library.adopt({ name: 'tidy', category: null, files: files(1) }, AGENT);
  for (const left of [0, 1, 2]) {
    let n = 0;
    const real = ownDisk(t.home.skills);
    const full = () => (n++ === left ? Promise.reject(Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })) : null);
    const library = new SkillLibrary({ ...t.library.deps, disk: { ...real, write: (path, bytes) => full() ?? real.write(path, bytes), move: (from, to) => full() ?? real.move(from, to) } });
    await expect(library.adopt({ name: 'tidy', category: null, files: files(2), replace: true }, AGENT)).rejects.toMatchObject({ code: 'unavailable', message: expect.stringMatching(/no space left.*Nothing was changed/) as string });
    n = 0;
    await expect(library.adopt({ name: 'other', category: 'cat', files: files(1) }, AGENT)).rejects.toMatchObject({ code: 'unavailable' });
  }
  expect([read('tidy/SKILL.md'), read('tidy/references/a.md'), read('tidy/references/b.md')]).toEqual([skillText('tidy', 'Edition 1.'), '1', '1']);
  expect(existsSync(join(t.home.skills, 'cat'))).toBe(false);
  expect((await t.service.versions({ id: 'own/tidy' })).items.map((v) => v.action)).toEqual(['import']);
});

it('a new skill of an old name is not what the person had chosen for the old one, which has that again when it comes back', async () => {
  // Bug: a skill that was switched off and deleted keeps its name switched off for ever.
  await create('tidy');
  await t.service.mark({ id: 'own/tidy', enabled: false });
  const { versionId } = await t.service.remove({ id: 'own/tidy' });
  await create('tidy');
  expect(await one('own/tidy')).toMatchObject({ enabled: true, offered: true });
  await t.service.remove({ id: 'own/tidy' });
  await t.service.restore({ versionId });
  expect(await one('own/tidy')).toMatchObject({ enabled: false, offered: false });
});

it('nothing is left beside skills, trash and staging', async () => {
  // Bug: temporary files that become files of a skill.
  await create('tidy');
  await t.library.change({ action: 'write_file', name: 'tidy', filePath: 'references/a.md', fileContent: 'x' }, AGENT);
  expect(readdirSync(join(t.home.skills, '.staging'))).toEqual([]);
  expect(readdirSync(join(t.home.skills, 'tidy')).sort()).toEqual(['SKILL.md', 'references']);
  writeFileSync(join(t.home.skills, 'stray.txt'), 'x');
  expect((await t.library.list()).map((s) => s.id)).toEqual(['own/tidy']);
});
