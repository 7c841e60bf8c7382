import { randomBytes } from 'node:crypto';
import { access, type FileHandle, link, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { systemCode } from './errors.ts';

const WRITE_BYTES = 1 << 20;
const PART_NAME = /\.part-[0-9a-f]{8}$/;

/** Collects writes to about 1 MiB. */
export class Out {
  readonly #file: FileHandle;
  #pending: Buffer[] = [];
  #bytes = 0;

  constructor(file: FileHandle) {
    this.#file = file;
  }

  async write(data: Buffer | string): Promise<void> {
    const bytes = typeof data === 'string' ? Buffer.from(data) : data;
    this.#pending.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes >= WRITE_BYTES) await this.flush();
  }

  async flush(): Promise<void> {
    const all = Buffer.concat(this.#pending);
    this.#pending = [];
    this.#bytes = 0;
    for (let at = 0; at < all.length; ) at += (await this.#file.write(all, at)).bytesWritten;
  }
}

/**
 * Writes a file that appears under its name only when it is whole and on the disk. With `exclusive` it must not exist yet: throws
 * EEXIST, so of two writers one wins. Throws the system's error; no partial file is left.
 */
export async function writeAtomically(path: string, fill: (out: Out) => Promise<void>, exclusive = false): Promise<void> {
  const part = `${path}.part-${randomBytes(4).toString('hex')}`;
  try {
    const file = await open(part, 'wx');
    try {
      const out = new Out(file);
      await fill(out);
      await out.flush();
      await file.sync();
    } finally {
      await file.close();
    }
    if (exclusive) await renameToFree(part, path);
    else await rename(part, path);
  } finally {
    await rm(part, { force: true });
  }
}

/** A rename would replace a file that came meanwhile, a link does not; some file systems have no links. */
async function renameToFree(part: string, path: string): Promise<void> {
  try {
    await link(part, path);
  } catch (error) {
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(systemCode(error))) throw error;
    if (await access(path).then(() => true, () => false)) throw Object.assign(new Error(`${path} exists`), { code: 'EEXIST' });
    await rename(part, path);
  }
}

/** Removes what killed writers left in a folder. */
export async function removeParts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) if (PART_NAME.test(name)) await rm(join(folder, name), { force: true });
}
