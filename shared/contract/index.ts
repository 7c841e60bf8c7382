import type { ContractRouterClient } from '@orpc/contract';
import { adoptContract } from './adopt.ts';
import { appContract } from './app.ts';
import { chatsContract } from './chats.ts';
import { dashboardsContract } from './dashboards.ts';
import { compressorContract } from './compressor.ts';
import { datasetsContract } from './datasets.ts';
import { delegationsContract } from './delegations.ts';
import { distributionsContract } from './distributions.ts';
import { exportsContract } from './exports.ts';
import { filtersContract } from './filters.ts';
import { memoryContract } from './memory.ts';
import { plansContract } from './plans.ts';
import { preferencesContract } from './preferences.ts';
import { reviewsContract } from './reviews.ts';
import { runsContract } from './runs.ts';
import { scoresContract } from './scores.ts';
import { settingsContract } from './settings.ts';
import { skillImportsContract } from './skill-imports.ts';
import { skillTextsContract } from './skill-texts.ts';
import { skillsContract } from './skills.ts';
import { spendContract } from './spend.ts';
import { tasksContract } from './tasks.ts';
import { toolsContract } from './tools.ts';
import { trajectoriesContract } from './trajectories.ts';
import { trialsContract } from './trials.ts';

/** The whole boundary between the page and the engine. */
export const contract = {
  app: appContract,
  settings: settingsContract,
  datasets: datasetsContract,
  runs: runsContract,
  filters: filtersContract,
  adopt: adoptContract,
  plans: plansContract,
  distributions: distributionsContract,
  dashboards: dashboardsContract,
  trajectories: trajectoriesContract,
  exports: exportsContract,
  compressor: compressorContract,
  chats: chatsContract,
  delegations: delegationsContract,
  tasks: tasksContract,
  tools: toolsContract,
  spend: spendContract,
  reviews: reviewsContract,
  preferences: preferencesContract,
  scores: scoresContract,
  skills: skillsContract,
  skillTexts: skillTextsContract,
  skillImports: skillImportsContract,
  trials: trialsContract,
  memory: memoryContract,
};

export type Client = ContractRouterClient<typeof contract>;
