import { randomBytes } from 'node:crypto';
import { closeSync, existsSync, fsyncSync, linkSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';

const BUFFER_CHARS = 1 << 20;

/** A file that is written beside its final name and moved there when whole. */
export class PartFile {
  readonly #target: string;
  readonly #part: string;
  readonly #fd: number;
  #buffer = '';
  bytes = 0;

  constructor(target: string) {
    this.#target = target;
    this.#part = `${target}.part-${randomBytes(4).toString('hex')}`;
    this.#fd = openSync(this.#part, 'wx', 0o600);
  }

  write(text: string): void {
    this.#buffer += text;
    this.bytes += Buffer.byteLength(text);
    if (this.#buffer.length > BUFFER_CHARS) this.#flush();
  }

  finish(overwrite: boolean): void {
    this.#flush();
    fsyncSync(this.#fd);
    closeSync(this.#fd);
    if (overwrite) renameSync(this.#part, this.#target);
    else {
      // link fails when the name was taken meanwhile, where rename would replace; some file systems have no links
      try {
        linkSync(this.#part, this.#target);
        rmSync(this.#part);
      } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].includes(code ?? '') || existsSync(this.#target)) throw error;
        renameSync(this.#part, this.#target);
      }
    }
  }

  discard(): void {
    try {
      closeSync(this.#fd);
    } catch {
      // closed already
    }
    rmSync(this.#part, { force: true });
  }

  #flush(): void {
    const data = Buffer.from(this.#buffer);
    let offset = 0;
    while (offset < data.length) offset += writeSync(this.#fd, data, offset);
    this.#buffer = '';
  }
}
