import { randomBytes } from 'node:crypto';
import { closeSync, fchmodSync, fchownSync, openSync, renameSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { errorCode } from '../sandbox/confine.ts';
import { makeFolders } from '../store/folders.ts';
import { alone } from './changes.ts';
import { defineTool, ToolError } from './define.ts';
import { fileError, forgetReads, relativePathOf, shownPath } from './files.ts';
import { pathsOf } from './paths.ts';

/** Up to so many characters are written in place: through the thread pool each of a dozen steps would wait for its turn. */
const IN_PLACE_CHARS = 128 * 1024;

/** `write_file`: a whole file at once, folders made as needed. Result `{path, bytes_written, created}`. */
export const writeFileTool = defineTool({
  name: 'write_file',
  toolset: 'file',
  parallel: 'by_path',
  pathOf: relativePathOf,
  description:
    'Write a whole file, replacing what was there. Missing folders are made. ' +
    'For a change to a part of an existing file use patch, which is shorter and safer.',
  parameters: z.object({
    path: z.string().describe('File to write, relative to the workspace root.'),
    content: z.string().describe('The complete new content.'),
  }),
  async run({ path, content }, context) {
    const { sandbox, services, state } = context;
    if (/[/\\]$/.test(path)) throw new ToolError(`"${path}" names a folder. Give the name of a file.`);
    const real = await pathsOf(context, 'write_file')(path, 'write');
    forgetReads(state);
    const existing = statOf(real);
    if (existing && !existing.isFile()) {
      throw new ToolError(existing.isDirectory() ? `"${path}" is a folder. Give the name of a file in it.` : `"${path}" is not a regular file and is not written to.`);
    }
    await services.beforeChange?.(`write_file ${shownPath(sandbox, real)}`);
    await alone(sandbox.root, () => writeWhole(path, real, content));
    return { path: shownPath(sandbox, real), bytes_written: Buffer.byteLength(content), created: existing === null };
  },
});

/**
 * Puts `content` in place in one step: whoever reads sees the old file or the new one, never a part.
 * @param path as the model wrote it, for the message. @param real where it is. @param mode permissions; those of the old file when left out.
 * @throws ToolError.
 */
export async function writeWhole(path: string, real: string, content: string, mode?: number): Promise<void> {
  try {
    if (content.length <= IN_PLACE_CHARS) await replaceHere(real, content, mode);
    else {
      await makeFolders(dirname(real));
      // Without fsync: a workspace is rebuilt after a power cut, and thousands of rollouts write at once.
      await writeFileAtomic(real, content, { fsync: false, ...(mode !== undefined && { mode }) });
    }
  } catch (error) {
    if (errorCode(error) !== null) throw fileError(path, error);
    throw error;
  }
}

function statOf(real: string): Stats | null {
  try {
    return statSync(real, { throwIfNoEntry: false }) ?? null;
  } catch {
    return null;
  }
}

/** Replaces a file as `write-file-atomic` does: it keeps permissions and owner of the old one. */
async function replaceHere(real: string, content: string, mode: number | undefined): Promise<void> {
  const old = statSync(real, { throwIfNoEntry: false });
  const part = `${real}.${randomBytes(4).toString('hex')}`;
  const file = await openNew(part, mode ?? old?.mode);
  try {
    try {
      writeFileSync(file, content);
      if (old) keepOwner(file, old);
      const wanted = mode ?? old?.mode;
      if (wanted !== undefined) fchmodSync(file, wanted & 0o7777);
    } finally {
      closeSync(file);
    }
    renameSync(part, real);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  }
}

async function openNew(path: string, mode: number | undefined): Promise<number> {
  try {
    return openSync(path, 'wx', mode);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    await makeFolders(dirname(path));
    return openSync(path, 'wx', mode);
  }
}

/** As far as this user may. */
function keepOwner(file: number, { uid, gid }: Stats): void {
  if (uid === process.getuid?.() && gid === process.getgid?.()) return;
  try {
    fchownSync(file, uid, gid);
  } catch (error) {
    if (!['EPERM', 'EINVAL', 'ENOSYS'].includes(errorCode(error) ?? '')) throw error;
  }
}
