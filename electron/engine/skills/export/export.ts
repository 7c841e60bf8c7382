import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import type { SkillSummary } from '#shared/contract/skills.ts';
import type { SkillExport } from '#shared/contract/skill-imports.ts';
import { makeFolders } from '../../store/folders.ts';
import { SkillImportError } from '../import/errors.ts';
import { openFolder } from '../import/folder.ts';
import { MAX_SKILL_BYTES } from '../import/limits.ts';
import { badPath, named } from '../import/source.ts';
import type { SkillFileBytes } from '../types.ts';

/** Every entry has it, so that the same files give the same bytes. The first that a zip file can say; it knows no time zones. */
const MTIME = new Date(1980, 0, 1);
const FILE_NAME = /^[\p{L}\p{N}][\p{L}\p{N} ._-]{0,150}$/u;

interface ExportInput {
  /** All skills. */
  skills: readonly SkillSummary[];
  ids: readonly string[];
  folder: string;
  /** Made from the skills' names when left out. */
  file?: string | undefined;
}

/**
 * Writes skills into one zip file: each in a folder of its name, below `skills/` and its category where any of them has one, so that an import
 * puts them where they were. The same skills give the same bytes. A file of that name is written over, whole or not at all.
 * @throws SkillImportError
 */
export async function exportSkills({ skills, ids, folder, file }: ExportInput): Promise<SkillExport> {
  const wanted = [...new Set(ids)].map((id) => skills.find((skill) => skill.id === id) ?? null);
  if (wanted.includes(null)) throw new SkillImportError('not_found', 'A skill that should be exported is no longer there.');
  const chosen = wanted.filter((skill) => skill !== null).sort((a, b) => (a.id < b.id ? -1 : 1));
  const name = nameOf(chosen, file);
  const below = chosen.some((skill) => skill.category !== null);
  const leftOut: SkillExport['leftOut'] = [];
  const zip = new ZipFile();
  const taken = new Set<string>();
  let count = 0;
  for (const skill of chosen) {
    const last = skill.id.slice(skill.id.lastIndexOf('/') + 1);
    const place = below ? `skills/${skill.category === null ? '' : `${skill.category}/`}${last}` : last;
    if (taken.has(place.toLowerCase())) {
      leftOut.push({ id: skill.id, message: `Another skill is exported as ${place} already. Export this one by itself.` });
      continue;
    }
    const read = await filesOf(skill);
    if ('problem' in read) {
      leftOut.push({ id: skill.id, message: read.problem });
      continue;
    }
    taken.add(place.toLowerCase());
    for (const { path, bytes, executable } of read.files) zip.addBuffer(bytes, `${place}/${path}`, { mtime: MTIME, mode: executable ? 0o100755 : 0o100644, forceDosTimestamp: true });
    count += read.files.length;
  }
  if (taken.size === 0) throw new SkillImportError('unavailable', leftOut[0]?.message ?? 'There is nothing to be exported.');
  const target = join(folder, name);
  zip.end();
  return { file: target, bytes: await write(zip, target, folder), skills: taken.size, files: count, leftOut };
}

async function filesOf(skill: SkillSummary): Promise<{ files: Required<SkillFileBytes>[] } | { problem: string }> {
  const { entries, problems } = await openFolder(skill.folder).catch(() => ({ entries: [], problems: [{ path: '.', message: 'Its folder is no longer there.' }] }));
  const link = entries.find((entry) => entry.kind !== 'file');
  if (link) return { problem: `${named(link.path)} in it is a link. Put a copy of what it points to in its place.` };
  if (problems[0]) return { problem: problems[0].message };
  if (entries.reduce((sum, entry) => sum + entry.bytes, 0) > MAX_SKILL_BYTES) return { problem: 'It has more than 20 MB, which no import would take.' };
  const files = [];
  for (const entry of entries) files.push({ path: entry.path, bytes: await entry.read(), executable: entry.executable });
  return { files: files.sort((a, b) => (a.path < b.path ? -1 : 1)) };
}

function nameOf(chosen: readonly SkillSummary[], file: string | undefined): string {
  const name = (file?.trim() || (chosen.length === 1 ? `skill-${chosen[0]!.name}` : `skills-${chosen.length}`)).replace(/\.zip$/i, '');
  if (!FILE_NAME.test(name) || badPath(name) !== null) throw new SkillImportError('invalid', 'Give a plain file name, without folders: letters, digits, spaces, dots, dashes and underscores.', { field: 'file' });
  return `${name}.zip`;
}

/** Bytes that were written. */
async function write(zip: ZipFile, target: string, folder: string): Promise<number> {
  const part = `${target}.${process.pid}.part`;
  try {
    await makeFolders(folder);
    const out = createWriteStream(part, { flags: 'w', mode: 0o600 });
    await pipeline(zip.outputStream, out);
    await rename(part, target);
    return out.bytesWritten;
  } catch (error) {
    await rm(part, { force: true });
    const code = (error as NodeJS.ErrnoException).code ?? '';
    if (code === 'ENOSPC' || code === 'EDQUOT') throw new SkillImportError('unavailable', 'There is no space left on the disk for the zip file. Free some space, then try again.', { cause: error });
    if (code !== '') throw new SkillImportError('unavailable', `The zip file cannot be written to ${folder} (${code}).`, { cause: error });
    throw error;
  }
}
