/**
 * Entry of the spawner: a small process that starts commands for the engine. To start one, the system copies the page tables of who
 * starts it and has every page that is written afterwards copied: in the engine, with its hundreds of megabytes, that takes several
 * milliseconds of the one thread that all agents share; here a fraction of it, beside that thread.
 * It ends with the engine, whichever way that ends, and takes what it started along.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import { createFrameReader, frame, frameHead, FROM_SPAWNER, type StartFrame, TO_SPAWNER } from './spawner-frames.ts';

interface Running {
  child: ChildProcess;
  released: boolean;
}

const CHANNEL_FD = 3;
const running = new Map<number, Running>();
const paused = new Set<Readable>();
const channel = new Socket({ fd: CHANNEL_FD, readable: true, writable: true });

channel.on('data', createFrameReader((type, id, body) => {
  if (type === TO_SPAWNER.start) start(id, JSON.parse(body.toString()) as StartFrame);
  else if (type === TO_SPAWNER.release) release(id);
}));
channel.on('drain', () => {
  for (const stream of paused) stream.resume();
  paused.clear();
});
channel.on('error', end);
channel.on('close', end);
channel.on('end', end);
say(frame(FROM_SPAWNER.ready, 0));

/** The engine is gone. Each command leads a process group. */
function end(): void {
  for (const { child } of running.values()) {
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) continue;
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // it has just ended
    }
  }
  process.exit(0);
}

function start(id: number, { file, args, cwd, env, oneStream }: StartFrame): void {
  let child: ChildProcess;
  try {
    child = spawn(file, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', oneStream ? 'ignore' : 'pipe'] });
  } catch (error) {
    return say(frame(FROM_SPAWNER.failed, id, codeOf(error)));
  }
  const one: Running = { child, released: false };
  running.set(id, one);
  if (child.pid === undefined) {
    child.once('error', (error) => {
      running.delete(id);
      say(frame(FROM_SPAWNER.failed, id, codeOf(error)));
    });
    return;
  }
  child.on('error', () => undefined);
  const pid = Buffer.allocUnsafe(4);
  pid.writeUInt32BE(child.pid);
  say(frameHead(FROM_SPAWNER.started, id, pid.length), pid);
  forward(child.stdout, FROM_SPAWNER.stdout, id, one);
  forward(child.stderr, FROM_SPAWNER.stderr, id, one);
  child.once('exit', (code, signal) => say(frame(FROM_SPAWNER.exited, id, JSON.stringify({ code, signal }))));
  child.once('close', () => {
    running.delete(id);
    say(frame(FROM_SPAWNER.closed, id));
  });
}

function forward(stream: Readable | null, type: number, id: number, one: Running): void {
  stream?.on('data', (bytes: Buffer) => {
    if (one.released) return;
    say(frameHead(type, id, bytes.length), bytes);
    // what the engine has not read yet must not pile up here
    if (!channel.writableNeedDrain) return;
    stream.pause();
    paused.add(stream);
  });
  stream?.on('error', () => undefined);
}

function release(id: number): void {
  const one = running.get(id);
  if (one) one.released = true;
}

/** What is said in one turn of the event loop goes out together: each time wakes the engine. */
function say(...parts: readonly Buffer[]): void {
  if (channel.writableCorked === 0) {
    channel.cork();
    setImmediate(() => channel.uncork());
  }
  for (const part of parts) channel.write(part);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
