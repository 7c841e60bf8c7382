export { Clearing } from './worker/clearing.ts';
export type { ScoreHook, WorkerDeps } from './worker/deps.ts';
export { runRollout } from './worker/run.ts';
