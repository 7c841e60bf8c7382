import type { MessagePortMain, UtilityProcess } from 'electron';
import type { Logger } from '#engine/store/types.ts';
import type { EngineNotice } from '#shared/shell.ts';
import { type EndedTask, type EngineStart, type EngineWork, type FromEngine, NO_WORK, type ToEngine } from './engine-messages.ts';
import type { CheckedKeychain } from './keychain.ts';

/** The pause before the first and the second restart, ms. */
const RESTART_DELAYS_MS = [100, 1_000] as const;
/** This many ends within the window, and the engine is not started again by itself. */
const CRASH_BUDGET = 3;
const CRASH_WINDOW_MS = 60_000;
/** How long a closing engine may take, ms. */
export const CLOSE_CAP_MS = 5_000;
/** How long it may take to say what it works on, ms. */
const WORK_CAP_MS = 1_500;

type Child = Pick<UtilityProcess, 'on' | 'postMessage' | 'kill'>;

export interface EngineProcessDeps {
  /** Starts the process; called anew for every restart. */
  fork(): Child;
  start: EngineStart;
  keychain: CheckedKeychain;
  /** Tells the pages. */
  notify(notice: EngineNotice): void;
  /** What the engine works on, whenever that changes. */
  worked(work: EngineWork): void;
  /** A task ended, and the person wants to hear of such. */
  ended(task: EndedTask): void;
  /** Another instance holds the home; `message` says who. The engine is not started again. */
  busy(message: string): void;
  log: Logger;
  /** Epoch ms. */
  now(): number;
  /** Calls back after `ms`; returns what takes it back. */
  after(ms: number, work: () => void): () => void;
}

export interface EngineProcess {
  start(): void;
  /** Gives the engine a port; one that is still starting serves it later. Asking after it gave up starts it once more. */
  connect(port: MessagePortMain): boolean;
  /** Ends the engine, if there is one, and starts it with a fresh budget. */
  restart(): void;
  /** What it works on at the moment; nothing when it is not open, and what was said last when it does not answer in time. */
  work(): Promise<EngineWork>;
  /** Asks the engine to close; after CLOSE_CAP_MS it is ended. Never rejects. */
  close(): Promise<void>;
}

/** Keeps the engine's process running: restarts it with a growing pause, and after three ends in a minute says so and stops. */
export function superviseEngine(deps: EngineProcessDeps): EngineProcess {
  let child: Child | undefined;
  let crashes: number[] = [];
  let pageKnowsDown = false;
  let stopped: 'no' | 'gave-up' | 'restarting' | 'closing' = 'no';
  let cancelRestart: (() => void) | undefined;
  let onGone: (() => void) | undefined;
  let ready = false;
  let work = NO_WORK;
  const asking: ((work: EngineWork) => void)[] = [];

  function start(): void {
    cancelRestart = undefined;
    const started = deps.fork();
    child = started;
    started.on('message', (message: FromEngine) => {
      if (child === started) receive(started, message);
    });
    started.on('exit', (code) => {
      if (child !== started) return;
      child = undefined;
      gone(code);
    });
    send(started, { type: 'start', start: deps.start });
  }

  function receive(from: Child, message: FromEngine): void {
    switch (message.type) {
      case 'ready':
        ready = true;
        if (pageKnowsDown) deps.notify({ state: 'up', message: 'The engine is running again.' });
        pageKnowsDown = false;
        return;
      case 'busy':
        stopped = 'closing';
        from.kill();
        deps.busy(message.message);
        return;
      case 'failed':
        // The same would happen again: a database that cannot be opened does not heal by waiting.
        from.kill();
        giveUp(message.message);
        return;
      case 'closed':
        from.kill();
        return;
      case 'work':
        worked(message.work);
        return;
      case 'ended':
        deps.ended(message.task);
        return;
      case 'keychain':
        void answerKeychain(from, message);
    }
  }

  function worked(now: EngineWork): void {
    work = now;
    for (const answer of asking.splice(0)) answer(work);
    deps.worked(work);
  }

  async function answerKeychain(from: Child, { id, call, text }: Extract<FromEngine, { type: 'keychain' }>): Promise<void> {
    try {
      send(from, { type: 'keychain', id, ok: true, value: (await deps.keychain[call](text)) ?? '' });
    } catch (error) {
      send(from, { type: 'keychain', id, ok: false, message: error instanceof Error ? error.message : 'The keychain refused.' });
    }
  }

  function gone(code: number): void {
    ready = false;
    worked(NO_WORK);
    onGone?.();
    onGone = undefined;
    if (stopped === 'restarting') startAnew();
    if (stopped !== 'no' || child !== undefined) return;
    const now = deps.now();
    crashes = [...crashes.filter((at) => now - at < CRASH_WINDOW_MS), now];
    deps.log.error(`The engine ended with code ${code} (${crashes.length} of ${CRASH_BUDGET} within a minute)`);
    const delay = RESTART_DELAYS_MS[crashes.length - 1];
    if (crashes.length >= CRASH_BUDGET || delay === undefined) {
      giveUp(`The engine ended ${CRASH_BUDGET} times within a minute (last with code ${code}). What was answered is stored. Try again, or restart Talaria.`);
      return;
    }
    pageKnowsDown = true;
    deps.notify({ state: 'down', message: 'The engine has ended and is being started again.' });
    cancelRestart = deps.after(delay, start);
  }

  function giveUp(message: string): void {
    stopped = 'gave-up';
    pageKnowsDown = true;
    deps.log.error(`The engine is not started again: ${message}`);
    deps.notify({ state: 'gave-up', message });
  }

  function startAnew(): void {
    cancelRestart?.();
    crashes = [];
    stopped = 'no';
    start();
  }

  function send(to: Child, message: ToEngine, ports: MessagePortMain[] = []): void {
    to.postMessage(message, ports);
  }

  return {
    start,
    connect(port) {
      if (stopped === 'gave-up') startAnew();
      if (child === undefined || stopped !== 'no') return false;
      send(child, { type: 'port' }, [port]);
      return true;
    },
    restart() {
      if (stopped === 'closing' || stopped === 'restarting') return;
      pageKnowsDown = true;
      deps.notify({ state: 'down', message: 'The engine is being restarted.' });
      const old = child;
      if (old === undefined) return startAnew();
      // The home is free for the next one only when this one has ended.
      stopped = 'restarting';
      const cancel = deps.after(CLOSE_CAP_MS, () => old.kill());
      onGone = cancel;
      send(old, { type: 'close' });
    },
    work() {
      const asked = child;
      if (!ready || asked === undefined || stopped === 'closing') return Promise.resolve(NO_WORK);
      return new Promise((resolve) => {
        const cancel = deps.after(WORK_CAP_MS, () => resolve(work));
        asking.push((now) => {
          cancel();
          resolve(now);
        });
        send(asked, { type: 'work' });
      });
    },
    close() {
      stopped = 'closing';
      cancelRestart?.();
      const closing = child;
      if (closing === undefined) return Promise.resolve();
      return new Promise((resolve) => {
        const cancel = deps.after(CLOSE_CAP_MS, () => {
          deps.log.error(`The engine did not close within ${CLOSE_CAP_MS} ms and is ended`);
          closing.kill();
          resolve();
        });
        onGone = () => {
          cancel();
          resolve();
        };
        send(closing, { type: 'close' });
      });
    },
  };
}
