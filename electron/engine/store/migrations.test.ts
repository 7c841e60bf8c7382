import { existsSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { RESOURCES } from '../trajectories/testing.ts';
import { Database } from './database.ts';
import { migrate, readMigrations, StoreVersionError } from './migrations.ts';

const one = { version: 1, name: '0001_a.sql', sql: 'CREATE TABLE a (x INTEGER) STRICT; INSERT INTO a VALUES (7);' };
const file = (): string => join(mkdtempSync(join(tmpdir(), 'talaria-mig-')), 'talaria.db');

describe('migrate', () => {
  test('the shipped migrations are numbered without gaps and apply to an empty store', () => {
    const f = file();
    const migrations = readMigrations(join(RESOURCES, 'migrations'));
    expect(migrate(new Database(f), f, migrations)).toEqual({ from: 0, to: migrations.length });
  });

  test('a failing step leaves the store at the version before, with a backup of the data', () => {
    const f = file();
    const db = new Database(f);
    migrate(db, f, [one]);
    const bad = { version: 2, name: '0002_b.sql', sql: 'ALTER TABLE a ADD COLUMN y TEXT; CREATE TABLE a (z INTEGER);' };
    expect(() => migrate(db, f, [one, bad])).toThrow(/already exists/);
    expect(db.connection.pragma('user_version', { simple: true })).toBe(1);
    expect(db.connection.prepare('SELECT * FROM a').all()).toEqual([{ x: 7 }]);
    expect(new Database(`${f}.v1.bak`).connection.prepare('SELECT x FROM a').pluck().get()).toBe(7);
  });

  test('a step that breaks a reference is refused', () => {
    const f = file();
    const db = new Database(f);
    const sql = 'CREATE TABLE p (id INTEGER PRIMARY KEY) STRICT; CREATE TABLE c (p INTEGER REFERENCES p(id)) STRICT; INSERT INTO c VALUES (1);';
    expect(() => migrate(db, f, [{ version: 1, name: '0001_x.sql', sql }])).toThrow(/broken references/);
    expect(db.connection.pragma('foreign_keys', { simple: true })).toBe(1);
  });

  test('a store of a newer program is refused and not touched', () => {
    const f = file();
    const db = new Database(f);
    db.connection.pragma('user_version = 9');
    expect(() => migrate(db, f, [one])).toThrow(StoreVersionError);
    expect(db.connection.pragma('user_version', { simple: true })).toBe(9);
    expect(existsSync(`${f}.v9.bak`)).toBe(false);
  });
});
