import BetterSqlite3 from 'better-sqlite3';
import { randomBytes } from 'node:crypto';
import { readFileSync, rmSync } from 'node:fs';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { homeError, homePaths } from './home.ts';
import type { HostKind } from './types.ts';

const holderSchema = z.object({
  host: z.enum(['desktop', 'browser', 'cli']),
  pid: z.number().int(),
  /** Start of the instance, ISO 8601. */
  since: z.string(),
  /** Where browser mode can be reached. */
  address: z.string().nullable(),
  /** Proves to the running instance that the asker can read this home. */
  controlSecret: z.string(),
});

/** Who holds a home. The control secret is for the holder's own control endpoint and must never be shown. */
export type Holder = z.infer<typeof holderSchema>;

/** The home belongs to another running instance. The message says to which, as far as known. */
export class HomeBusyError extends Error {
  readonly code = 'HOME_BUSY';
  readonly home: string;
  readonly holder: Holder | null;

  constructor(home: string, holder: Holder | null) {
    super(`${home} is in use by ${holder ? describe(holder) : 'another running Talaria'}. Close that one first, or choose another home with --home.`);
    this.name = 'HomeBusyError';
    this.home = home;
    this.holder = holder;
  }
}

export interface HomeLock {
  readonly holder: Holder;
  /** Gives the home back. Safe to call twice. */
  release(): void;
}

// A connection that is collected as garbage is closed, and the lock with it.
const held = new Set<BetterSqlite3.Database>();
const HOLDER_WAIT_MS = 500;

/**
 * Makes this process the only one that uses `home` (an existing folder), until `release` or its end, also by kill -9.
 *
 * The lock is the write lock of an open SQLite transaction on `instance.lock`: the operating system takes it back with the
 * process, and SQLite gives it to exactly one asker on Linux, macOS and Windows. BEGIN IMMEDIATE, not EXCLUSIVE: of several
 * that start at once, an exclusive one can be refused because of the others' read locks, and then nobody gets the home.
 * Nothing else in this process may open that file: on Unix, closing any handle on it would drop the lock.
 *
 * Throws HomeBusyError when another instance holds the home, HomeError when the lock cannot be used at all.
 */
export function acquireHome(home: string, who: { host: HostKind; pid?: number; address?: string | undefined }): HomeLock {
  const paths = homePaths(home);
  const connection = lock(home, paths.lock);
  const holder: Holder = {
    host: who.host,
    pid: who.pid ?? process.pid,
    since: new Date().toISOString(),
    address: who.address ?? null,
    controlSecret: randomBytes(32).toString('base64url'),
  };
  const note = (): void => {
    try {
      writeFileAtomic.sync(paths.instance, `${JSON.stringify(holder, null, 2)}\n`, { mode: 0o600 });
    } catch (error) {
      throw homeError(paths.instance, error);
    }
  };
  const release = (): void => {
    if (!held.delete(connection)) return;
    // Before the lock goes, or the next holder's note could be removed.
    rmSync(paths.instance, { force: true });
    connection.close();
  };
  try {
    note();
  } catch (error) {
    release();
    throw error;
  }
  return { holder, release };
}

/** What the present or last holder of `home` noted about itself; null when there is no readable note. */
export function readHolder(home: string): Holder | null {
  try {
    return holderSchema.parse(JSON.parse(readFileSync(homePaths(home).instance, 'utf8')));
  } catch {
    return null;
  }
}

function lock(home: string, file: string): BetterSqlite3.Database {
  let connection: BetterSqlite3.Database | undefined;
  try {
    connection = new BetterSqlite3(file, { timeout: 0 });
    // Nothing is ever written, so no journal has to lie beside the file, or to be cleaned up after kill -9.
    connection.pragma('journal_mode = MEMORY');
    connection.exec('BEGIN IMMEDIATE');
    held.add(connection);
    return connection;
  } catch (error) {
    connection?.close();
    const code = (error as { code?: string } | null)?.code ?? '';
    if (code.startsWith('SQLITE_BUSY') || code === 'SQLITE_LOCKED') throw new HomeBusyError(home, awaitHolder(home));
    throw homeError(file, error);
  }
}

/** The winner writes its note just after it has the lock, so a note that is missing or of a dead process may be about to change. */
function awaitHolder(home: string): Holder | null {
  const pause = new Int32Array(new SharedArrayBuffer(4));
  const deadline = Date.now() + HOLDER_WAIT_MS;
  for (;;) {
    const holder = readHolder(home);
    if ((holder && isAlive(holder.pid)) || Date.now() >= deadline) return holder;
    Atomics.wait(pause, 0, 0, 20);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const HOST_NAMES: Record<HostKind, string> = { desktop: 'the Talaria desktop app', browser: 'Talaria in browser mode', cli: 'a talaria command' };

function describe(holder: Holder): string {
  const where = holder.address ? `, at ${holder.address}` : '';
  return `${HOST_NAMES[holder.host]} (process ${holder.pid}, since ${holder.since}${where})`;
}
