import { appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Message, TrajectoryDetail } from '#shared/trajectory.ts';
import { type HermesTurn, toHermes } from './hermes.ts';
import { jsonLine } from './json-text.ts';

export const SAMPLES_FILE = 'trajectory_samples.jsonl';
export const FAILED_FILE = 'failed_trajectories.jsonl';

/** What Hermes Agent keeps of one conversation. */
export interface TrajectorySample {
  conversations: readonly HermesTurn[];
  model: string;
  completed: boolean;
  /** Epoch ms. */
  at: number;
}

/**
 * A trajectory as a sample. One that is unfit for training is not `completed`.
 * @param messages all messages of the trajectory, whole
 */
export function trajectorySample(detail: Pick<TrajectoryDetail, 'tools' | 'model' | 'exitReason' | 'endedAt' | 'createdAt'>, messages: readonly Message[]): TrajectorySample {
  const { conversations, problems } = toHermes(messages, detail.tools);
  return { conversations, model: detail.model, completed: detail.exitReason === 'completed' && problems.length === 0, at: detail.endedAt ?? detail.createdAt };
}

/**
 * Appends a sample as one line `{conversations, timestamp, model, completed}`: the file format of Hermes Agent. Good ones and failed ones
 * go to files of their own. Throws the system's error.
 * @param folder made when missing @param file in place of the two usual ones
 */
export async function saveTrajectory({ conversations, model, completed, at }: TrajectorySample, folder: string, file = completed ? SAMPLES_FILE : FAILED_FILE): Promise<void> {
  await mkdir(folder, { recursive: true });
  await appendFile(join(folder, file), `${jsonLine({ conversations, timestamp: new Date(at).toISOString(), model, completed })}\n`);
}
