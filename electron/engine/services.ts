import type { AppInfo } from '#shared/contract/app.ts';
import type { BatchService } from './batch/service.ts';
import type { DatasetService } from './batch/datasets.ts';
import type { StatusService } from './status.ts';
import type { SettingsService } from './store/settings.ts';
import type { Store } from './store/store.ts';
import type { Logger } from './store/types.ts';
import type { ExportService } from './trajectories/export/service.ts';
import type { LiveHub } from './trajectories/live.ts';

/** What the composition root builds and the API calls. */
export interface EngineServices {
  info: AppInfo;
  store: Store;
  hub: LiveHub;
  log: Logger;
  status: StatusService;
  settings: SettingsService;
  datasets: DatasetService;
  runs: BatchService;
  exports: ExportService;
}
