import { createHash } from 'node:crypto';
import { rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { docker } from './docker.ts';

const QUICK_MS = 60_000;
const REMOVE_MS = 120_000;
/** Lies beside workspaces that have had a container, so that leftovers are looked for only there. */
const MARKER = '.containers';

/** The label of all containers whose workspaces lie in this folder (a real path), by which they are found after a crash. */
export function labelOf(workspaces: string): string {
  return `sandbox.workspaces=${createHash('sha256').update(workspaces).digest('hex').slice(0, 24)}`;
}

/** Notes that workspaces in this folder have had containers. */
export async function markContainers(workspaces: string): Promise<void> {
  await writeFile(join(workspaces, MARKER), '');
}

/** Ends everything in a container and removes it. One that is not there is no failure. */
export async function removeContainer(name: string): Promise<void> {
  await docker(['rm', '--force', '--volumes', name], { timeoutMs: REMOVE_MS }).catch(() => null);
}

/** Removes the containers that a killed program left for the workspaces in this folder (a real path). A docker that does not answer has none. */
export async function removeContainers(workspaces: string): Promise<void> {
  const marker = join(workspaces, MARKER);
  if (!(await stat(marker).catch(() => null))) return;
  const found = await docker(['ps', '--all', '--quiet', '--no-trunc', '--filter', `label=${labelOf(workspaces)}`], { timeoutMs: QUICK_MS }).catch(() => null);
  const ids = found?.stdout.split(/\s+/).filter((id) => /^[0-9a-z-]+$/i.test(id)) ?? [];
  if (ids.length > 0) await docker(['rm', '--force', '--volumes', ...ids], { timeoutMs: REMOVE_MS }).catch(() => null);
  if (found) await rm(marker, { force: true });
}
