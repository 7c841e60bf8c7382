import { constants } from 'node:fs';
import { lstat, open, readdir, realpath } from 'node:fs/promises';
import { isAbsolute, join, parse } from 'node:path';
import { SkillImportError } from './errors.ts';
import { MAX_DEPTH, MAX_ENTRIES } from './limits.ts';
import { badPath, type Entry, isLitter, named, type OpenSource, tooMany } from './source.ts';

/**
 * Opens a folder to look for skills in it. Links are told of, never followed, neither within the folder nor out of it.
 * @param root absolute
 * @throws SkillImportError `invalid`
 */
export async function openFolder(root: string, signal?: AbortSignal): Promise<OpenSource> {
  if (!isAbsolute(root) || root.includes('\0')) throw new SkillImportError('invalid', `Give the whole path of the folder, not ${named(root)}.`, { field: 'path' });
  // the folder itself may be a link: the person named it
  const real = await realpath(root).catch(() => null);
  const found = real === null ? null : await lstat(real);
  if (real === null || !found?.isDirectory()) throw new SkillImportError('invalid', `There is no folder ${root}.`, { field: 'path' });
  if (real === parse(real).root) throw new SkillImportError('invalid', 'Choose the folder that the skills lie in, not the whole disk.', { field: 'path' });
  const walk: Walk = { entries: [], problems: [], seen: 0, signal };
  await visit(real, '', 0, walk);
  return { entries: walk.entries, problems: walk.problems, close: () => undefined };
}

interface Walk {
  entries: Entry[];
  problems: { path: string; message: string }[];
  seen: number;
  signal: AbortSignal | undefined;
}

async function visit(folder: string, below: string, depth: number, walk: Walk): Promise<void> {
  walk.signal?.throwIfAborted();
  const names = await readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    walk.problems.push({ path: below || '.', message: `The folder cannot be read (${error.code ?? error.message}).` });
    return [];
  });
  names.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const name of names) {
    if (++walk.seen > MAX_ENTRIES) throw tooMany();
    const path = below === '' ? name.name : `${below}/${name.name}`;
    if (isLitter(path)) continue;
    const bad = badPath(path);
    if (bad !== null) {
      walk.problems.push({ path, message: `${named(path)} is passed over: ${bad}.` });
      continue;
    }
    const full = join(folder, name.name);
    if (name.isDirectory()) {
      if (depth >= MAX_DEPTH) walk.problems.push({ path, message: `${named(path)} is passed over: it lies more than ${MAX_DEPTH} folders deep.` });
      else await visit(full, path, depth + 1, walk);
      continue;
    }
    const kind = name.isSymbolicLink() ? 'link' : name.isFile() ? 'file' : 'other';
    const facts = kind === 'file' ? await lstat(full).catch(() => null) : null;
    const bytes = facts?.size ?? 0;
    walk.entries.push({ path, bytes, kind, executable: ((facts?.mode ?? 0) & 0o100) !== 0, read: () => readPlain(full, bytes) });
  }
}

/** Reads a file that must not have become a link, nor have grown, since it was listed. */
async function readPlain(path: string, bytes: number): Promise<Buffer> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await file.stat();
    if (!found.isFile() || found.size !== bytes) throw new SkillImportError('conflict', `${named(path)} is being changed by something else. Try again when it is done.`);
    const buffer = Buffer.alloc(bytes);
    let at = 0;
    while (at < bytes) {
      const { bytesRead } = await file.read(buffer, at, bytes - at, at);
      if (bytesRead === 0) throw new SkillImportError('conflict', `${named(path)} is being changed by something else. Try again when it is done.`);
      at += bytesRead;
    }
    return buffer;
  } finally {
    await file.close();
  }
}
