import { readdir, realpath } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';
import { BatchError, systemCode } from './errors.ts';

const OUTPUT_NAME = /^(?:batch_\d+\.jsonl|trajectories\.jsonl|checkpoint\.json|statistics\.json)$/;

/** What the system says when there is no room. */
const FULL = ['ENOSPC', 'EDQUOT'];

/** For a new run. Throws BatchError `conflict` when the folder holds output files, `invalid` when it can be none. Makes nothing. */
export async function refuseTakenFolder(folder: string): Promise<void> {
  const names = await outputsIn(folder).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return [];
    throw ofNoRun(outputError(folder, error));
  });
  if (names.length > 0) throw folderTaken(folder);
}

/** Throws BatchError `invalid` when the folder is in the one for workspaces, whose contents are removed after each run. */
export async function refuseInWorkspaces(folder: string, workspaces: string): Promise<void> {
  const [inner, outer] = await Promise.all([realPlace(folder), realPlace(workspaces)]);
  const way = relative(outer, inner);
  if (isAbsolute(way) || way === '..' || way.startsWith(`..${sep}`)) return;
  throw new BatchError('invalid', `${workspaces} is for the workspaces of rollouts and is cleaned. Choose another output folder.`, { field: 'outputDir' });
}

/** The path without symbolic links, as far as it exists. */
async function realPlace(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    return parent === path || systemCode(error) !== 'ENOENT' ? path : join(await realPlace(parent), relative(parent, path));
  }
}

/** Names of the output files that a folder holds. */
export async function outputsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => OUTPUT_NAME.test(name));
}

export function folderTaken(folder: string): BatchError {
  return new BatchError('conflict', `${folder} holds the output of another run. Choose another run name or output folder, or move that folder away.`, { field: 'runName' });
}

/** What a person can do about a file system that refused. */
export function outputError(folder: string, error: unknown): BatchError {
  const code = systemCode(error);
  const said = error instanceof Error ? error.message : String(error);
  const sentence =
    FULL.includes(code) ? `There is no space left on the disk that holds ${folder}. Free some space, then resume the run: nothing is lost.`
    : ['EACCES', 'EPERM', 'EROFS'].includes(code) ? `${folder} cannot be written. Correct its permissions, then resume the run: nothing is lost.`
    : ['EEXIST', 'ENOTDIR'].includes(code) ? `${folder} cannot be a folder because a file is in the way. Move that file, or choose another output folder.`
    : `The output files in ${folder} cannot be written: ${said}. Resume the run when that is mended: nothing is lost.`;
  return new BatchError('unavailable', sentence, { field: 'outputDir', cause: error });
}

/** The same where no run has come of it that could be resumed. */
export function ofNoRun(error: unknown): unknown {
  if (!(error instanceof BatchError) || error.field !== 'outputDir') return error;
  const message = error.message
    .replace(/, then resume the run: nothing is lost\.$/, ', then start the run again, or choose another output folder.')
    .replace(/ Resume the run when that is mended: nothing is lost\.$/, ' Choose another output folder, or start the run again when that is mended.');
  // only room on the disk is not the option's fault
  const code = error.code === 'unavailable' && !FULL.includes(systemCode(error.cause)) ? 'invalid' : error.code;
  return new BatchError(code, message, { field: 'outputDir', cause: error.cause });
}
