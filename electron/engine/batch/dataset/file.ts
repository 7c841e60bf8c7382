import { createHash, type Hash } from 'node:crypto';
import { constants, type FileHandle, open } from 'node:fs/promises';
import { BatchError, systemCode } from '../errors.ts';
import { cannotRead, fileError } from './words.ts';

const CHUNK_BYTES = 256 * 1024;

/** Opens a regular file for reading. Throws BatchError `invalid` with a sentence. */
export async function openDataset(path: string): Promise<FileHandle> {
  try {
    const file = await openAtOnce(path);
    const info = await file.stat();
    if (info.isFile()) return file;
    await file.close();
    throw fileError(`${path} is ${info.isDirectory() ? 'a folder' : 'not a regular file'}. Choose a dataset file.`);
  } catch (error) {
    throw error instanceof BatchError ? error : cannotRead(path, error);
  }
}

/** Opening a named pipe would wait for a writer, perhaps for ever. */
function openAtOnce(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
}

/** The bytes of a file from its beginning, each chunk a buffer of its own. */
export async function* bytesOf(file: FileHandle, seen?: { hash: Hash; bytes: number }): AsyncGenerator<Buffer> {
  let position = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    const part = chunk.subarray(0, bytesRead);
    if (seen) {
      seen.hash.update(part);
      seen.bytes += bytesRead;
    }
    yield part;
  }
}

/** The first bytes of a stream, which is then given up. */
export async function headOf(stream: AsyncIterable<Buffer>, bytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of stream) {
    parts.push(part);
    length += part.length;
    if (length >= bytes) break;
  }
  return Buffer.concat(parts).subarray(0, bytes);
}

/** SHA-256 of a file in hex; null when there is no such file (any more). */
export async function hashFile(path: string): Promise<string | null> {
  let file: FileHandle;
  try {
    file = await openDataset(path);
  } catch (error) {
    if (error instanceof BatchError && systemCode(error.cause) === 'ENOENT') return null;
    throw error;
  }
  try {
    const seen = { hash: createHash('sha256'), bytes: 0 };
    for await (const _ of bytesOf(file, seen));
    return seen.hash.digest('hex');
  } catch (error) {
    throw cannotRead(path, error);
  } finally {
    await file.close();
  }
}
