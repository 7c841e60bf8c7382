import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { open as openFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openEngine } from '../engine.ts';
import { READER, RESOURCES } from '../trajectories/testing.ts';
import { Database } from './database.ts';
import { HomeError } from './home.ts';
import { StoreVersionError } from './migrations.ts';
import { openStore } from './store.ts';

let home: string;
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'talaria-store-'));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

const open = () => openEngine({ home, host: 'cli', paths: { resources: RESOURCES, reader: READER }, version: '1', env: {}, log: { info: () => {}, error: () => {} } });

// "database disk image is malformed" alone names neither the file nor a way out; and the home must not stay taken
test.each([
  ['no database', () => writeFileSync(join(home, 'talaria.db'), 'something else entirely'.repeat(100)), /talaria\.db is damaged.*move it away/],
  ['a folder', () => mkdirSync(join(home, 'talaria.db')), /cannot write to .*talaria\.db/],
])('a store that is %s is refused in words that name the file', async (_name, damage, words) => {
  damage();
  for (let i = 0; i < 2; i++) {
    const error: unknown = await open().then(() => null, (e: unknown) => e);
    expect(error).toBeInstanceOf(HomeError);
    expect((error as Error).message).toMatch(words);
  }
});

test('pages of noise in the middle of the store are found while a home is opened, in the same words', async () => {
  const engine = await open();
  await engine.close();
  const file = join(home, 'talaria.db');
  const db = new Database(file);
  const pages = db.connection.pragma('page_count', { simple: true }) as number;
  const size = db.connection.pragma('page_size', { simple: true }) as number;
  db.close();
  const handle = await openFile(file, 'r+');
  await handle.write(Buffer.alloc((pages - 1) * size, 0xa5), 0, undefined, size);
  await handle.close();
  await expect(open()).rejects.toThrow(/talaria\.db is damaged/);
});

// browser mode prints the words of errors with a code and a stack for all others
test('the refusal of a newer store has a code', () => {
  expect(new StoreVersionError('x')).toHaveProperty('code', 'STORE_TOO_NEW');
});

// on a full disk the last word of the command line was a stack trace, and the home stayed taken
test('a store whose log cannot be put into the file is still closed', async () => {
  const store = openStore(home, { resources: RESOURCES, reader: READER });
  // inside a transaction a checkpoint fails, as it does on a full disk
  store.db.connection.exec('BEGIN IMMEDIATE');
  await store.close();
  expect(store.db.connection.open).toBe(false);
});
