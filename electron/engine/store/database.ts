import BetterSqlite3 from 'better-sqlite3';
import { type Compilable, DummyDriver, Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from 'kysely';
import type { Tables } from './schema.ts';

/** Writes typed SQL; nothing is ever executed through it. */
export const sqlFor: Kysely<Tables> = new Kysely<Tables>({
  dialect: {
    createAdapter: () => new SqliteAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  },
});

/**
 * One SQLite connection, used synchronously. Queries are compiled by Kysely (`sqlFor`) and run as cached prepared statements.
 */
export class Database {
  readonly connection: BetterSqlite3.Database;
  readonly #statements = new Map<string, BetterSqlite3.Statement>();

  /** Opens `file` (created unless read-only) in WAL mode with foreign keys on. Throws the driver's error when that fails. */
  constructor(file: string, options: { readonly?: boolean } = {}) {
    this.connection = new BetterSqlite3(file, { readonly: options.readonly ?? false, fileMustExist: options.readonly ?? false });
    this.connection.pragma('busy_timeout = 5000');
    if (!options.readonly) this.connection.pragma('journal_mode = WAL');
    this.connection.pragma('synchronous = NORMAL');
    this.connection.pragma('foreign_keys = ON');
    this.connection.pragma('cache_size = -32000');
  }

  all<T>(query: Compilable<T>): T[] {
    const { sql, parameters } = query.compile();
    return this.#prepare(sql).all(...(parameters as unknown[])) as T[];
  }

  get<T>(query: Compilable<T>): T | undefined {
    const { sql, parameters } = query.compile();
    return this.#prepare(sql).get(...(parameters as unknown[])) as T | undefined;
  }

  /** Runs a statement without rows. */
  run(query: Compilable<unknown>): { changes: number; lastInsertRowid: number } {
    const { sql, parameters } = query.compile();
    const result = this.#prepare(sql).run(...(parameters as unknown[]));
    return { changes: result.changes, lastInsertRowid: Number(result.lastInsertRowid) };
  }

  /** Streams rows; the connection must not be written to meanwhile. */
  iterate<T>(query: Compilable<T>): IterableIterator<T> {
    const { sql, parameters } = query.compile();
    return this.connection.prepare(sql).iterate(...(parameters as unknown[])) as IterableIterator<T>;
  }

  /** Runs `work` in one transaction; nested calls are savepoints. What it throws rolls back. */
  transaction<T>(work: () => T): T {
    return this.connection.transaction(work).immediate();
  }

  close(): void {
    this.#statements.clear();
    this.connection.close();
  }

  #prepare(sql: string): BetterSqlite3.Statement {
    let statement = this.#statements.get(sql);
    if (!statement) {
      // queries with long IN lists would fill the cache with one-off statements
      if (this.#statements.size > 500) this.#statements.clear();
      statement = this.connection.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
