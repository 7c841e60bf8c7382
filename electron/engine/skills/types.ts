import type { Author, SkillSummary } from '#shared/contract/skills.ts';
import type { ConfigFile } from '../store/config.ts';
import type { Database } from '../store/database.ts';
import type { HomePaths } from '../store/home.ts';
import type { Logger } from '../store/types.ts';
import type { SkillDisk } from './disk.ts';
import type { Skill } from './skill.ts';

/** Who changes a skill, and why. */
export interface ChangeBy {
  author: Author;
  trajectoryId: string | null;
  reviewId: string | null;
  reason: string;
  /** A person said yes to this very change: agents and reviews may then change what is the person's own. */
  consent?: boolean;
}

/** A file of a skill; `path` with forward slashes, relative to the skill's folder. */
export interface SkillFileBytes {
  path: string;
  bytes: Buffer;
  /** Left out: not known. */
  executable?: boolean;
}

export interface Scope {
  /** Of a chat: its own skills go before all others. */
  workspace?: string | null;
}

/** A skill and what is said of it. */
export interface Shown {
  skill: Skill;
  summary: SkillSummary;
}

export interface SkillDeps {
  db: Database;
  home: Pick<HomePaths, 'skills'>;
  config: Pick<ConfigFile, 'read'>;
  now: () => number;
  log: Logger;
  /** For the commands and variables that skills ask for. */
  env?: NodeJS.ProcessEnv;
  platform?: NodeJS.Platform;
  /** Where changes are written; tests let it fail. */
  disk?: SkillDisk;
}
