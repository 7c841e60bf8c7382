import { join } from 'node:path';
import { Database } from './database.ts';
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
 * Throws StoreVersionError when it was made by a newer program.
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
      db.connection.pragma('wal_checkpoint(TRUNCATE)');
      db.close();
    },
  };
}
