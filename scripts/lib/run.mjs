/**
 * Small helpers for the set-up scripts. These files run before the first install, so they use nothing
 * but what Node 20 has built in.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, openSync, closeSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs';
import { delimiter, dirname, join, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of the repository. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** Tells the person what happens. Goes to stderr, so that the output of a command stays clean. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** A failure whose message is meant for the person as it is; shown without a stack. */
export class SetupError extends Error {}

/** Milliseconds as `0.4 s`, `12 s` or `2 min 5 s`. */
export function duration(ms) {
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  if (seconds < 119.5) return `${Math.round(seconds)} s`;
  return `${Math.floor(Math.round(seconds) / 60)} min ${Math.round(seconds) % 60} s`;
}

/** The environment of the machine without this repository's own `node_modules/.bin`, which an install replaces. */
export function outsideEnv() {
  const inside = join(root, 'node_modules') + sep;
  const path = (process.env.PATH ?? '').split(delimiter).filter((entry) => !`${resolve(entry)}${sep}`.startsWith(inside));
  return { ...process.env, PATH: path.join(delimiter) };
}

/** The environment in which the tools of this repository come first. */
export function insideEnv(extra = {}) {
  return { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${outsideEnv().PATH}`, ...extra };
}

/**
 * Runs a command to its end without a terminal.
 * @returns {Promise<{code: number, output: string}>} the exit code (127: not found) and stdout plus stderr, in order of arrival
 */
export function capture(command, args, options = {}) {
  return new Promise((done) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], ...options });
    const stop = forwardSignals(child);
    let output = '';
    child.stdout?.setEncoding('utf8').on('data', (text) => (output += text));
    child.stderr?.setEncoding('utf8').on('data', (text) => (output += text));
    child.on('error', (error) => {
      stop();
      done({ code: 127, output: `${output}${error.message}\n` });
    });
    child.on('close', (code, signal) => {
      stop();
      if (signal && stop.received) process.exit(exitCode(null, signal));
      done({ code: exitCode(code, signal), output });
    });
  });
}

/** Runs a command on this terminal and returns its exit code; signals are handed on to it. */
export function passThrough(command, args, options = {}) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, { cwd: process.cwd(), stdio: 'inherit', ...options });
    const stopSignals = forwardSignals(child);
    const stopWatch = endWithNpm(child);
    const stop = () => {
      stopSignals();
      stopWatch();
    };
    child.on('error', (error) => {
      stop();
      fail(error);
    });
    child.on('exit', (code, signal) => {
      stop();
      done(exitCode(code, signal));
    });
  });
}

const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGABRT: 6, SIGKILL: 9, SIGSEGV: 11, SIGTERM: 15 };

/** As a shell tells it: the exit code, or 128 plus the number of the signal that ended the process. */
function exitCode(code, signal) {
  return code ?? 128 + (SIGNAL_NUMBERS[signal] ?? 1);
}

/**
 * Ends the child when the npm above has gone: npm starts scripts through a shell, and a signal to npm may end npm, or both,
 * without a word to this process. Nothing of the kind when no npm is above, so that a terminal may be closed.
 */
function endWithNpm(child) {
  if (!process.env.npm_lifecycle_event) return () => {};
  const parent = process.ppid;
  const shellParent = parentOfShell(parent);
  const watch = setInterval(() => {
    if (process.ppid === parent && parentOfShell(parent) === shellParent) return;
    clearInterval(watch);
    child.kill('SIGTERM');
  }, 250);
  return () => clearInterval(watch);
}

/** The process above a shell, where /proc tells (Linux); undefined when `pid` is no shell: then it is npm itself. */
function parentOfShell(pid) {
  try {
    const [, name, parent] = /\((.*)\) \S (\d+)/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return /^(ba|da|z|k)?sh$/.test(name ?? '') ? parent : undefined;
  } catch {
    return undefined;
  }
}

function forwardSignals(child) {
  // Ctrl-C reaches the whole group by itself: a second SIGINT would mean "at once" to the child.
  const onTerminal = [process.stdin, process.stdout, process.stderr].some((stream) => stream.isTTY);
  let interruptedAt = 0;
  const handlers = {};
  const stop = () => {
    for (const [signal, handler] of Object.entries(handlers)) process.off(signal, handler);
  };
  stop.received = false;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    handlers[signal] = () => {
      stop.received = true;
      if (signal === 'SIGINT') {
        // npm hands SIGINT on as well, so one key press may arrive twice.
        const again = Date.now() - interruptedAt < 500;
        interruptedAt = Date.now();
        if (onTerminal || again) return;
      }
      child.kill(signal);
    };
    process.on(signal, handlers[signal]);
  }
  return stop;
}

/**
 * Runs `work` while no other process of this repository does the same kind of work; waits for a living holder,
 * takes over from a dead one.
 */
export async function withLock(name, work) {
  const file = join(root, '.cache', `${name}.lock`);
  mkdirSync(dirname(file), { recursive: true });
  for (let told = false; !tryLock(file); told = true) {
    if (!told) say(`Waiting for another ${name} in this folder to end …`);
    await new Promise((done) => setTimeout(done, 300));
  }
  const release = () => rmSync(file, { force: true });
  process.once('exit', release);
  try {
    return await work();
  } finally {
    process.off('exit', release);
    release();
  }
}

function tryLock(file) {
  try {
    const handle = openSync(file, 'wx');
    writeSync(handle, String(process.pid));
    closeSync(handle);
    return true;
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
    if (!holderLives(file)) rmSync(file, { force: true });
    return false;
  }
}

function holderLives(file) {
  try {
    const pid = Number(readFileSync(file, 'utf8'));
    // Empty: created a moment ago, or its writer died in between.
    if (!pid) return Date.now() - statSync(file).mtimeMs < 5000;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM' || (error.code === 'ENOENT' && existsSync(file));
  }
}

/** Runs a script's main function: its number is the exit code, a SetupError is one plain message. */
export async function main(work) {
  try {
    process.exitCode = await work();
  } catch (error) {
    say(error instanceof SetupError ? error.message : String(error?.stack ?? error));
    process.exitCode = 1;
  }
}
