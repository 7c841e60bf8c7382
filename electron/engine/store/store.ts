import { join } from 'node:path';
import { Database } from './database.ts';
import { HomeError, homeError, homePaths } from './home.ts';
import { migrate, readMigrations } from './migrations.ts';
import { Readers } from './readers.ts';

export interface Store {
  file: string;
  /** The one writer. */
  db: Database;
  readers: Readers;
  close(): Promise<void>;
}

/**
 * Opens `talaria.db` in an acquired home and brings it up to date.
 * Throws StoreVersionError when it was made by a newer program, SQLite's own error when the file cannot be used.
 */
export function openStore(home: string, paths: { resources: string; reader: string }): Store {
  const file = join(home, 'talaria.db');
  const db = new Database(file);
  try {
    migrate(db, file, readMigrations(join(paths.resources, 'migrations')));
  } catch (error) {
    db.close();
    throw error;
  }
  const readers = new Readers(paths.reader, file);
  return {
    file,
    db,
    readers,
    async close() {
      await readers.close();
      try {
        db.connection.pragma('wal_checkpoint(TRUNCATE)');
      } catch {
        // on a full disk what is in the log stays there; SQLite reads it at the next start
      }
      db.close();
    },
  };
}

/**
 * The HomeError of a failure of SQLite while a home is opened: its own words name neither the file nor what to do. Anything else is
 * given back as it is.
 */
export function storeError(home: string, error: unknown): unknown {
  const file = homePaths(home).database;
  const code = (error as { code?: unknown } | null)?.code;
  if (error instanceof HomeError || typeof code !== 'string' || !code.startsWith('SQLITE_')) return error;
  if (!code.startsWith('SQLITE_CORRUPT') && code !== 'SQLITE_NOTADB') return homeError(file, error);
  const said = error instanceof Error ? error.message : code;
  return new HomeError(
    'unusable',
    `${file} is damaged (${said}). Put back a copy of it, or move it away to begin with an empty Library; the output files of runs and exports are not in it and stay as they are.`,
    error,
  );
}
