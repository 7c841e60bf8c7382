import type { Redaction } from '../agent/types.ts';
import type { ModelService } from '../model/service.ts';
import type { SpendLedger } from '../model/spend.ts';
import type { Approvals } from '../sandbox/approvals.ts';
import type { ChatService } from '../chat/service.ts';
import type { ConfigFile } from '../store/config.ts';
import type { Database } from '../store/database.ts';
import type { HomePaths } from '../store/home.ts';
import type { Logger } from '../store/types.ts';
import type { SkillTools } from '../tools/types.ts';
import type { LiveHub } from '../trajectories/live.ts';

/** What the delegation service needs of the engine. */
export interface DelegationDeps {
  db: Database;
  hub: LiveHub;
  now: () => number;
  log: Logger;
  home: Pick<HomePaths, 'root'>;
  config: Pick<ConfigFile, 'read'>;
  models: Pick<ModelService, 'create' | 'contextLength' | 'parse'>;
  spend: Pick<SpendLedger, 'record' | 'overBudget'>;
  approvals: Pick<Approvals, 'isAllowed'>;
  /** Skills for reading, noted as used by that trajectory; absent: as the parent reads them. */
  skillsFor?: (of: { trajectoryId: () => string | null; workspace: string | null }) => SkillTools;
  /** Where results of the background are delivered. Late: chats are built with this service as an extension. Absent: they stay undelivered. */
  chats?: () => Pick<ChatService, 'deliver'>;
  redact?: Redaction;
}
