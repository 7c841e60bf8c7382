import { ContainerError, docker, saidBy } from './docker.ts';

const INSPECT_MS = 60_000;
const PULL_MS = 600_000;

interface Fetch {
  done: Promise<void>;
  stop: AbortController;
  waiting: number;
}

const fetches = new Map<string, Fetch>();

/**
 * Sees to it that an image is on this machine: looked for, then pulled. Many who need the same one at once share one pull; it is stopped
 * when nobody waits for it any more.
 * @throws ContainerError; the signal's reason.
 */
export async function needImage(image: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const fetch = fetches.get(image) ?? begin(image);
  fetch.waiting += 1;
  const { promise, reject } = Promise.withResolvers<never>();
  const leave = (): void => reject(signal.reason as Error);
  signal.addEventListener('abort', leave, { once: true });
  try {
    await Promise.race([fetch.done, promise]);
  } finally {
    signal.removeEventListener('abort', leave);
    fetch.waiting -= 1;
    if (fetch.waiting === 0) {
      if (fetches.get(image) === fetch) fetches.delete(image);
      fetch.stop.abort();
    }
  }
}

function begin(image: string): Fetch {
  const stop = new AbortController();
  const fetch: Fetch = { done: load(image, stop.signal), stop, waiting: 0 };
  const over = (): void => {
    if (fetches.get(image) === fetch) fetches.delete(image);
  };
  fetch.done.then(over, over);
  fetches.set(image, fetch);
  return fetch;
}

async function load(image: string, signal: AbortSignal): Promise<void> {
  const there = await docker(['image', 'inspect', '--format', '{{.Id}}', image], { timeoutMs: INSPECT_MS, signal });
  if (there.ok) return;
  const pulled = await docker(['pull', '--quiet', image], { timeoutMs: PULL_MS, signal });
  if (!pulled.ok) throw new ContainerError('image_pull', `The image ${image} is not on this machine and could not be pulled. Docker said: ${saidBy(pulled)}`);
}
