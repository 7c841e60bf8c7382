import { openSandbox } from './open.ts';
import type { Sandbox } from './types.ts';

/** A workspace on the host: `openSandbox` without anything to choose. */
export function createHostSandbox(options: { root: string; env?: Record<string, string> }): Promise<Sandbox> {
  return openSandbox({ kind: 'host', ...options });
}
