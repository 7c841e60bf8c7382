import type { ContractRouterClient } from '@orpc/contract';
import { appContract } from './app.ts';
import { datasetsContract } from './datasets.ts';
import { exportsContract } from './exports.ts';
import { runsContract } from './runs.ts';
import { settingsContract } from './settings.ts';
import { trajectoriesContract } from './trajectories.ts';

/** The whole boundary between the page and the engine. */
export const contract = {
  app: appContract,
  settings: settingsContract,
  datasets: datasetsContract,
  runs: runsContract,
  trajectories: trajectoriesContract,
  exports: exportsContract,
};

export type Client = ContractRouterClient<typeof contract>;
