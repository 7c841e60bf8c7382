import type { Redaction } from '../agent/types.ts';
import type { ModelService } from '../model/service.ts';
import type { SpendLedger } from '../model/spend.ts';
import type { Approvals } from '../sandbox/approvals.ts';
import type { Checkpoints } from '../sandbox/checkpoints.ts';
import type { ConfigFile } from '../store/config.ts';
import type { Database } from '../store/database.ts';
import type { HomePaths } from '../store/home.ts';
import type { Readers } from '../store/readers.ts';
import type { Logger } from '../store/types.ts';
import type { ToolServices } from '../tools/types.ts';
import type { LiveHub } from '../trajectories/live.ts';
import type { ChatExtension } from './extensions.ts';

/** What the chat service needs of the engine. */
export interface ChatDeps {
  db: Database;
  readers: Pick<Readers, 'run'>;
  hub: LiveHub;
  now: () => number;
  log: Logger;
  home: HomePaths;
  config: Pick<ConfigFile, 'read'>;
  models: Pick<ModelService, 'create' | 'contextLength' | 'parse'>;
  spend: Pick<SpendLedger, 'record' | 'overBudget' | 'ofSession'>;
  approvals: Approvals;
  checkpoints: Checkpoints;
  /** What tools need besides what a chat gives them itself. */
  toolServices?: Pick<ToolServices, 'web'>;
  /** Skills, memory, reviews and delegation come in here, each by itself. */
  extensions?: readonly ChatExtension[];
  /** Takes known keys out of what tools answer. */
  redact?: Redaction;
}
