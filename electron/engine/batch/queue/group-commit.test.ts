import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Database } from '../../store/database.ts';
import { GroupCommit } from './group-commit.ts';

let folder: string;
let db: Database;
let other: Database;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'group-commit-'));
  db = new Database(join(folder, 'x.db'));
  db.connection.exec('CREATE TABLE t (v INTEGER PRIMARY KEY)');
  other = new Database(join(folder, 'x.db'), { readonly: true });
});
afterEach(() => {
  other.close();
  db.close();
  rmSync(folder, { recursive: true, force: true });
});

const insert = (v: number) => db.connection.prepare('INSERT INTO t VALUES (?)').run(v);
/** As another process sees it: committed only. */
const seen = () => other.connection.prepare('SELECT v FROM t ORDER BY v').pluck().all();

// Bug: a promise that resolves before the commit lets an agent go on from what a crash takes back.
test('resolves when it is committed, in order, with what the work gave', async () => {
  const group = new GroupCommit(db);
  const told: number[] = [];
  const writes = [1, 2, 3].map((v) =>
    group
      .write(() => {
        insert(v);
        return v * 10;
      })
      .then((value) => {
        expect(seen()).toEqual([1, 2, 3]);
        told.push(value);
      }),
  );
  expect(seen()).toEqual([]);
  await Promise.all(writes);
  expect(told).toEqual([10, 20, 30]);
});

// Bug: one rollout whose lease is lost takes the messages of all others of that moment with it, or leaves half of its own.
test('work that throws is rolled back alone', async () => {
  const group = new GroupCommit(db);
  const results = await Promise.allSettled([
    group.write(() => insert(1)),
    group.write(() => {
      insert(2);
      throw new Error('lost');
    }),
    group.write(() => insert(3)),
    group.write(() => insert(3)),
  ]);
  expect(results.map((r) => r.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'rejected']);
  expect(seen()).toEqual([1, 3]);
  await group.write(() => insert(4));
  expect(seen()).toEqual([1, 3, 4]);
});

// Bug: on a full disk some are told that their message is stored, though the transaction it was in is gone.
test('when the store fails, everybody is told and nothing is stored', async () => {
  const group = new GroupCommit(db);
  const full = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' });
  const results = await Promise.allSettled([
    group.write(() => insert(1)),
    group.write(() => {
      throw full;
    }),
    group.write(() => insert(2)),
  ]);
  expect(results).toEqual(Array.from({ length: 3 }, () => ({ status: 'rejected', reason: full })));
  expect(seen()).toEqual([]);
  db.close();
  await expect(group.write(() => insert(5))).rejects.toThrow('not open');
  db = new Database(join(folder, 'x.db'));
});
