import { stat } from 'node:fs/promises';
import { type Entry as ZipEntry, getFileNameLowLevel, openPromise, type ZipFile } from 'yauzl';
import { SkillImportError } from './errors.ts';
import { MAX_ENTRIES, MAX_RATIO, MAX_ZIP_BYTES, RATIO_FROM_BYTES } from './limits.ts';
import { badPath, type Entry, isLitter, named, type OpenSource, sameOnDisk } from './source.ts';

const UNIX = 3;
const TYPE_MASK = 0o170000;
const LINK = 0o120000;
const FOLDER = 0o040000;
const PLAIN = 0o100000;
const OWNER_RUNS = 0o100;

/**
 * Opens a zip file to look for skills in it. The list of its entries is read, and checked as a whole, before anything is unpacked: one entry
 * that would land elsewhere, is a link, is there twice or unpacks to absurd sizes condemns the file, and the error names it.
 * @throws SkillImportError `invalid`
 */
export async function openZip(path: string, signal?: AbortSignal): Promise<OpenSource> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) throw new SkillImportError('invalid', `There is no file ${path}.`, { field: 'path' });
  if (found.size > MAX_ZIP_BYTES) throw new SkillImportError('invalid', 'The zip file is larger than 512 MB. Unpack it, and import the folder that the skills lie in.', { field: 'path' });
  const zip = await opened(path);
  try {
    return { entries: await entriesOf(zip, signal), problems: [], close: () => zip.close() };
  } catch (error) {
    zip.close();
    throw error;
  }
}

async function opened(path: string): Promise<ZipFile> {
  try {
    return await openPromise(path, { lazyEntries: true, autoClose: false, decodeStrings: false });
  } catch (error) {
    throw notReadable(error);
  }
}

async function entriesOf(zip: ZipFile, signal: AbortSignal | undefined): Promise<Entry[]> {
  if (zip.entryCount > MAX_ENTRIES) throw refused(`It says that it has ${zip.entryCount.toLocaleString('en')} entries; at most 50,000 are taken.`);
  const entries: Entry[] = [];
  const seen = new Map<string, string>();
  try {
    for await (const entry of zip.eachEntry()) {
      signal?.throwIfAborted();
      const one = checked(entry, seen);
      if (one) entries.push({ ...one, read: () => contentOf(zip, entry) });
    }
  } catch (error) {
    signal?.throwIfAborted();
    throw error instanceof SkillImportError ? error : notReadable(error);
  }
  return entries;
}

/** Null for folders and what systems leave behind. */
function checked(entry: ZipEntry, seen: Map<string, string>): Omit<Entry, 'read'> | null {
  const { uncompressedSize, compressedSize } = entry;
  const fileName = nameOf(entry);
  const unixMode = entry.versionMadeBy >>> 8 === UNIX ? entry.externalFileAttributes >>> 16 : 0;
  const mode = unixMode & TYPE_MASK;
  const path = fileName.replace(/\/$/, '');
  const bad = badPath(path);
  if (bad !== null) throw refused(`The entry ${named(fileName)} cannot be unpacked: ${bad}.`);
  if (mode === LINK) throw refused(`The entry ${named(fileName)} is a symbolic link, which could point anywhere.`);
  if (mode !== 0 && mode !== PLAIN && mode !== FOLDER) throw refused(`The entry ${named(fileName)} is neither a file nor a folder.`);
  const key = sameOnDisk(path);
  const before = seen.get(key);
  if (fileName.endsWith('/')) {
    if (before !== undefined && before !== fileName) throw refused(`The entries ${named(before)} and ${named(fileName)} would be one on disk.`);
    seen.set(key, fileName);
    return null;
  }
  if (before !== undefined) throw refused(`The entry ${named(fileName)} is there twice${before === fileName ? '' : ` (also as ${named(before)})`}, so it is not clear which one is meant.`);
  seen.set(key, fileName);
  if (isLitter(path)) return null;
  if (entry.isEncrypted()) throw refused(`The entry ${named(fileName)} is encrypted. Unpack the file with its password, and import the folder.`);
  if (!entry.canDecodeFileData()) throw refused(`The entry ${named(fileName)} is packed in a way that cannot be read. Make the zip file anew with the usual compression.`);
  if (uncompressedSize >= RATIO_FROM_BYTES && uncompressedSize > compressedSize * MAX_RATIO) {
    throw refused(`The entry ${named(fileName)} would unpack from ${compressedSize.toLocaleString('en')} to ${uncompressedSize.toLocaleString('en')} bytes: it is made to fill the disk.`);
  }
  return { path, bytes: uncompressedSize, kind: 'file', executable: (unixMode & OWNER_RUNS) !== 0 };
}

/** As it is written; `badPath` says whether it can be used. */
function nameOf({ generalPurposeBitFlag, fileNameRaw, extraFields }: ZipEntry): string {
  return getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, true);
}

/** yauzl ends the stream with an error when there is more or less than the entry says, or another checksum. */
async function contentOf(zip: ZipFile, entry: ZipEntry): Promise<Buffer> {
  try {
    const stream = await zip.openReadStreamPromise(entry);
    const chunks: Buffer[] = [];
    for await (const chunk of stream as AsyncIterable<Buffer>) chunks.push(chunk);
    return Buffer.concat(chunks);
  } catch (error) {
    throw refused(`The entry ${named(nameOf(entry))} is damaged: ${said(error)}.`);
  }
}

function refused(message: string): SkillImportError {
  return new SkillImportError('invalid', `This zip file is not taken. ${message}`, { field: 'path' });
}

function notReadable(error: unknown): SkillImportError {
  const message = said(error);
  const why = /end of central directory|not a zip/i.test(message) ? 'It is no zip file, or its end is missing.' : `It cannot be read: ${message}.`;
  return new SkillImportError('invalid', `This zip file is not taken. ${why}`, { field: 'path', cause: error });
}

function said(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).replace(/\.$/, '').replace(/[\p{Cc}\p{Cf}]/gu, '\uFFFD').slice(0, 300);
}
