import { SkillImportError } from './errors.ts';

/** Something that lies in a source. */
export interface Entry {
  /** With forward slashes, relative to the source; checked by `badPath`. */
  path: string;
  bytes: number;
  /** Links and devices are never followed or read, only told of. */
  kind: 'file' | 'link' | 'other';
  /** Its owner may run it; false also where the source does not say. */
  executable: boolean;
  /** Reads it whole; rejects when it is larger than `bytes` says. */
  read: () => Promise<Buffer>;
}

/** Where skills are looked for, whatever it is made of. */
export interface OpenSource {
  entries: Entry[];
  /** What was passed over, each with a sentence. */
  problems: { path: string; message: string }[];
  close: () => Promise<void> | void;
}

const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

/** Why a path of a source cannot be a file here, as the end of a sentence; null when it can. */
export function badPath(path: string): string | null {
  if (path === '' || path.length > 500) return path === '' ? 'it has no name' : 'its path is longer than 500 characters';
  if (/[\u0000-\u001f\u007f]/.test(path)) return 'its name has control characters';
  if (!path.isWellFormed()) return 'its name is not valid text';
  if (path.includes('\\')) return 'its name has a backslash';
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'its path is absolute';
  for (const part of path.split('/')) {
    if (part === '..') return 'its path leads out of the folder with ".."';
    if (part === '' || part === '.') return 'its path has an empty part';
    if (part.length > 200) return 'a part of its path is longer than 200 characters';
    if (/[. ]$/.test(part) || /[<>:"|?*]/.test(part) || DEVICE.test(part)) return 'its name cannot be used on every system';
  }
  return null;
}

/** Two paths that would be one file on systems that do not tell capitals or ways of writing accents apart. */
export function sameOnDisk(path: string): string {
  return path.normalize('NFC').toLowerCase();
}

/** Left behind by systems and tools; no part of any skill. */
export function isLitter(path: string): boolean {
  return /(?:^|\/)(?:__MACOSX|\.git|node_modules|__pycache__)(?:\/|$)|(?:^|\/)(?:\.DS_Store|Thumbs\.db|desktop\.ini)$/.test(path);
}

/** How a name is put into a sentence. */
export function named(path: string): string {
  return `"${path.slice(0, 120).toWellFormed().replace(/[\p{Cc}\p{Cf}]/gu, '\uFFFD')}${path.length > 120 ? '…' : ''}"`;
}

export function tooMany(): SkillImportError {
  return new SkillImportError('invalid', 'There are more than 50,000 files in it. Choose the folder that the skills lie in, not one above it.');
}
