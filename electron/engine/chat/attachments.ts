import { createHash, randomUUID } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { appendFile, copyFile, mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import type { Attachment } from '#shared/trajectory.ts';
import type { Sandbox } from '../sandbox/types.ts';
import { imageTypeOf } from '../tools/image-type.ts';
import { ChatError } from './errors.ts';

const MAX_PIECE_BYTES = 1024 * 1024;
/** Of one file. */
const MAX_FILE_BYTES = 50 * 1024 * 1024;
const DAY_MS = 86_400_000;
const PART = '.part';
const SHA256 = /^[0-9a-f]{64}$/;
const SNIFF_BYTES = 16;
/** Folder of a workspace that gets what people attach. */
const WORKSPACE_FOLDER = 'attachments';

interface Piece {
  /** Absent on the first piece. */
  uploadId?: string | undefined;
  name: string;
  mime: string;
  /** Base64, at most 1 MiB decoded. */
  chunk: string;
  last: boolean;
}

/** Files that people give and pictures that tools show: the bytes of each once, under their SHA-256. */
export class Attachments {
  readonly #folder: string;
  readonly #now: () => number;
  readonly #uploads = new Map<string, { bytes: number; busy: boolean }>();

  /** @param folder where the bytes are kept; made when needed */
  constructor(folder: string, now: () => number) {
    this.#folder = folder;
    this.#now = now;
  }

  /** Takes one piece of a file. The answer to the last one has the attachment. Throws ChatError `invalid` or `unavailable`. */
  async attach(piece: Piece): Promise<{ uploadId: string; attachment: Attachment | null }> {
    const bytes = decode(piece.chunk);
    const uploadId = piece.uploadId ?? randomUUID();
    if (piece.uploadId === undefined) this.#uploads.set(uploadId, { bytes: 0, busy: false });
    const upload = this.#uploads.get(uploadId);
    if (!upload) throw new ChatError('invalid', 'This upload is not known (any more). Attach the file again.');
    if (upload.busy) throw new ChatError('invalid', 'The pieces of one file must be sent one after the other.');
    upload.busy = true;
    const part = join(this.#folder, `${uploadId}${PART}`);
    try {
      upload.bytes += bytes.length;
      if (upload.bytes > MAX_FILE_BYTES) throw new ChatError('invalid', 'The file is larger than 50 MB. Put it into the workspace folder instead and name it in your message.', { field: 'chunk' });
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      await appendFile(part, bytes, { mode: 0o600 });
      if (!piece.last) return { uploadId, attachment: null };
      this.#uploads.delete(uploadId);
      const id = await hashOf(part);
      await rename(part, this.#file(id));
      await utimes(this.#file(id), new Date(this.#now()), new Date(this.#now()));
      return { uploadId, attachment: await this.#describe(id, piece.name, piece.mime) };
    } catch (error) {
      this.#uploads.delete(uploadId);
      await rm(part, { force: true });
      throw asChatError(error);
    } finally {
      upload.busy = false;
    }
  }

  /** Keeps bytes that a tool shows. */
  async keep(bytes: Uint8Array, mime: string, name: string): Promise<Attachment> {
    const id = createHash('sha256').update(bytes).digest('hex');
    try {
      await mkdir(this.#folder, { recursive: true, mode: 0o700 });
      const part = join(this.#folder, `${randomUUID()}${PART}`);
      await writeFile(part, bytes, { mode: 0o600 });
      await rename(part, this.#file(id));
      return await this.#describe(id, name, mime);
    } catch (error) {
      throw asChatError(error);
    }
  }

  /** The bytes; null when they are gone. */
  async bytes(id: string): Promise<Uint8Array | null> {
    return SHA256.test(id) ? readFile(this.#file(id)).catch(() => null) : null;
  }

  /** Throws ChatError: not_found when it is gone, invalid for what is no picture. */
  async picture(id: string): Promise<{ mime: string; data: string }> {
    const bytes = await this.bytes(id);
    if (!bytes) throw new ChatError('not_found', 'This picture is no longer there.');
    const mime = imageTypeOf(bytes);
    if (!mime) throw new ChatError('invalid', 'This attachment is no picture that can be shown.', { field: 'id' });
    return { mime, data: Buffer.from(bytes).toString('base64') };
  }

  /**
   * Copies what came with a message into the workspace, each under a name of its own, and answers with the attachments and where they lie.
   * What lies there from an earlier message is used again. Throws ChatError `invalid` (field attachments) when one is gone.
   */
  async bring(attachments: readonly Attachment[], sandbox: Pick<Sandbox, 'resolve'>): Promise<Attachment[]> {
    const brought: Attachment[] = [];
    try {
      for (const given of attachments) {
        const known = await this.#describe(given.id, given.name, given.mime).catch(() => null);
        if (!known) throw new ChatError('invalid', `The file ${given.name} is no longer there. Attach it again.`, { field: 'attachments' });
        brought.push({ ...known, path: await this.#place(known, given.path, sandbox) });
      }
    } catch (error) {
      throw asChatError(error);
    }
    return brought;
  }

  /** Removes what nothing refers to and is older than a day, and uploads that were never ended. */
  async removeUnused(inUse: () => Promise<readonly string[]>): Promise<void> {
    const old: string[] = [];
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const modified = await stat(join(this.#folder, name)).then((s) => s.mtimeMs, () => Infinity);
      if (this.#now() - modified > DAY_MS) old.push(name);
    }
    if (old.length === 0) return;
    const used = new Set(await inUse());
    for (const name of old) if (!used.has(name)) await rm(join(this.#folder, name), { force: true });
  }

  #file(id: string): string {
    return join(this.#folder, id);
  }

  async #describe(id: string, name: string, mime: string): Promise<Attachment> {
    const file = await open(this.#file(id));
    try {
      const { bytes } = { bytes: (await file.stat()).size };
      const head = Buffer.alloc(SNIFF_BYTES);
      await file.read(head, 0, SNIFF_BYTES, 0);
      const image = imageTypeOf(head);
      return { id, kind: image ? 'image' : 'file', name: fileName(name), mime: image ?? plainMime(mime), bytes };
    } finally {
      await file.close();
    }
  }

  /** The path in the workspace, relative to it. */
  async #place(attachment: Attachment, earlier: string | undefined, sandbox: Pick<Sandbox, 'resolve'>): Promise<string> {
    if (earlier?.startsWith(`${WORKSPACE_FOLDER}/`)) {
      const there = await sandbox.resolve(earlier).then((path) => hashOf(path), () => null).catch(() => null);
      if (there === attachment.id) return earlier;
    }
    const ending = extname(attachment.name);
    const stem = attachment.name.slice(0, attachment.name.length - ending.length);
    for (let n = 1; ; n++) {
      const path = `${WORKSPACE_FOLDER}/${n === 1 ? attachment.name : `${stem}-${n}${ending}`}`;
      // resolved by the sandbox: an agent may have made the folder a link to somewhere else
      const target = await sandbox.resolve(path);
      await mkdir(dirname(target), { recursive: true });
      try {
        await copyFile(this.#file(attachment.id), target, constants.COPYFILE_EXCL);
        return path;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      }
    }
  }
}

/** The last part of a file name without anything that a file system, a shell or a reader of the message line could take amiss. */
function fileName(name: string): string {
  const base = name.normalize('NFC').toWellFormed().split(/[/\\]/).at(-1) ?? '';
  const clean = base.replace(/[^\p{L}\p{N}\p{M} ._-]/gu, '_').replace(/^[. -]+|[. ]+$/g, '');
  const chars = [...clean];
  const short = chars.length > 80 ? chars.slice(-80).join('').replace(/^[. -]+/, '') : clean;
  return short === '' || /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(short) ? `file${extname(clean)}` : short;
}

function plainMime(mime: string): string {
  return /^[\w.+-]+\/[\w.+-]+$/.test(mime) ? mime.toLowerCase() : 'application/octet-stream';
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Buffer);
  return hash.digest('hex');
}

function decode(chunk: string): Buffer {
  if (chunk.length > Math.ceil(MAX_PIECE_BYTES / 3) * 4 + 4) throw new ChatError('invalid', 'A piece of the file is larger than 1 MB.', { field: 'chunk' });
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(chunk)) throw new ChatError('invalid', 'A piece of the file is not valid base64.', { field: 'chunk' });
  return Buffer.from(chunk, 'base64');
}

function asChatError(error: unknown): unknown {
  if (error instanceof ChatError) return error;
  const code = (error as NodeJS.ErrnoException | null)?.code;
  const said = error instanceof Error ? error.message : String(error);
  return new ChatError('unavailable', code === 'ENOSPC' || code === 'EDQUOT' ? 'There is no space left on the disk to take this file.' : `The file could not be stored: ${said}`, { cause: error });
}
