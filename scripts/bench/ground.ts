import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ENGINE_FLAGS } from '../lib/engine-flags.mjs';

export const ROOT = resolve(import.meta.dirname, '../..');
const GRACE_MS = 3_000;

/** What one benchmark stands on: its folders and processes. All of it goes with `clear`, however the benchmark ends. */
export class Ground {
  readonly #undo: (() => unknown)[] = [];
  #clearing: Promise<void> | null = null;

  /** Something to undo; the last comes first. */
  defer(undo: () => unknown): void {
    this.#refuseWhenCleared();
    this.#undo.push(undo);
  }

  /** A new temporary folder. */
  folder(): string {
    this.#refuseWhenCleared();
    const folder = mkdtempSync(join(tmpdir(), 'talaria-bench-'));
    this.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    return folder;
  }

  /** Starts one of our files and resolves with what matches `ready` in its output. Rejects when it ends before. */
  serve(file: string, args: readonly string[], ready: RegExp): Promise<string> {
    const child = this.#start(file, args);
    return new Promise((done, fail) => {
      let text = '';
      child.stdout?.on('data', (data: Buffer) => {
        text += data.toString();
        const found = ready.exec(text)?.[0];
        if (found) done(found);
      });
      child.once('exit', (code) => fail(new Error(`${file} ended with ${code}`)));
    });
  }

  /** Runs one of our files, as an engine is run, to its end and resolves with its output. Rejects when it fails. */
  run(file: string, args: readonly string[]): Promise<string> {
    const child = this.#start(file, args, ENGINE_FLAGS);
    return new Promise((done, fail) => {
      let text = '';
      child.stdout?.on('data', (data: Buffer) => (text += data.toString()));
      child.once('close', (code) => (code === 0 ? done(text) : fail(new Error(`${file} ended with ${code}`))));
    });
  }

  /** Ends the processes and removes the folders. Safe to call twice; never rejects. */
  clear(): Promise<void> {
    return (this.#clearing ??= (async () => {
      for (let undo = this.#undo.pop(); undo; undo = this.#undo.pop()) {
        try {
          await undo();
        } catch (error) {
          console.error(error instanceof Error ? error.message : error);
        }
      }
    })());
  }

  #refuseWhenCleared(): void {
    if (this.#clearing) throw new Error('The benchmark was stopped');
  }

  #start(file: string, args: readonly string[], flags: readonly string[] = []): ChildProcess {
    this.#refuseWhenCleared();
    const child = spawn(process.execPath, [...flags, join(ROOT, file), ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    this.defer(() => ended(child));
    return child;
  }
}

/** Asks a process to end, and makes it end when it does not. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((done) => void child.once('exit', () => done()));
  child.kill();
  const force = setTimeout(() => child.kill('SIGKILL'), GRACE_MS);
  await gone;
  clearTimeout(force);
}
