import { setTimeout as delay } from 'node:timers/promises';

/** Waits `ms`; rejects at once when the signal is aborted. */
export type Sleep = (ms: number, signal: AbortSignal) => Promise<void>;

export const realSleep: Sleep = async (ms, signal) => {
  await delay(ms, undefined, { signal });
};
