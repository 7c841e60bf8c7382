import { MAX_KEPT_BYTES } from '../history.ts';

/** Of one source: beyond these nothing is read. */
export const MAX_ENTRIES = 50_000;
export const MAX_DEPTH = 16;
export const MAX_ZIP_BYTES = 512 * 1024 * 1024;
export const MAX_SKILLS = 2_000;
/** Of everything that goes into quarantine. */
export const MAX_TAKEN_BYTES = 512 * 1024 * 1024;
export const MAX_STAGED_BYTES = 256 * 1024 * 1024;

/** Of one skill: beyond these it is refused, whatever its files say. */
export const MAX_SKILL_FILES = 500;
export const MAX_SKILL_BYTES = 20 * 1024 * 1024;
/** No version could keep it. */
export const MAX_FILE_BYTES = MAX_KEPT_BYTES;
/** Of SKILL.md. */
export const MAX_SKILL_MD_BYTES = 1024 * 1024;

/** An entry of a zip file that unpacks to so many times its size, and to at least that much, is a bomb. Text of one letter gives 1000. */
export const MAX_RATIO = 200;
export const RATIO_FROM_BYTES = 10 * 1024 * 1024;

export const GIT_TIMEOUT_MS = 180_000;
