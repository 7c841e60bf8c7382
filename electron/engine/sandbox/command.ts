import { setTimeout as delay } from 'node:timers/promises';
import { OutputCollector } from './output.ts';
import { killTree, send, signalGroup, strayProcesses } from './processes.ts';
import { spawnerForNext } from './spawner.ts';
import { type ByteSink, exitCodeOf, type Launch, type Started, startHere } from './started.ts';
import { SandboxError } from './types.ts';
import type { CommandResult } from './types.ts';

export interface Shell {
  path: string;
  name: string;
}

interface CommandOptions extends Launch {
  timeoutMs: number;
  signal: AbortSignal;
  onOutput?: ((text: string) => void) | undefined;
  /** A process group appeared, or is known to be empty. */
  onGroup: (pid: number, alive: boolean) => void;
}

/** Between SIGTERM and SIGKILL. */
const KILL_GRACE_MS = 300;
const KILL_POLL_MS = 20;
/** How long a killed command may take to close its pipe before it is left to itself. */
const KILLED_CLOSE_MS = 200;
/** After the shell ended and a background child still holds the pipe: silence, and total time, until the answer is given. */
const QUIET_MS = 100;
const LINGER_MS = 1_000;
/** Timers of more than 2^31-1 ms fire at once. */
const MAX_TIMEOUT_MS = 24 * 3600 * 1000;

/**
 * Runs one command in its own process group and resolves when its shell has ended, or shortly after it was killed. Never waits
 * for background children that hold the output pipe; what they still write is drained and dropped.
 * @throws SandboxError `unavailable` when the command cannot be started.
 */
export async function runCommand(options: CommandOptions): Promise<CommandResult> {
  const startedAt = performance.now();
  const outcome = { timedOut: false, aborted: false };
  const collector = new OutputCollector(options.onOutput);
  const result = (exitCode: number | null): CommandResult => ({
    output: collector.toString(),
    exitCode,
    ...outcome,
    durationMs: Math.round(performance.now() - startedAt),
    note: null,
  });
  if (options.signal.aborted) {
    outcome.aborted = true;
    return result(null);
  }

  const output = watch(collector);
  const program = await start(options, output.sink);
  const { pid } = program;
  options.onGroup(pid, true);
  const release = (): void => {
    output.giveUp();
    program.release();
  };

  const stop = new Promise<'timedOut' | 'aborted'>((done) => {
    const timer = setTimeout(() => done('timedOut'), Math.min(options.timeoutMs, MAX_TIMEOUT_MS));
    const onAbort = (): void => done('aborted');
    options.signal.addEventListener('abort', onAbort, { once: true });
    // It may have come while the process was starting.
    if (options.signal.aborted) onAbort();
    void program.ended.finally(() => {
      clearTimeout(timer);
      options.signal.removeEventListener('abort', onAbort);
    });
  });

  const first = await Promise.race([program.ended, stop]);
  if (typeof first === 'object' && !program.lost) {
    await output.drained(program.closed);
    release();
    if (!signalGroup(pid, 0)) options.onGroup(pid, false);
    return result(exitCodeOf(first));
  }
  if (typeof first === 'string') outcome[first] = true;
  await terminate(pid, options);
  await Promise.race([program.closed, delay(KILLED_CLOSE_MS, undefined, { ref: false })]);
  release();
  options.onGroup(pid, false);
  if (program.lost && typeof first === 'object') throw new SandboxError('unavailable', 'The command was stopped: the process that had started it was killed. Run it again.');
  return result(null);
}

/** Through the spawner where there is one. */
async function start(options: CommandOptions, sinkOf: () => ByteSink): Promise<Started> {
  const spawner = spawnerForNext();
  if (spawner === null) return startHere(options, sinkOf);
  try {
    return await spawner.start(options, sinkOf);
  } catch (error) {
    // it may have come to life just before the spawner ended
    if (!spawner.ready) for (const pid of await strayProcesses(options.mark)) send(pid, 'SIGKILL');
    throw error;
  }
}

interface OutputWatch {
  sink: () => ByteSink;
  /** Resolves when nothing more is to be expected from the pipe, which `closed` tells of. */
  drained(closed: Promise<void>): Promise<void>;
  /** What comes later is dropped. */
  giveUp(): void;
}

function watch(collector: OutputCollector): OutputWatch {
  let lastData = performance.now();
  let open = true;
  return {
    sink() {
      const sink = collector.stream();
      return {
        write(bytes) {
          lastData = performance.now();
          if (open) sink.write(bytes);
        },
        end: () => open && sink.end(),
      };
    },
    async drained(closed) {
      let isClosed = false;
      const closing = closed.then(() => {
        isClosed = true;
      });
      const until = performance.now() + LINGER_MS;
      lastData = performance.now();
      while (!isClosed && performance.now() < until) {
        const wait = Math.max(1, lastData + QUIET_MS - performance.now());
        await Promise.race([closing, delay(wait)]);
        // A late timer must not win against bytes that already wait in the pipe: one turn of the loop reads them.
        await new Promise((turn) => setImmediate(turn));
        if (performance.now() - lastData >= QUIET_MS) return;
      }
    },
    giveUp() {
      open = false;
    },
  };
}

/** SIGTERM to the group and to everything that left it, a short grace, then SIGKILL to what is left. */
export async function terminate(pid: number, { mark, end }: Pick<Launch, 'mark' | 'end'>): Promise<void> {
  await end?.();
  const strays = new Set(await strayProcesses(mark, { parent: pid }));
  signalGroup(pid, 'SIGTERM');
  for (const stray of strays) send(stray, 'SIGTERM');
  const until = performance.now() + KILL_GRACE_MS;
  while (performance.now() < until && (signalGroup(pid, 0) || [...strays].some((stray) => send(stray, 0)))) {
    await delay(KILL_POLL_MS);
  }
  await killTree(pid);
  signalGroup(pid, 'SIGKILL');
  for (const stray of await strayProcesses(mark, { parent: pid })) strays.add(stray);
  for (const stray of strays) send(stray, 'SIGKILL');
}
