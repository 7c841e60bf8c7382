import type { Redaction } from '../agent/types.ts';
import type { MemoryFiles } from '../memory/files.ts';
import type { ModelService } from '../model/service.ts';
import type { SpendLedger } from '../model/spend.ts';
import type { SkillLibrary } from '../skills/library.ts';
import type { ConfigFile } from '../store/config.ts';
import type { Database } from '../store/database.ts';
import type { Logger } from '../store/types.ts';
import type { ToolServices } from '../tools/types.ts';
import type { LiveHub } from '../trajectories/live.ts';

/** What reviews need of the skills. */
export type ReviewedSkills = Pick<SkillLibrary, 'list' | 'get' | 'plan' | 'change' | 'revert' | 'toolsFor' | 'indexFor'>;
/** What reviews need of the memory. */
export type ReviewedMemory = Pick<MemoryFiles, 'read' | 'plan' | 'apply' | 'undo' | 'toolsFor' | 'promptBlocks'>;

export interface ReviewDeps {
  db: Database;
  hub: LiveHub;
  now: () => number;
  log: Logger;
  /** Absolute path of the Talaria home: nothing in it is shown to the review agent but a chat's own workspace. */
  home: string;
  config: Pick<ConfigFile, 'read' | 'change'>;
  models: Pick<ModelService, 'create' | 'contextLength' | 'parse'>;
  spend: Pick<SpendLedger, 'record' | 'overBudget'>;
  skills: ReviewedSkills;
  memory: ReviewedMemory;
  /** For `review.extra_tools`. */
  toolServices?: Pick<ToolServices, 'web' | 'searchSessions'>;
  /** Takes known keys out of what tools answer; what has some is never proposed. */
  redact?: Redaction;
  /** Between the end of a turn and its review: a message that was queued goes first. */
  startDelayMs?: number;
  /** A session that nobody went on with for so long counts as ended. */
  idleMs?: number;
}
