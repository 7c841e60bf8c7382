import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import treeKill from 'tree-kill';
import { COMMAND_MARK } from './environment.ts';

/** Processes that are looked at before the event loop gets its turn. */
const PER_TURN = 40;
/** Parent of the kernel's own threads, which have no environment. */
const KERNEL_THREADS = 2;
const MARK = new RegExp(`(?:^|\\0)${COMMAND_MARK}=([^\\0]*)`);
const HOME = /(?:^|\0)HOME=([^\0]*)/;

/** Sends `signal` to every process of the group led by `pid`. False when there is none left (or on Windows, which has no groups). */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  if (process.platform === 'win32') return false;
  return send(-pid, signal);
}

/** Sends `signal` to one process; false when it is gone or not ours. */
export function send(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}

interface ProcessTable {
  /** Parent by process. */
  parents: Map<number, number>;
  /** Mark of the command a process came from, by process. */
  marks: Map<number, string>;
  /** Workspace of that command, by process. */
  homes: Map<number, string>;
}

let reading: Promise<ProcessTable> | null = null;
let queued: Promise<ProcessTable> | null = null;

/**
 * Processes that came from a command but may have left its group (`setsid`, daemons): those that carry its mark in their
 * environment, and all that descend from those or from `parent`. Read from /proc, so only on Linux; elsewhere the list is empty.
 * @param mark `<sandbox>.<command>` for one command, or `<sandbox>.` for all of a sandbox.
 */
export async function strayProcesses(mark: string, parent?: number): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const { parents, marks } = await processTable();
  const found = [...marks].filter(([, m]) => (mark.endsWith('.') ? m.startsWith(mark) : m === mark)).map(([pid]) => pid);
  return withDescendants(parent === undefined ? found : [...found, parent], parents).filter((pid) => pid !== parent);
}

/** Processes of commands whose workspace lies in `folder` (a real path), whoever started them, and their descendants. Linux only, as above. */
export async function processesUnder(folder: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const { parents, homes } = await processTable();
  return withDescendants([...homes].filter(([, home]) => home.startsWith(`${folder}/`)).map(([pid]) => pid), parents);
}

/**
 * A look at all processes that began after this call. Many sandboxes that end at once share one: a look costs some milliseconds, which
 * for each rollout alone would be the largest part of a busy batch.
 */
function processTable(): Promise<ProcessTable> {
  if (reading === null) {
    reading = readProcesses().finally(() => {
      reading = null;
    });
    return reading;
  }
  // the look under way may have passed over a process that is younger than it
  queued ??= reading
    .catch(() => undefined)
    .then(() => {
      queued = null;
      return processTable();
    });
  return queued;
}

async function readProcesses(): Promise<ProcessTable> {
  const table: ProcessTable = { parents: new Map(), marks: new Map(), homes: new Map() };
  const names = await readdir('/proc').catch(() => []);
  for (let i = 0; i < names.length; i++) {
    // These files are made in memory: reading them in place is many times cheaper than through the thread pool.
    if (i % PER_TURN === PER_TURN - 1) await setImmediate();
    const pid = Number(names[i]);
    if (!Number.isInteger(pid) || pid <= 1 || pid === process.pid) continue;
    const stat = readProc(pid, 'stat');
    // The second field is the program's name in brackets and may hold anything; the parent is the second field after it.
    const ppid = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    if (Number.isInteger(ppid)) table.parents.set(pid, ppid);
    if (ppid === KERNEL_THREADS) continue;
    const environ = readProc(pid, 'environ');
    const mark = MARK.exec(environ)?.[1];
    if (mark === undefined) continue;
    table.marks.set(pid, mark);
    table.homes.set(pid, HOME.exec(environ)?.[1] ?? '');
  }
  return table;
}

function readProc(pid: number, file: 'stat' | 'environ'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

function withDescendants(roots: number[], parents: ReadonlyMap<number, number>): number[] {
  const children = new Map<number, number[]>();
  for (const [pid, ppid] of parents) {
    const siblings = children.get(ppid);
    if (siblings) siblings.push(pid);
    else children.set(ppid, [pid]);
  }
  const seen = new Set(roots);
  // A set that grows while it is walked visits what was added.
  for (const pid of seen) for (const child of children.get(pid) ?? []) seen.add(child);
  return [...seen];
}

/** Kills a process and its descendants where /proc does not tell them (macOS, Windows). Resolves when the signals are sent. */
export function killTree(pid: number): Promise<void> {
  if (process.platform === 'linux') return Promise.resolve();
  return new Promise((done) => treeKill(pid, 'SIGKILL', () => done()));
}
