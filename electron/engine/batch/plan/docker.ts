import { ContainerError, docker, saidBy } from '../../sandbox/docker.ts';

const TIMEOUT_MS = 5_000;
const KEPT_MS = 30_000;
let last: { until: number; answer: Promise<string | null> } | null = null;

/** Why containers cannot be used here, in a sentence; null when a Docker server answers. Asked at most twice a minute. */
export function dockerMissing(now: () => number = Date.now): Promise<string | null> {
  if (last === null || now() >= last.until) last = { until: now() + KEPT_MS, answer: ask() };
  return last.answer;
}

async function ask(): Promise<string | null> {
  try {
    const answer = await docker(['version', '--format', '{{.Server.Version}}'], { timeoutMs: TIMEOUT_MS });
    return answer.ok ? null : `docker says: ${saidBy(answer)}`;
  } catch (error) {
    if (error instanceof ContainerError) return error.message;
    throw error;
  }
}
