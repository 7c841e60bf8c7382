import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeFolder } from '../../sandbox/remove.ts';
import { SkillImportError } from './errors.ts';
import { MAX_ENTRIES, MAX_STAGED_BYTES } from './limits.ts';
import { badPath, named } from './source.ts';

const ID = /^[0-9a-f]{24}$/;
const MAX_PIECE_CHARS = Math.ceil((1024 * 1024) / 3) * 4 + 4;

/** Where skills from elsewhere lie until a person has decided: a folder of the home that nothing else reads, emptied at each start. */
export class Quarantine {
  readonly #root: string;
  readonly #staged = new Map<string, { bytes: number; files: number; open: string | null }>();

  constructor(root: string) {
    this.#root = root;
  }

  /** What a Talaria that was killed left. */
  async empty(): Promise<number> {
    const names = await readdir(this.#root).catch(() => []);
    for (const name of names) await removeFolder(join(this.#root, name)).catch(() => undefined);
    return names.length;
  }

  /** A new folder. */
  async make(): Promise<{ id: string; folder: string }> {
    const id = randomBytes(12).toString('hex');
    const folder = join(this.#root, id);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return { id, folder };
  }

  /** The folder of an id; it need not be there. */
  folder(id: string): string {
    if (!ID.test(id)) throw new SkillImportError('not_found', 'This import is no longer there. Begin again.');
    return join(this.#root, id);
  }

  async remove(id: string): Promise<void> {
    this.#staged.delete(id);
    await removeFolder(this.folder(id));
  }

  /** Takes one piece of a file of a dropped folder. Throws SkillImportError; then nothing of the folder stays. */
  async stage({ id, path, chunk, first }: { id?: string | undefined; path: string; chunk: string; first: boolean }): Promise<{ id: string }> {
    const at = id ?? (await this.#begin());
    const staged = this.#staged.get(at);
    if (!staged) throw new SkillImportError('not_found', 'This upload is no longer known. Drop the folder again.');
    try {
      const bad = badPath(path);
      if (bad !== null) throw new SkillImportError('invalid', `The file ${named(path)} cannot be taken: ${bad}.`);
      if (chunk.length > MAX_PIECE_CHARS || !/^[A-Za-z0-9+/]*={0,2}$/.test(chunk)) throw new SkillImportError('invalid', 'A piece of a file is larger than 1 MB or not valid base64.');
      const bytes = Buffer.from(chunk, 'base64');
      staged.bytes += bytes.length;
      if (staged.bytes > MAX_STAGED_BYTES) throw new SkillImportError('invalid', 'The folder is larger than 256 MB. Choose the folder that the skills lie in, or give its path.');
      const file = join(this.folder(at), 'staged', ...path.split('/'));
      if (first) {
        if (++staged.files > MAX_ENTRIES) throw new SkillImportError('invalid', 'There are more than 50,000 files in the folder. Choose the folder that the skills lie in.');
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        // "wx": two files of one name are not one file
        await writeFile(file, bytes, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
          throw error.code === 'EEXIST' ? new SkillImportError('invalid', `The file ${named(path)} is there twice.`) : error;
        });
        staged.open = path;
      } else {
        if (staged.open !== path) throw new SkillImportError('invalid', 'The pieces of one file must be sent one after the other.');
        await appendFile(file, bytes);
      }
      return { id: at };
    } catch (error) {
      await this.remove(at).catch(() => undefined);
      throw error;
    }
  }

  /** The folder that was staged. */
  async staged(id: string): Promise<string> {
    const folder = join(this.folder(id), 'staged');
    if (!this.#staged.has(id) || !(await stat(folder).catch(() => null))) throw new SkillImportError('not_found', 'What was dropped is no longer there. Drop it again.');
    return folder;
  }

  async #begin(): Promise<string> {
    const { id } = await this.make();
    this.#staged.set(id, { bytes: 0, files: 0, open: null });
    return id;
  }
}
