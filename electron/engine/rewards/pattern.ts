import { Worker } from 'node:worker_threads';
import { endOf } from './answer.ts';

/** Far longer than any sane pattern needs, also on a machine that has much to do. */
const LIMIT_MS = 2_000;
const FOUND_SHOWN_CHARS = 200;

/** Matching happens on its own thread: the engine goes on meanwhile, and a pattern that takes too long can be ended. */
const SOURCE = `
const { parentPort } = require('node:worker_threads');
parentPort.on('message', ({ source, flags, text }) => {
  const match = new RegExp(source, flags).exec(text);
  parentPort.postMessage(match === null ? null : match[0].slice(0, ${FOUND_SHOWN_CHARS}).toWellFormed());
});`;

let worker: Worker | null = null;
let last: Promise<unknown> = Promise.resolve();

/** What a pattern finds in a text (its last million characters), or a sentence why that cannot be said. One at a time. */
export function matchPattern(source: string, flags: string, text: string, signal: AbortSignal, limitMs = LIMIT_MS): Promise<{ found: string | null } | string> {
  const mine = last.then(() => (signal.aborted ? 'It was stopped.' : match(source, flags, endOf(text), limitMs)));
  last = mine;
  return mine;
}

function match(source: string, flags: string, text: string, limitMs: number): Promise<{ found: string | null } | string> {
  const thread = (worker ??= start());
  return new Promise((resolve) => {
    const end = (outcome: { found: string | null } | string, broken: boolean): void => {
      clearTimeout(timer);
      thread.off('message', onMessage).off('error', onError).off('exit', onExit);
      if (broken) {
        worker = null;
        void thread.terminate();
      } else thread.unref();
      resolve(outcome);
    };
    const timer = setTimeout(() => end(`The pattern took longer than ${limitMs / 1000} seconds.`, true), limitMs);
    const onMessage = (found: string | null): void => end({ found }, false);
    const onError = (error: unknown): void => end(`The pattern could not be used: ${error instanceof Error ? error.message : String(error)}`, true);
    const onExit = (): void => end('The pattern could not be used.', true);
    thread.once('message', onMessage).once('error', onError).once('exit', onExit);
    thread.ref();
    thread.postMessage({ source, flags, text });
  });
}

function start(): Worker {
  const thread = new Worker(SOURCE, { eval: true, execArgv: [], env: {} });
  thread.unref();
  return thread;
}
