/**
 * Progress of a piece of work as a stream, the newest only when the reader is slow, then its result. Ending the iteration early aborts
 * the work and waits until it has stopped. Throws what the work throws.
 */
export async function* withProgress<P, R>(work: (report: (progress: P) => void, signal: AbortSignal) => Promise<R>, signal?: AbortSignal): AsyncGenerator<P, R> {
  const abort = new AbortController();
  const onAbort = (): void => abort.abort(signal?.reason);
  if (signal?.aborted) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  let newest: { progress: P } | null = null;
  let wake = Promise.withResolvers<void>();
  let ended = false;
  const result = work((progress) => {
    newest = { progress };
    wake.resolve();
  }, abort.signal);
  result.catch(() => undefined).finally(() => {
    ended = true;
    wake.resolve();
  });
  try {
    while (!ended) {
      await wake.promise;
      wake = Promise.withResolvers<void>();
      const next = newest as { progress: P } | null;
      newest = null;
      if (next) yield next.progress;
    }
    return await result;
  } finally {
    signal?.removeEventListener('abort', onAbort);
    abort.abort();
    await result.catch(() => undefined);
  }
}
