import { saveTrajectory, trajectorySample } from '../trajectories/export/sample.ts';
import { getDetail } from '../trajectories/query.ts';
import { wholeHistory } from './history.ts';
import type { Rooms } from './rooms.ts';

/**
 * With `chat.save_trajectories`: appends the conversation so far as one Hermes line, to trajectory_samples.jsonl when the turn was
 * completed and is well formed, else to failed_trajectories.jsonl. In the background; a failure is logged.
 */
export function saveSample(rooms: Rooms, trajectoryId: string): void {
  const { deps } = rooms;
  if (!deps.config.read().chat.save_trajectories) return;
  const detail = getDetail(deps.db, trajectoryId);
  if (!detail) return;
  const sample = trajectorySample(detail, wholeHistory(deps.db, trajectoryId));
  rooms.inBackground(() => saveTrajectory(sample, deps.home.data), `The conversation could not be saved to ${deps.home.data}`);
}
