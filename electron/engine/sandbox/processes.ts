import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
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

/** A moment: how many processes the system had started by then, and the number that the last of them got. */
export interface ProcessMoment {
  started: number;
  last: number;
}

let reading: Promise<ProcessTable> | null = null;
let queued: { look: Promise<ProcessTable>; since: Since[] } | null = null;

type Since = ProcessMoment | null;

/**
 * Processes that came from a command but may have left its group (`setsid`, daemons): those that carry its mark in their
 * environment, and all that descend from those or from `parent`. Read from /proc, so only on Linux; elsewhere the list is empty.
 * @param mark `<sandbox>.<command>` for one command, or `<sandbox>.` for all of a sandbox.
 * @param since a moment before the first of them began: processes that are older need not be looked at. Null looks at all.
 */
export async function strayProcesses(mark: string, { parent, since = null }: { parent?: number; since?: ProcessMoment | null } = {}): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const { parents, marks } = await processTable(since);
  const found = [...marks].filter(([, m]) => (mark.endsWith('.') ? m.startsWith(mark) : m === mark)).map(([pid]) => pid);
  return withDescendants(parent === undefined ? found : [...found, parent], parents).filter((pid) => pid !== parent);
}

/** Processes of commands whose workspace lies in `folder` (a real path), whoever started them, and their descendants. Linux only, as above. */
export async function processesUnder(folder: string): Promise<number[]> {
  if (process.platform !== 'linux') return [];
  const { parents, homes } = await processTable(null);
  return withDescendants([...homes].filter(([, home]) => home.startsWith(`${folder}/`)).map(([pid]) => pid), parents);
}

/**
 * Ends what commands of a Talaria that was killed left running, and answers with how many there were. Those of one that lives, here or in
 * a container, are left alone. Linux only, as above.
 */
export async function endLeftovers(): Promise<number> {
  if (process.platform !== 'linux') return 0;
  const { parents, marks } = await processTable(null);
  const namespace = namespaceOf(process.pid);
  const orphans = [...marks].filter(([pid, mark]) => {
    const owner = Number(/^(\d+):/.exec(mark)?.[1]);
    return Number.isInteger(owner) && owner !== process.pid && !parents.has(owner) && namespace !== null && namespaceOf(pid) === namespace;
  });
  const all = withDescendants(orphans.map(([pid]) => pid), parents);
  for (const pid of all) send(pid, 'SIGKILL');
  return all.length;
}

/** Process ids mean something only within one namespace. */
function namespaceOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return null;
  }
}

/** This moment, or null where the system does not tell. */
export function processMoment(): ProcessMoment | null {
  if (process.platform !== 'linux') return null;
  const started = Number(/^processes (\d+)$/m.exec(readText('/proc/stat'))?.[1]);
  const last = Number(/ (\d+)\s*$/.exec(readText('/proc/loadavg'))?.[1]);
  return started > 0 && last > 0 ? { started, last } : null;
}

/**
 * A look at the processes that have begun since a moment. Many sandboxes that end at once share one: a look costs some milliseconds, which
 * for each rollout alone would be the largest part of a busy batch.
 */
function processTable(since: Since): Promise<ProcessTable> {
  if (reading === null) {
    reading = readProcesses([since]).finally(() => {
      reading = null;
    });
    return reading;
  }
  // the look under way may have passed over a process that is younger than it, or that is of no interest to who asked for it
  if (queued) queued.since.push(since);
  else {
    const wanted = [since];
    const look = reading
      .catch(() => undefined)
      .then(() => {
        queued = null;
        reading = readProcesses(wanted).finally(() => {
          reading = null;
        });
        return reading;
      });
    queued = { look, since: wanted };
  }
  return queued.look;
}

async function readProcesses(since: readonly Since[]): Promise<ProcessTable> {
  const table: ProcessTable = { parents: new Map(), marks: new Map(), homes: new Map() };
  const isYoung = youngerThan(since);
  const pids = namesIn('/proc').map(Number).filter((pid) => Number.isInteger(pid) && pid > 1 && pid !== process.pid && isYoung(pid));
  for (const [i, pid] of pids.entries()) {
    // These files are made in memory: reading them in place is many times cheaper than through the thread pool.
    if (i % PER_TURN === PER_TURN - 1) await setImmediate();
    const stat = readText(`/proc/${pid}/stat`);
    // The second field is the program's name in brackets and may hold anything; the parent is the second field after it.
    const ppid = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ', 2)[1]);
    if (Number.isInteger(ppid)) table.parents.set(pid, ppid);
    if (ppid === KERNEL_THREADS) continue;
    const environ = readText(`/proc/${pid}/environ`);
    const mark = MARK.exec(environ)?.[1];
    if (mark === undefined) continue;
    table.marks.set(pid, mark);
    table.homes.set(pid, HOME.exec(environ)?.[1] ?? '');
  }
  return table;
}

/**
 * Which process numbers may have been given since any of these moments. Numbers are given in turn: as long as fewer processes have begun
 * than there are numbers, those since a moment are the ones behind the last one then, around the end.
 */
function youngerThan(since: readonly Since[]): (pid: number) => boolean {
  const now = since.includes(null) ? null : processMoment();
  const most = Number(readText('/proc/sys/kernel/pid_max'));
  const first = since.flatMap((moment) => moment ?? []);
  if (now === null || !(most > 0) || first.some(({ started }) => now.started < started || now.started - started >= most / 2)) return () => true;
  return (pid) => first.some(({ last }) => (now.last >= last ? pid > last : pid > last || pid <= now.last));
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return '';
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
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
