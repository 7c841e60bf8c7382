import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { errorCode } from '../sandbox/confine.ts';
import { defineTool, ToolError } from './define.ts';
import { fileError, forgetReads, relativePathOf, shownPath } from './files.ts';

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
  async run({ path, content }, { sandbox, state }) {
    if (/[/\\]$/.test(path)) throw new ToolError(`"${path}" names a folder. Give the name of a file.`);
    const real = await sandbox.resolve(path);
    forgetReads(state);
    const existing = await stat(real).catch(() => null);
    if (existing && !existing.isFile()) {
      throw new ToolError(existing.isDirectory() ? `"${path}" is a folder. Give the name of a file in it.` : `"${path}" is not a regular file and is not written to.`);
    }
    await writeWhole(path, real, content);
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
    await mkdir(dirname(real), { recursive: true });
    // Without fsync: a workspace is rebuilt after a power cut, and thousands of rollouts write at once.
    await writeFileAtomic(real, content, { fsync: false, ...(mode !== undefined && { mode }) });
  } catch (error) {
    if (errorCode(error) !== null) throw fileError(path, error);
    throw error;
  }
}
