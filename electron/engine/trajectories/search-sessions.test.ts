import { afterEach, beforeEach, expect, it } from 'vitest';
import { sqlFor } from '../store/database.ts';
import { listSessions } from '../chat/list.ts';
import { branchTrajectory } from './branch.ts';
import { listTrajectories } from './query.ts';
import { searchSessions, type SessionSearch } from './search-sessions.ts';
import { assistant, record, testStore, toolResult, user } from './testing.ts';
import type { Message } from '#shared/trajectory.ts';

let t: ReturnType<typeof testStore>;
beforeEach(() => {
  t = testStore();
});
afterEach(() => t.close());

/** A chat of one branch; returns the id of its trajectory. */
function chat(id: string, messages: readonly Message[], at: number, more: { title?: string; deleted?: boolean } = {}): string {
  const { db } = t.store;
  const known = db.get(sqlFor.selectFrom('sessions').select('id').where('id', '=', id));
  if (!known) {
    db.run(
      sqlFor.insertInto('sessions').values({
        id, title: more.title ?? '', provider: 'p', model: 'm', workspace: '/w', max_turns: 90, tip: null, reasoning_effort: null, pinned_at: null, archived_at: null, deleted_at: more.deleted ? 1 : null, created_at: at, updated_at: at,
      }),
    );
  }
  const { id: trajectory, n } = record(t, messages);
  db.run(sqlFor.updateTable('trajectories').set({ session_id: id, ended_at: at }).where('n', '=', n));
  db.run(sqlFor.updateTable('sessions').set({ tip: trajectory }).where('id', '=', id));
  return trajectory;
}
const find = (query: string, more: Partial<SessionSearch> = {}) => searchSessions(t.store.db, { query, limit: 3, roles: null, without: null, ...more });
const ids = (query: string, more: Partial<SessionSearch> = {}) => find(query, more).map((hit) => hit.sessionId);

it('finds words, gives the passages around them, and says where and when', () => {
  const long = `${'filler '.repeat(500)}the docker network was called bridge0 ${'filler '.repeat(500)}`;
  const id = chat('a', [user('How do we fix the network?'), assistant(long), user('thanks')], 1_000, { title: 'Networks' });
  chat('b', [user('Cooking pasta'), assistant('Boil water.')], 2_000);
  const [hit, ...rest] = find('docker bridge0');
  expect(rest).toEqual([]);
  expect(hit).toMatchObject({ sessionId: 'a', trajectoryId: id, title: 'Networks', when: 1_000 });
  const [excerpt] = hit!.excerpts;
  expect(excerpt).toMatchObject({ role: 'assistant', seq: 1 });
  expect(excerpt!.text).toContain('docker network was called bridge0');
  expect(excerpt!.text.length).toBeLessThan(700);
  expect(excerpt!.text).toMatch(/^….*…$/s);
});

// Bug: two Chinese characters in the middle of a sentence are not found.
it('finds Chinese by two characters, and accents without them', () => {
  chat('zh', [user('请把数据库备份到服务器上'), assistant('好的')], 1);
  chat('fr', [user('Le café est fermé'), assistant('oui')], 2);
  expect(find('备份')[0]).toMatchObject({ sessionId: 'zh', excerpts: [{ role: 'user', seq: 0, text: '请把数据库备份到服务器上' }] });
  expect(ids('cafe')).toEqual(['fr']);
});

it('puts chats with all words first and takes those with some after them', () => {
  chat('some', [user('docker docker docker docker')], 5);
  chat('all', [user('a docker image with a broken proxy')], 1);
  expect(ids('docker proxy')).toEqual(['all', 'some']);
  expect(ids('docker OR proxy')).toEqual(['all', 'some']);
  expect(ids('"broken proxy"')).toEqual(['all']);
  expect(ids('nowhere')).toEqual([]);
  for (const odd of ['"', '*', 'a" OR b:', '(((', '-', 'NEAR(', '\0']) expect(Array.isArray(ids(odd))).toBe(true);
});

// Bug: the model is shown its own chat, deleted ones, or thousands of batch prompts.
it('leaves out the asking chat, deleted chats and branches, batches and what the harness wrote', () => {
  chat('own', [user('zebra')], 9);
  chat('gone', [user('zebra')], 8, { deleted: true });
  const branch = chat('half', [user('zebra')], 7);
  t.store.db.run(sqlFor.updateTable('trajectories').set({ deleted_at: 1 }).where('id', '=', branch));
  record(t, [user('zebra')], { kind: 'batch' });
  chat('note', [user('hello'), user('zebra note')].map((m, i) => (i === 1 ? { ...m, synthetic: true, note: 'budget' as const } : m)), 6);
  chat('kept', [user('zebra')], 5);
  expect(ids('zebra', { without: 'own', limit: 5 })).toEqual(['kept']);
});

it('gives each chat once, by its best branch, and at most the limit', () => {
  for (let i = 0; i < 3; i++) chat('many', [user('walrus'), assistant(`answer ${i}`)], i);
  for (let i = 0; i < 6; i++) chat(`s${i}`, [user('walrus')], i);
  const found = ids('walrus', { limit: 5 });
  expect(found).toHaveLength(5);
  expect(new Set(found).size).toBe(5);
});

it('looks only at the roles asked for, also into calls and large results', () => {
  const call = { id: 'c', name: 'terminal', arguments: '{"command":"kubectl get pods"}' };
  chat('a', [user('list them'), assistant('', { toolCalls: [call] }), toolResult('c', 'terminal', `${'row\n'.repeat(30_000)}giraffe-pod`)], 1);
  chat('b', [user('about kubectl')], 2);
  expect(ids('kubectl', { roles: ['assistant'] })).toEqual(['a']);
  expect(find('kubectl', { roles: ['assistant'] })[0]!.excerpts[0]!.text).toContain('kubectl get pods');
  expect(ids('kubectl', { roles: ['user'] })).toEqual(['b']);
  expect(find('row', { roles: ['tool'] })[0]).toMatchObject({ sessionId: 'a', excerpts: [{ role: 'tool', seq: 2 }] });
});

// Bug: the best hit for a word is an earlier search for that word.
it('does not find earlier searches', () => {
  const call = { id: 'c', name: 'session_search', arguments: '{"query":"narwhal"}' };
  chat('searched', [user('look it up'), assistant('', { toolCalls: [call] }), toolResult('c', 'session_search', '{"query":"narwhal","sessions":[]}'), assistant('No.')], 9);
  chat('said', [user('the narwhal')], 1);
  expect(ids('narwhal')).toEqual(['said']);
});

it('lists the latest chats without a query, by the branch that is shown, with how they began and ended', () => {
  for (let i = 0; i < 5; i++) chat(`s${i}`, [user(`question ${i}`), assistant(`answer ${i}`)], i);
  const newer = chat('s2', [user('question 2'), assistant('another answer')], 2);
  expect(ids('')).toEqual(['s4', 's3', 's2']);
  expect(ids('', { without: 's4', limit: 1 })).toEqual(['s3']);
  expect(find('')[2]).toMatchObject({ trajectoryId: newer, excerpts: [{ role: 'user', text: 'question 2' }, { role: 'assistant', text: 'another answer' }] });
});

it('runs in a reader', async () => {
  chat('a', [user('ostrich')], 1);
  expect(await t.store.readers.run('sessions', { query: 'ostrich', limit: 3, roles: null, without: null })).toMatchObject([{ sessionId: 'a' }]);
});

// Bug: of a long chat only the beginning was indexed, so that what was said last could not be found anywhere.
it('finds what was said first and last in a long chat, also in a branch of it', () => {
  const filler = 'filler words of no account '.repeat(700);
  const long = Array.from({ length: 80 }, (_, i) => (i % 2 ? assistant(filler) : user(filler)));
  const id = chat('long', [user('the walrus began it'), assistant('yes'), ...long, user('the narwhal ended it')], 1);
  const branch = branchTrajectory(t.store.db, () => 2, id, long.length + 3, { sessionId: 'long' });
  for (const query of ['walrus', 'narwhal']) {
    expect(ids(query)).toEqual(['long']);
    expect(listTrajectories(t.store.db, { query }, { limit: 9 }).items.map((item) => item.id).toSorted()).toEqual([id, branch].toSorted());
    expect(listSessions(t.store.db, { query, archived: false, limit: 9 }).rows).toHaveLength(1);
  }
});
