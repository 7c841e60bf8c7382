import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type MemoryGround, openMemory } from './testing.ts';

let t: MemoryGround;
beforeEach(() => {
  t = openMemory();
});
afterEach(() => t.close());

describe('the memory tool', () => {
  test('an answer has the usage and the changed entry, not the store (#48629)', async () => {
    // Bug: every write echoed all entries, thousands of tokens in a long session.
    await t.add('memory', 'first '.repeat(100).trim(), 'second '.repeat(100).trim());
    const answer = await t.call({ action: 'add', content: 'third' });
    expect(answer).toEqual({ success: true, target: 'memory', usage: expect.stringMatching(/^\d+% — 1,3\d\d\/2,200 chars$/) as string, entry_count: 3, entry: 'third' });
    const replaced = await t.call({ action: 'replace', old_text: 'first', content: 'short' });
    expect(replaced).toMatchObject({ entry: 'short', replaced: expect.stringMatching(/^first .*…$/) as string });
    expect(JSON.stringify(replaced)).not.toContain('second');
    const many = await t.call({ operations: [{ action: 'remove', old_text: 'short' }, { action: 'add', content: 'fourth' }] });
    expect(many).toMatchObject({ entry_count: 3, changes: [{ op: 'remove', removed: 'short' }, { op: 'add', entry: 'fourth' }] });
  });

  test('a full memory says how much to free, in few words (#42405, #60900, #97316)', async () => {
    // Bug: the error held the whole store and did not say what would help, so that models tried the same call again and again.
    await t.add('memory', ...Array.from({ length: 20 }, (_, i) => `entry ${i} ${'x'.repeat(90)}`));
    const answer = await t.call({ action: 'add', content: 'y'.repeat(300) });
    const { chars } = t.files.read('memory');
    const free = chars + 3 + 300 - 2_200;
    expect(answer).toMatchObject({ error: expect.stringContaining(`Free at least ${free} characters`) as string, chars_to_free: free, usage: expect.stringContaining('/2,200 chars') as string });
    expect((answer['longest_entries'] as unknown[]).length).toBe(5);
    expect(JSON.stringify(answer).length).toBeLessThan(1_600);
    // what it says is enough, and not one character more is needed
    await t.call({ operations: [{ action: 'remove', old_text: 'entry 3 ' }, { action: 'remove', old_text: 'entry 4 ' }] });
    const freed = chars - t.files.read('memory').chars;
    expect(await t.call({ action: 'add', content: 'y'.repeat(300 + freed - free + 1) })).toMatchObject({ chars_to_free: 1 });
    expect(await t.call({ action: 'add', content: 'y'.repeat(300 + freed - free) })).toMatchObject({ success: true });
  });

  test('a text larger than any memory is refused without being quoted', async () => {
    // Bug: 5 MB of text came back in the error.
    for (const content of ['z'.repeat(2_201), 'z'.repeat(5_000_000)]) {
      const answer = await t.call({ action: 'add', content });
      expect(answer).toHaveProperty('error');
      expect(JSON.stringify(answer).length).toBeLessThan(800);
    }
  });

  test.each<[string, Record<string, unknown>]>([
    ['names of editors', { action: 'replace', old_string: 'two', new_string: 'TWO' }],
    ['new_text', { action: 'replace', old_text: 'two', new_text: 'TWO' }],
    ['camel case', { action: 'replace', oldText: 'two', newText: 'TWO' }],
    ['old and new', { action: 'update', old: 'two', new: 'TWO' }],
    ['without an action', { old_text: 'two', content: 'TWO' }],
    ['the file by name', { command: 'edit', file: 'MEMORY.md', find: 'two', replacement: 'TWO' }],
    ['a list as text', { operations: JSON.stringify([{ op: 'replace', old: 'two', text: 'TWO' }]) }],
    ['nulls for what is left out', { action: 'replace', target: null, old_text: 'two', content: 'TWO', operations: null }],
  ])('understands a replacement with %s (#15843, #23381)', async (_, args) => {
    // Bug: "old_text is required", though the text was there under another name.
    await t.add('memory', 'one', 'two');
    expect(await t.call(args)).toMatchObject({ success: true });
    expect(t.texts('memory')).toEqual(['one', 'TWO']);
  });

  test('removal by any of the names (#15843)', async () => {
    // Bug: as above.
    await t.add('memory', 'a', 'b', 'c', 'd');
    for (const args of [{ action: 'remove', content: 'a' }, { action: 'delete', text: 'b' }, { action: 'forget', entry: 'c' }, { operation: 'remove', match: 'd' }]) expect(await t.call(args)).toMatchObject({ success: true });
    expect(t.texts('memory')).toEqual([]);
  });

  test('an error names the arguments that came (#23381)', async () => {
    // Bug: the model could not see which name was wrong, and tried the same again.
    const answer = await t.call({ action: 'replace', target: 'memory', wrong_name: 'x', content: 'y' });
    expect(answer).toMatchObject({ error: expect.stringMatching(/replace needs old_text.*You sent: action, target, wrong_name, content\./) as string, received: ['action', 'target', 'wrong_name', 'content'] });
    const many = await t.call(Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}_${'x'.repeat(500)}`, 1])));
    expect(JSON.stringify(many).length).toBeLessThan(2_000);
    for (const args of [{}, { action: 'add' }, { action: 'remove' }, { action: 'dance', content: 'x' }, { action: 'add', target: 'world', content: 'x' }, { operations: [] }, { operations: 'none' }, { operations: [1] }, { operations: [{ action: 'read' }] }, { operations: [{ action: 'add', content: 'a' }], content: 'b' }, { operations: [{ action: 'add', target: 'user', content: 'a' }, { action: 'add', content: 'b' }] }, { action: 'add', content: { a: 1 } }, JSON.parse('{"__proto__": {"action": "add"}, "constructor": 1}')] as Record<string, unknown>[]) {
      expect(await t.call(args), JSON.stringify(args)).toMatchObject({ error: expect.stringContaining('Nothing was changed') as string });
    }
    expect(t.texts('memory')).toEqual([]);
  });

  test('an ambiguous part shows what it fits, shortened', async () => {
    // Bug: the first of several entries was replaced, or all of them.
    await t.add('memory', `port of the web server: ${'x'.repeat(200)}`, 'port of the database: 5432');
    const answer = await t.call({ action: 'remove', old_text: 'port of' });
    expect(answer).toMatchObject({ error: expect.stringContaining('2 entries') as string, matches: [expect.stringMatching(/^port of the web server: x+…$/) as string, 'port of the database: 5432'] });
    expect((answer['matches'] as string[])[0]!.length).toBe(80);
  });

  test('a quote over line breaks finds its entry', async () => {
    // Bug: models quote what they read in one line, and the entry was "not found".
    await t.add('memory', 'port of the\n  web server: 80', 'other');
    expect(await t.call({ action: 'remove', old_text: 'of the web server' })).toMatchObject({ success: true, entry_count: 1 });
  });

  test('an empty replacement is told to be a removal', async () => {
    // Bug: an empty entry, which the next load dropped.
    await t.add('memory', 'one');
    expect(await t.call({ action: 'replace', old_text: 'one', content: '  ' })).toMatchObject({ error: expect.stringContaining('Use remove') as string });
  });

  test('read shows the memory as it is now (#66025)', async () => {
    // Bug: a session that lives for weeks could not learn what others had written.
    await t.add('memory', 'one');
    t.put('user', 'Name: Kim');
    expect(await t.call({ action: 'read' })).toEqual({
      success: true,
      memory: { usage: '0% — 3/2,200 chars', entry_count: 1, entries: ['one'] },
      user: { usage: '0% — 9/1,375 chars', entry_count: 1, entries: ['Name: Kim'] },
    });
    expect(await t.call({ action: 'view', target: 'user' })).toMatchObject({ target: 'user', entries: ['Name: Kim'] });
  });

  test('§ in a content is one entry and comes back as it was (#54403, #17471)', async () => {
    // Bug: the entry became two, and the second half was anybody's.
    const content = 'law\n§\n§ 433 BGB\n\\§\n§';
    expect(await t.call({ action: 'add', content })).toMatchObject({ success: true, entry_count: 1 });
    await t.call({ action: 'add', content: 'next' });
    expect(t.texts('memory')).toEqual([content, 'next']);
    expect(await t.call({ action: 'remove', old_text: content })).toMatchObject({ success: true, entry_count: 1 });
  });

  test('lone surrogates and control characters', async () => {
    // Bug: a lone surrogate became "?" in the file, so that what was read back differed from what was written.
    expect(await t.call({ action: 'add', content: 'a\ud800b' })).toMatchObject({ success: true, entry: 'a\ufffdb' });
    expect(await t.call({ action: 'add', content: 'a\0b' })).toMatchObject({ error: expect.stringContaining('control characters') as string });
  });
});
