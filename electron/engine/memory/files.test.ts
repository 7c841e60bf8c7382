import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { memorySettingsSchema } from '#shared/contract/memory.ts';
import { sqlFor } from '../store/database.ts';
import { record, user } from '../trajectories/testing.ts';
import { type MemoryGround, openMemory } from './testing.ts';

let t: MemoryGround;
beforeEach(() => {
  t = openMemory();
});
afterEach(() => t.close());

const remove = (old: string) => ({ op: 'remove' as const, old });
const add = (text: string) => ({ op: 'add' as const, text });
const replace = (old: string, text: string) => ({ op: 'replace' as const, old, text });

describe('changes', () => {
  test('an edit by another program between two writes stays (#26045)', async () => {
    // Bug: the store was kept in memory and written as a whole, over what somebody had saved meanwhile.
    await t.add('memory', 'one');
    t.put('memory', '# My own notes\n\nwritten by hand\n');
    await t.add('memory', 'two');
    expect(t.raw('memory')).toBe('# My own notes\n\nwritten by hand\n§\ntwo');
  });

  test('writes at the same time all arrive', async () => {
    // Bug: two agents read the same file, and the later write took the entry of the earlier one away.
    await Promise.all(Array.from({ length: 20 }, (_, i) => t.add('memory', `fact ${i}`)));
    expect(t.texts('memory').toSorted()).toEqual(Array.from({ length: 20 }, (_, i) => `fact ${i}`).toSorted());
    expect(readdirSync(t.folder)).toEqual(['MEMORY.md']);
  });

  test('an edit in the very moment of writing is looked at anew', async () => {
    // Bug: between reading and renaming somebody saves, and the rename takes it away.
    await t.add('memory', 'one');
    const writing = t.add('memory', 'two');
    await Promise.resolve();
    t.put('memory', 'one, edited');
    await writing;
    expect(t.texts('memory')).toEqual(['one, edited', 'two']);
  });

  test('what cannot be written changes nothing and says so, and nothing is in the history (#54267)', async () => {
    // Bug: success was reported, and the next session began with an empty memory.
    t.put('user', new Uint8Array([0x61, 0, 0x62]));
    await expect(t.files.apply('user', [add('x')], { author: 'agent' })).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('NUL') as string });
    expect(t.files.history({ target: 'user', limit: 10 }).items).toEqual([]);
    expect(t.raw('user')).toBe('a\0b');
    // a folder that takes no file
    rmSync(t.folder, { recursive: true });
    writeFileSync(t.folder, '');
    await expect(t.add('memory', 'x')).rejects.toMatchObject({ message: expect.stringMatching(/MEMORY\.md (could not be written|cannot be read)/) as string });
    expect(t.files.history({ limit: 10 }).items).toEqual([]);
  });

  test('what a call reported is what the next session begins with (#54267)', async () => {
    // Bug: the written file was not read back, and an answer of success meant nothing.
    expect(await t.call({ action: 'add', target: 'user', content: 'Name: Kim' })).toMatchObject({ success: true });
    expect(t.open().promptBlocks().user).toContain('Name: Kim');
  });

  test('operations are all done or none (#48507)', async () => {
    // Bug: the first half of a list was written before the second half failed.
    await t.add('memory', 'one', 'two');
    await expect(t.files.apply('memory', [remove('one'), remove('three')], { author: 'agent' })).rejects.toThrow(/Operation 2 of 2 \(remove\): No entry.*"three"/);
    expect(t.texts('memory')).toEqual(['one', 'two']);
    const { changeId } = await t.files.apply('memory', [remove('one'), add('three'), replace('two', '2')], { author: 'agent' });
    expect(t.texts('memory')).toEqual(['2', 'three']);
    expect(t.files.history({ limit: 5 }).items[0]).toMatchObject({ id: changeId, before: 'one\n§\ntwo', after: '2\n§\nthree' });
  });

  test('one call can free space and use it', async () => {
    // Bug: each operation was held against the limit by itself, so that a full memory could not be exchanged in one call.
    t.config.change([[['memory', 'memory_char_limit'], 200]]);
    await t.add('memory', 'a'.repeat(190));
    await t.files.apply('memory', [add('b'.repeat(180)), remove('aaa')], { author: 'agent' });
    expect(t.texts('memory')).toEqual(['b'.repeat(180)]);
  });

  test('settings are read from where they are written, hold at once, and a value that cannot be is refused by the contract', async () => {
    // Bug: a limit that is set in the page holds after a restart only, or is written to another key; half of a change is saved.
    expect(memorySettingsSchema.parse(t.files.settings())).toEqual({ enabled: true, memoryLimit: 2_200, userLimit: 1_375, refreshIdleMinutes: 60 });
    const wanted = { enabled: false, memoryLimit: 200, userLimit: 300, refreshIdleMinutes: 0 };
    expect(t.files.configure(wanted)).toEqual(wanted);
    expect(t.config.read()).toMatchObject({ problems: [], memory: { enabled: false, memory_char_limit: 200, user_char_limit: 300, refresh_idle_minutes: 0, nudge_interval: 10 } });
    expect([t.files.read('memory').limit, t.files.read('user').limit]).toEqual([200, 300]);
    expect(t.files.configure({ enabled: true })).toEqual({ ...wanted, enabled: true });
    await expect(t.add('memory', 'a'.repeat(201))).rejects.toThrow(/200/);
    for (const wrong of [{ memoryLimit: 199 }, { userLimit: 100_001 }, { refreshIdleMinutes: -1 }, { memoryLimit: 1.5 }]) expect(memorySettingsSchema.partial().safeParse(wrong).success).toBe(false);
  });

  test('a repeated text is no second entry, also when a replacement makes it one', async () => {
    // Bug: the same fact twice, until the memory was full of it.
    await t.add('memory', 'one', 'two');
    expect(await t.files.apply('memory', [add(' one \n')], { author: 'agent' })).toMatchObject({ changeId: null });
    await t.files.apply('memory', [replace('two', 'one')], { author: 'agent' });
    expect(t.texts('memory')).toEqual(['one']);
  });

  test('the whole text of an entry means that entry, though another one holds it too', async () => {
    // Bug: "tea" could not be removed while "tea with milk" was there.
    await t.add('memory', 'tea with milk', 'tea');
    await t.files.apply('memory', [remove('tea')], { author: 'person' });
    expect(t.texts('memory')).toEqual(['tea with milk']);
  });

  test('a file over its limit can be made smaller, but not larger', async () => {
    // Bug: a memory that a person had filled by hand could be neither written nor pruned.
    t.config.change([[['memory', 'memory_char_limit'], 200]]);
    t.put('memory', `${'a'.repeat(300)}\n§\n${'b'.repeat(300)}`);
    await expect(t.add('memory', 'c')).rejects.toThrow(/Free at least 407 characters/);
    await t.files.apply('memory', [replace('aaa', 'a short one')], { author: 'agent' });
    expect(t.texts('memory')).toEqual(['a short one', 'b'.repeat(300)]);
  });

  test('a plan says what would be and writes nothing', async () => {
    // Bug: a proposal that waits for a person was in the memory already.
    await t.add('memory', 'one');
    expect(t.files.plan('memory', [replace('one', 'key is in ~/.ssh')])).toEqual({ before: 'one', after: 'key is in ~/.ssh', warnings: ['mentions files that hold keys'] });
    expect(t.texts('memory')).toEqual(['one']);
    expect(() => t.files.plan('memory', [remove('nine')])).toThrow(/No entry/);
  });
});

describe('what is known of entries (#66654)', () => {
  test('who wrote it, when, from which trajectory; what was put in by hand says so', async () => {
    // Bug: nobody could tell where a wrong memory had come from.
    const source = record({ store: t.store, hub: t.hub }, [user('call me Kim')]).id;
    await t.files.apply('user', [add('Name: Kim')], { author: 'review', trajectoryId: source, reviewId: 'r1' });
    t.put('user', 'Name: Kim\n§\nby hand');
    const [made, byHand] = t.files.read('user').entries;
    expect(made).toMatchObject({ author: 'review', trajectoryId: source, trajectoryTitle: 'call me Kim', reviewId: 'r1', uses: 0, usedAt: null });
    expect(byHand).toMatchObject({ author: null, trajectoryId: null, trajectoryTitle: null });
    expect(byHand!.createdAt).toBeGreaterThan(made!.createdAt!);
  });

  test('sessions that begin with an entry are counted, and others are not', async () => {
    // Bug: what is never used could not be told from what is.
    await t.add('memory', 'old');
    t.files.used();
    await t.add('memory', 'new');
    t.files.used();
    expect(t.files.read('memory').entries.map((e) => [e.text, e.uses, e.usedAt !== null])).toEqual([['old', 2, true], ['new', 1, true]]);
  });

  test('an entry that is taken back into the memory keeps what was known of it', async () => {
    // Bug: after an undo everything was new, of unknown origin and never used.
    await t.files.apply('memory', [add('one')], { author: 'agent', trajectoryId: 'x' });
    t.files.used();
    const before = t.files.read('memory').entries[0];
    const { changeId } = await t.files.apply('memory', [remove('one')], { author: 'person' });
    await t.files.undo(changeId!);
    expect(t.files.read('memory').entries[0]).toEqual(before);
  });
});

describe('undo', () => {
  test('takes back what the change did and leaves what came later, in its place', async () => {
    // Bug: undo put the old file back, and with it took away everything written since.
    await t.add('memory', 'a', 'b', 'c');
    const { changeId } = await t.files.apply('memory', [remove('b'), replace('c', 'C')], { author: 'agent' });
    await t.add('memory', 'd');
    t.put('memory', t.raw('memory').replace('a', 'a by hand'));
    await t.files.undo(changeId!);
    expect(new Set(t.texts('memory'))).toEqual(new Set(['a by hand', 'b', 'c', 'd']));
    expect(t.texts('memory').at(-1)).toBe('d');
    expect(t.files.history({ limit: 9 }).items.map((c) => c.undone)).toEqual([false, true, false]);
  });

  test('says so when a later change stands in the way, and changes nothing', async () => {
    // Bug: an addition was taken back that a person had corrected meanwhile: the correction stayed beside nothing, or went with it.
    const { changeId } = await t.add('memory', 'the port is 80');
    await t.files.apply('memory', [replace('port', 'the port is 8080')], { author: 'person' });
    await expect(t.files.undo(changeId!)).rejects.toMatchObject({ code: 'conflict' });
    expect(t.texts('memory')).toEqual(['the port is 8080']);
  });

  test('not twice, not of what is not there, and not beyond the limit', async () => {
    // Bug: the second click of an undo took back something else.
    t.config.change([[['memory', 'memory_char_limit'], 200]]);
    await t.add('memory', 'a'.repeat(150));
    const { changeId } = await t.files.apply('memory', [remove('aaa')], { author: 'person' });
    await t.add('memory', 'b'.repeat(150));
    await expect(t.files.undo(changeId!)).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('no room left') as string });
    await t.files.apply('memory', [remove('bbb')], { author: 'person' });
    await t.files.undo(changeId!);
    await expect(t.files.undo(changeId!)).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('already') as string });
    await expect(t.files.undo(999)).rejects.toMatchObject({ code: 'not_found' });
    expect(t.texts('memory')).toEqual(['a'.repeat(150)]);
  });
});

describe('changes of the files are told', () => {
  test('at once when this engine makes them, and soon when another program does', async () => {
    // Bug: the page showed yesterday's memory until it was loaded anew.
    const abort = new AbortController();
    const ticks = t.files.changes(abort.signal);
    const generations: number[] = [];
    const next = async (): Promise<void> => void generations.push(((await ticks.next()).value as { generation: number }).generation);
    await next();
    await t.add('memory', 'one');
    await next();
    t.put('user', 'by hand');
    await next();
    expect(generations).toEqual(generations.toSorted((a, b) => a - b));
    expect(new Set(generations).size).toBe(3);
    abort.abort();
    expect((await ticks.next()).done).toBe(true);
  });
});

describe('after a kill', () => {
  test('a change whose file never came is forgotten, one whose file came keeps its origin', () => {
    // Bug: the history told of changes that never were, or entries of an agent counted as written by hand.
    const row = (after: string) => ({ target: 'memory', author: 'agent', trajectory_id: 'x', review_id: null, reason: '', operations: '[]', before: '', after, undone_at: null, created_at: 1 });
    t.store.db.run(sqlFor.insertInto('memory_changes').values(row('never')));
    t.store.db.run(sqlFor.insertInto('memory_changes').values(row('came')));
    t.put('memory', 'came');
    const files = t.open();
    expect(files.history({ limit: 9 }).items.map((c) => c.after)).toEqual(['came']);
    expect(files.read('memory').entries[0]).toMatchObject({ text: 'came', author: 'agent', trajectoryId: 'x' });
  });
});
