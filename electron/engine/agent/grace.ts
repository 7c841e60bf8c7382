/** How long what runs may take to end by itself after an interrupt. */
const ABORT_GRACE_MS = 800;

/** Waits for work that should heed a signal, and not much longer than the signal. */
export interface Grace {
  /** What `work` gives, or null when it ignores the interrupt for too long. Failures are passed on. */
  wait<T>(work: PromiseLike<T>): Promise<T | null>;
  dispose(): void;
}

/** One per call or tool: `dispose` frees what it holds. */
export function graceAfter(signal: AbortSignal): Grace {
  const { promise, resolve } = Promise.withResolvers<null>();
  let timer: NodeJS.Timeout | null = null;
  const arm = (): void => {
    timer = setTimeout(() => resolve(null), ABORT_GRACE_MS);
  };
  if (signal.aborted) arm();
  else signal.addEventListener('abort', arm, { once: true });
  return {
    wait: (work) => Promise.race([work, promise]),
    dispose() {
      signal.removeEventListener('abort', arm);
      if (timer) clearTimeout(timer);
    },
  };
}
