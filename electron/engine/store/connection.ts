import BetterSqlite3 from 'better-sqlite3';
import type { Compilable } from 'kysely';

/**
 * One SQLite connection, used synchronously. Queries are compiled by Kysely (`sqlFor`) and run as cached prepared statements. Kysely
 * itself is not loaded by this module: a reader that is started for one question has no time for its hundreds of files.
 */
export class Database {
  readonly connection: BetterSqlite3.Database;
  readonly #statements = new Map<string, BetterSqlite3.Statement>();
  /** Made once: the driver makes four functions for each. */
  readonly #transaction: BetterSqlite3.Transaction<(work: () => unknown) => unknown>;

  /** Opens `file` (created unless read-only) in WAL mode with foreign keys on. Throws the driver's error when that fails. */
  constructor(file: string, options: { readonly?: boolean } = {}) {
    this.connection = new BetterSqlite3(file, { readonly: options.readonly ?? false, fileMustExist: options.readonly ?? false });
    this.connection.pragma('busy_timeout = 5000');
    if (!options.readonly) this.connection.pragma('journal_mode = WAL');
    this.connection.pragma('synchronous = NORMAL');
    // what is written again and again (sums, ends of indexes) goes from the journal (16 MiB) to the file once, not four times
    this.connection.pragma('wal_autocheckpoint = 4000');
    this.connection.pragma('foreign_keys = ON');
    this.connection.pragma('cache_size = -32000');
    this.#transaction = this.connection.transaction((work: () => unknown) => work());
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

  /** `run` for what is run many times a second, with SQL that was compiled once: compiling costs as much as running. */
  runSql(text: string, parameters: readonly unknown[]): void {
    this.#prepare(text).run(...parameters);
  }

  /** `get`, in the same way. */
  getSql<T>(text: string, parameters: readonly unknown[]): T | undefined {
    return this.#prepare(text).get(...parameters) as T | undefined;
  }

  /** Streams rows; the connection must not be written to meanwhile. */
  iterate<T>(query: Compilable<T>): IterableIterator<T> {
    const { sql, parameters } = query.compile();
    return this.connection.prepare(sql).iterate(...(parameters as unknown[])) as IterableIterator<T>;
  }

  /** Runs `work` in one transaction; nested calls are savepoints. What it throws rolls back. */
  transaction<T>(work: () => T): T {
    return this.#transaction.immediate(work) as T;
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
