import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from './database.ts';

export class StoreVersionError extends Error {
  override name = 'StoreVersionError';
  /** Tells hosts that the message is for a person. */
  readonly code = 'STORE_TOO_NEW';
}

export interface Migration {
  version: number;
  name: string;
  sql: string;
}

/** Reads `NNNN_name.sql` files in order. Throws when numbers are missing or doubled: that is a defect of the program. */
export function readMigrations(dir: string): Migration[] {
  const migrations = readdirSync(dir)
    .filter((f) => /^\d{4}_\w+\.sql$/.test(f))
    .sort()
    .map((f) => ({ version: Number(f.slice(0, 4)), name: f, sql: readFileSync(join(dir, f), 'utf8') }));
  migrations.forEach((m, i) => {
    if (m.version !== i + 1) throw new Error(`Migration ${m.name} should have number ${i + 1}`);
  });
  return migrations;
}

/**
 * Brings the store to the newest version, each step in its own transaction with foreign keys checked, after a backup beside the
 * file (`<file>.v<N>.bak`) when there was data. A store of a newer program is refused untouched.
 * @returns the versions before and after.
 */
export function migrate(db: Database, file: string, migrations: readonly Migration[]): { from: number; to: number } {
  const from = db.connection.pragma('user_version', { simple: true }) as number;
  const to = migrations.length;
  if (from > to) {
    throw new StoreVersionError(
      `This home was last used by a newer Talaria (store version ${from}, this program knows ${to}). Update Talaria, or start it on another home with --home.`,
    );
  }
  if (from === to) return { from, to };
  if (from > 0) backup(db, `${file}.v${from}.bak`);
  // table rebuilds need foreign keys off, and the pragma is ignored inside a transaction
  db.connection.pragma('foreign_keys = OFF');
  try {
    for (const m of migrations.slice(from)) {
      db.transaction(() => {
        db.connection.exec(m.sql);
        const broken = db.connection.pragma('foreign_key_check') as unknown[];
        if (broken.length > 0) throw new Error(`Migration ${m.name} leaves ${broken.length} broken references`);
        db.connection.pragma(`user_version = ${m.version}`);
      });
    }
  } finally {
    db.connection.pragma('foreign_keys = ON');
  }
  return { from, to };
}

function backup(db: Database, to: string): void {
  if (existsSync(to)) rmSync(to);
  db.connection.prepare('VACUUM INTO ?').run(to);
}
