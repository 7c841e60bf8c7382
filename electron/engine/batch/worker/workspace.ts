import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { openContainer } from '../../sandbox/container.ts';
import { ContainerError, type ContainerTrouble } from '../../sandbox/docker.ts';
import { openSandbox } from '../../sandbox/open.ts';
import { removeFolder } from '../../sandbox/remove.ts';
import { type Sandbox, SandboxError } from '../../sandbox/types.ts';
import { systemCode } from '../errors.ts';
import type { RolloutTask } from '../queue/types.ts';
import type { WorkerDeps } from './deps.ts';
import { type ProblemCause, RolloutProblem } from './problem.ts';
import type { RowOptions } from './row.ts';

const CAUSES: Readonly<Record<ContainerTrouble, { problem: ProblemCause; retryable: boolean }>> = {
  docker_missing: { problem: 'docker_missing', retryable: false },
  image_pull: { problem: 'image_pull', retryable: true },
  unusable: { problem: 'container', retryable: false },
  failed: { problem: 'container', retryable: true },
};

/** The folder of a rollout's workspace. */
export function workspaceOf(workspaces: string, index: number): string {
  return join(workspaces, `task_${index}`);
}

/**
 * A fresh sandbox for one attempt: what an earlier attempt or a killed engine left in its folder is removed. With an image it is a
 * container; the image is looked for and pulled before anything is paid for.
 * @throws RolloutProblem, or the signal's reason.
 */
export async function openWorkspace({ index, spec }: RolloutTask, { image, cwd }: Pick<RowOptions, 'image' | 'cwd'>, { workspaces, hidden = [], now }: WorkerDeps, signal: AbortSignal): Promise<Sandbox> {
  const root = workspaceOf(workspaces, index);
  try {
    await clear(root);
    if (image !== null) return await openContainer({ image, root, cwd, network: spec.network, hidden, now, signal });
    return await openSandbox({ kind: spec.sandbox, root, network: spec.network, hidden, now, ...(cwd === null ? {} : { cwd }) });
  } catch (error) {
    await removeFolder(root).catch(() => undefined);
    signal.throwIfAborted();
    throw problemOf(error);
  }
}

/** Most often there is nothing: looked at in place, as everything that goes through the thread pool waits for its turn. */
async function clear(root: string): Promise<void> {
  if (lstatSync(root, { throwIfNoEntry: false }) === undefined) return;
  await rm(root, { recursive: true, force: true }).catch(() => removeFolder(root));
}

function problemOf(error: unknown): unknown {
  if (error instanceof ContainerError) return new RolloutProblem(CAUSES[error.trouble].problem, error.message, { retryable: CAUSES[error.trouble].retryable, cause: error });
  if (isFull(error)) return new RolloutProblem('disk_full', 'There is no room on the disk for the workspace. Make room, then resume the run.', { retryable: true, cause: error });
  if (error instanceof SandboxError || systemCode(error) !== '') return new RolloutProblem('sandbox', `The workspace could not be made. ${(error as Error).message}`, { retryable: true, cause: error });
  return error;
}

function isFull(error: unknown): boolean {
  return error instanceof Error && /ENOSPC|EDQUOT/.test(`${systemCode(error)} ${error.message}`);
}
