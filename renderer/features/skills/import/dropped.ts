import type { Client } from '#shared/contract/index.ts';
import { toBase64 } from '../../../lib/base64.ts';

/** Bytes per piece: the contract's limit. */
const PIECE_BYTES = 1024 * 1024;
/** Left behind by systems and tools; no part of any skill. */
const LITTER = /(?:^|\/)(?:__MACOSX|\.git|node_modules|__pycache__)(?:\/|$)|(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini)$/;

export interface DroppedFile {
  /** With the name of the dropped folder first. */
  path: string;
  file: File;
}

/** What was dropped or picked: one zip file, or the files of folders. */
export type Dropped = { kind: 'zip'; file: File } | { kind: 'files'; files: DroppedFile[] };

/** Null when there is nothing in it that can be looked at. Must be called in the drop's own event. */
export async function droppedFrom(transfer: DataTransfer): Promise<Dropped | null> {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry()).filter((entry) => entry !== null);
  const files: DroppedFile[] = [];
  for (const entry of entries) await walk(entry, files);
  return droppedOf(files);
}

/** The files of a folder that was picked. */
export function droppedOf(files: readonly DroppedFile[]): Dropped | null {
  const [first] = files;
  if (files.length === 1 && first && /\.(?:zip|skill)$/i.test(first.file.name)) return { kind: 'zip', file: first.file };
  const wanted = files.filter(({ path }) => !LITTER.test(path));
  return wanted.length === 0 ? null : { kind: 'files', files: wanted };
}

async function walk(entry: FileSystemEntry, files: DroppedFile[]): Promise<void> {
  const path = entry.fullPath.replace(/^\//, '');
  if (LITTER.test(path)) return;
  if (entry.isFile) {
    files.push({ path, file: await new Promise<File>((done, failed) => (entry as FileSystemFileEntry).file(done, failed)) });
    return;
  }
  const reader = (entry as FileSystemDirectoryEntry).createReader();
  // it gives a hundred at a time, and nothing at the end
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((done, failed) => reader.readEntries(done, failed));
    if (some.length === 0) return;
    for (const one of some) await walk(one, files);
  }
}

/** Brings files to the engine, one piece after the other. @returns the id of what was staged */
export async function stageFiles(imports: Pick<Client['skillImports'], 'stage'>, files: readonly DroppedFile[], onProgress: (done: number) => void, signal: AbortSignal): Promise<string> {
  let id: string | undefined;
  for (const [i, { path, file }] of files.entries()) {
    for (let at = 0; at === 0 || at < file.size; at += PIECE_BYTES) {
      signal.throwIfAborted();
      const bytes = new Uint8Array(await file.slice(at, at + PIECE_BYTES).arrayBuffer());
      ({ id } = await imports.stage({ ...(id === undefined ? {} : { id }), path, chunk: toBase64(bytes), first: at === 0 }, { signal }));
    }
    onProgress(i + 1);
  }
  if (id === undefined) throw new Error('There is no file in what was dropped.');
  return id;
}
