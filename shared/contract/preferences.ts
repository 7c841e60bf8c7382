import { z } from 'zod';
import { base } from './base.ts';
import { REASONING_EFFORTS } from './runs.ts';

/** How chats behave; kept in config.yaml under `agent:`, `compression:` and `chat:`. */
export const preferencesSchema = z.object({
  /** Model calls for one message of a person, in new chats. */
  maxTurns: z.number().int().min(1).max(1000),
  reasoningEffort: z.enum(REASONING_EFFORTS).nullable(),
  /** Older messages are replaced by a summary when the context is full to `compressAt` (0.05 to 0.95). */
  compress: z.boolean(),
  compressAt: z.number().min(0.05).max(0.95),
  /** Folder that new chats work in; null: one of its own for each chat. */
  workspace: z.string().max(4096).nullable(),
  /** Titles are asked of a model. */
  titles: z.boolean(),
  /** Ended turns are also appended to trajectory_samples.jsonl and failed_trajectories.jsonl. */
  saveTrajectories: z.boolean(),
  /** The workspace can be rolled back to before an agent changed it. */
  checkpoints: z.boolean(),
  /** A notification when a chat in the background ends or asks, and when a task ends. */
  notify: z.boolean(),
  /** Desktop: without its window the app goes on in the tray while agents work; else it quits. */
  keepInTray: z.boolean(),
});
export type Preferences = z.infer<typeof preferencesSchema>;

export const preferencesContract = {
  get: base.output(preferencesSchema),
  /** INVALID with the field. */
  update: base.input(preferencesSchema.partial()).output(preferencesSchema),
};
