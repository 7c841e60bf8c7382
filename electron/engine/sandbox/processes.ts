import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import treeKill from 'tree-kill';
import { COMMAND_MARK } from './environment.ts';

/** Processes that are looked at before the event loop gets its turn. */
const PER_TURN = 40;

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

/**
 * Processes that came from a command but may have left its group (`setsid`, daemons): those that carry its mark in their
 * environment, and all that descend from those or from `parent`. Read from /proc, so only on Linux; elsewhere the list is empty.
 * @param mark `<sandbox>.<command>` for one command, or `<sandbox>.` for all of a sandbox.
 */
export async function strayProcesses(mark: string, parent?: number): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const wanted = mark.endsWith('.') ? `${COMMAND_MARK}=${mark}` : `${COMMAND_MARK}=${mark}\0`;
  const parents = new Map<number, number>();
  const found = new Set<number>();
  const names = await readdir('/proc').catch(() => []);
  for (let i = 0; i < names.length; i++) {
    // These files are made in memory: reading them in place is many times cheaper than through the thread pool.
    if (i % PER_TURN === PER_TURN - 1) await setImmediate();
    const pid = Number(names[i]);
    if (!Number.isInteger(pid) || pid <= 1 || pid === process.pid) continue;
    const stat = readProc(pid, 'stat');
    // The second field is the program's name in brackets and may hold anything; the parent is the second field after it.
    const ppid = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    if (Number.isInteger(ppid)) parents.set(pid, ppid);
    if (`${readProc(pid, 'environ')}\0`.includes(wanted)) found.add(pid);
  }
  return withDescendants(parent === undefined ? [...found] : [...found, parent], parents).filter((pid) => pid !== parent);
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
