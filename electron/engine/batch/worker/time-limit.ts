/** Timers of more than 2^31-1 ms fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A signal that fires when another one does, or when the time is up. */
export interface TimeLimit {
  signal: AbortSignal;
  /** The time was up before anybody stopped it. */
  reached(): boolean;
  sentence: string;
  dispose(): void;
}

/** @param seconds null or absent: no limit of its own. */
export function timeLimit(seconds: number | undefined, outer: AbortSignal): TimeLimit {
  const over = new AbortController();
  let reached = false;
  const timer =
    seconds === undefined
      ? null
      : setTimeout(() => {
          reached = !outer.aborted;
          over.abort();
        }, Math.min(seconds * 1000, MAX_TIMER_MS));
  return {
    signal: timer ? AbortSignal.any([outer, over.signal]) : outer,
    reached: () => reached,
    sentence: `The time for one rollout was up (${seconds} s).`,
    dispose: () => void (timer && clearTimeout(timer)),
  };
}
