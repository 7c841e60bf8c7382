import type { RolloutTask } from '../queue/types.ts';
import { RolloutProblem } from './problem.ts';

const MAX_TURNS = 100;
const MAX_NAMES = 100;
/** As Docker takes it: registry, path, tag, digest. Never an option. */
const IMAGE = /^[A-Za-z0-9][A-Za-z0-9._/:@-]{0,254}$/;
/** Folders of an image over which no workspace can be laid. */
const SYSTEM_FOLDERS = /^\/(?:bin|boot|dev|etc|lib\w*|proc|run|sbin|sys|tmp|usr|var)?(?:\/|$)/;
/** Below them there are places where people work. */
const WORK_FOLDERS = /^\/(?:usr\/src|usr\/local\/src|var\/www|var\/lib|tmp)\/[^/]/;

/** What a row of the dataset says of how it is run. */
export interface RowOptions {
  /** The person's messages, in order; at least one. */
  turns: string[];
  /** Put behind what the system prompt says of tools. */
  system: string | null;
  /** Names of tools, in place of sampled toolsets. */
  tools: string[] | null;
  toolsets: string[] | null;
  /** Container image in which commands run. */
  image: string | null;
  /** With an image: the absolute folder in it where the workspace is. Without: a folder in the workspace, relative. Commands start there. */
  cwd: string | null;
}

/**
 * Reads the options of a row. Values that are null or empty count as left out.
 * `cwd` is a folder of the image when the row has one (as in Hermes' runner, which knows it only so), else a folder inside the workspace. An
 * absolute one without an image is refused: a dataset must not be able to show folders of this machine to a model.
 * @throws RolloutProblem `bad_row`, which names the column.
 */
export function rowOptions({ prompt, row }: Pick<RolloutTask, 'prompt' | 'row'>): RowOptions {
  const image = textOf(row, 'image') ?? textOf(row, 'docker_image');
  if (image !== null && !IMAGE.test(image)) throw bad('image', `"${image.slice(0, 100)}" is not the name of a container image`);
  return {
    turns: [...(prompt.trim() === '' ? [] : [prompt]), ...turnsOf(row)],
    system: textOf(row, 'system'),
    tools: namesOf(row, 'tools'),
    toolsets: namesOf(row, 'toolsets'),
    image,
    cwd: folderOf(row, image !== null),
  };
}

function turnsOf(row: Record<string, unknown>): string[] {
  const value = row['prompts'];
  if (value === undefined || value === null) return [];
  const turns = typeof value === 'string' ? [value] : value;
  if (!Array.isArray(turns) || !turns.every((turn) => typeof turn === 'string')) throw bad('prompts', 'it must be a list of texts');
  if (turns.length > MAX_TURNS) throw bad('prompts', `it has ${turns.length} turns; at most ${MAX_TURNS} are possible`);
  return turns.filter((turn) => turn.trim() !== '');
}

/** A list, or a text with commas. An empty list means none: a row that is run without tools. */
function namesOf(row: Record<string, unknown>, column: 'tools' | 'toolsets'): string[] | null {
  const value = row[column];
  if (value === undefined || value === null || value === '') return null;
  const names = typeof value === 'string' ? value.split(',') : value;
  if (!Array.isArray(names)) throw bad(column, 'it must be a list of names');
  if (names.length > MAX_NAMES) throw bad(column, `it has ${names.length} names; at most ${MAX_NAMES} are possible`);
  return [...new Set(names.map((name) => nameOf(name, column)))].filter((name) => name !== '');
}

/** A name, or a description of a tool in the shapes in which models are offered them. */
function nameOf(value: unknown, column: string): string {
  if (typeof value === 'string') return value.trim();
  const entry = value as { name?: unknown; function?: { name?: unknown } | null } | null;
  const name = entry?.function?.name ?? entry?.name;
  if (typeof name !== 'string') throw bad(column, 'it must be a list of names');
  return name.trim();
}

function folderOf(row: Record<string, unknown>, inImage: boolean): string | null {
  const cwd = textOf(row, 'cwd');
  if (cwd === null) return null;
  if (/[\u0000-\u001f]/.test(cwd) || cwd.length > 1_000) throw bad('cwd', 'it is not a path');
  const parts = cwd.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..') || cwd.includes('\\') || /^[A-Za-z]:/.test(cwd)) throw bad('cwd', 'it must be a plain path with forward slashes, without ".."');
  const absolute = cwd.startsWith('/');
  const path = `${absolute ? '/' : ''}${parts.join('/')}`;
  if (!absolute) return path === '' ? null : path;
  if (!inImage) throw bad('cwd', `"${cwd}" is a folder of a container, and the row has no image. Give the row an image, or make cwd relative: it is then a folder inside the workspace`);
  if (SYSTEM_FOLDERS.test(path) && !WORK_FOLDERS.test(path)) throw bad('cwd', `"${cwd}" belongs to the system of the image. Take a folder of its own, for example "/workspace"`);
  return path;
}

function textOf(row: Record<string, unknown>, column: string): string | null {
  const value = row[column];
  if (value === undefined || value === null) return null;
  if (typeof value !== 'string') throw bad(column, 'it must be a text');
  return value.trim() === '' ? null : column === 'system' ? value : value.trim();
}

function bad(column: string, what: string): RolloutProblem {
  return new RolloutProblem('bad_row', `The row's column "${column}" cannot be used: ${what}.`, { retryable: false });
}
