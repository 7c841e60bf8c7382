import type { ExitReason } from '#shared/trajectory.ts';
import { parseFilters } from '#shared/filters.ts';
import { type Database, sqlFor } from '../../store/database.ts';
import { fromHermes } from '../../trajectories/export/hermes-parse.ts';
import { LiveHub } from '../../trajectories/live.ts';
import { TrajectoryRecorder } from '../../trajectories/record.ts';
import { dispose } from '../filters/dispose.ts';
import { judgeRollout } from '../filters/judge.ts';
import type { RunRecord } from '../run-store.ts';
import type { HermesRow } from './folder.ts';

const PROVIDER = 'hermes-agent';
const DISCARDED = 'Hermes Agent had marked it done and kept no row: it had been discarded because no turn had reasoning.';

/** Stores a row of an old run as the trajectory of a rollout, and judges it by the filters of the new run. In one transaction. */
export function takeOver(db: Database, run: RunRecord, promptIndex: number, row: HermesRow, now: () => number): void {
  const metadata = (typeof row.metadata === 'object' && row.metadata !== null ? row.metadata : {}) as { model?: unknown; timestamp?: unknown };
  const at = timeOf(metadata.timestamp) ?? now();
  const { messages, tools } = fromHermes(Array.isArray(row.conversations) ? row.conversations : [], { at });
  const { rollouts, filters } = run.spec;
  const index = promptIndex * rollouts;
  const toolsets = Array.isArray(row.toolsets_used) ? row.toolsets_used.filter((t): t is string => typeof t === 'string') : [];
  const { exitReason, error } = endOf(row);
  db.transaction(() => {
    const recorder = TrajectoryRecorder.begin(db, new LiveHub(), () => at, {
      kind: 'batch',
      prompt: messages.find((m) => m.role === 'user')?.content ?? '',
      runId: run.id,
      promptIndex,
      rollout: 0,
      model: typeof metadata.model === 'string' && metadata.model !== '' ? metadata.model : run.spec.model,
      provider: PROVIDER,
      scripted: false,
      systemPrompt: '',
      toolsets,
      tools,
    });
    for (const message of messages) recorder.append(message);
    recorder.end({ exitReason, error, ...(Number.isSafeInteger(row.api_calls) && (row.api_calls as number) >= 0 ? { apiCalls: row.api_calls as number } : {}) });
    const state = exitReason === 'completed' ? 'completed' : 'partial';
    db.run(
      sqlFor
        .updateTable('prompts')
        .set({ state, reason: error, cause: null, retryable: 0, toolsets: JSON.stringify(toolsets), trajectory_id: recorder.id, attempts: 1, updated_at: now() })
        .where('run_id', '=', run.id)
        .where('idx', '=', index),
    );
    const hit = judgeRollout(db, parseFilters(filters), { runId: run.id, index, rollouts });
    if (hit) dispose(db, { runId: run.id, index }, { state, cause: null, reason: error }, hit, now());
  });
}

/** A prompt that the old run discarded: there is nothing of it, and it is not run unless somebody asks for that. */
export function takeOverDiscarded(db: Database, run: RunRecord, promptIndex: number, now: () => number): void {
  const index = promptIndex * run.spec.rollouts;
  db.run(sqlFor.updateTable('prompts').set({ state: 'discarded', cause: 'no_reasoning', reason: DISCARDED, retryable: 0, updated_at: now() }).where('run_id', '=', run.id).where('idx', '=', index));
}

/** The rows do not say how an agent ended, only whether. */
function endOf({ completed, partial }: HermesRow): { exitReason: ExitReason; error: string | null } {
  if (completed === true) return { exitReason: 'completed', error: null };
  if (partial === true) return { exitReason: 'invalid_tool_calls', error: 'Hermes Agent had marked it as partial and did not say why: calls that could not be read, or an answer that was cut off.' };
  return { exitReason: 'max_turns', error: 'Hermes Agent had not marked it as completed.' };
}

/** Of an ISO time, with or without a zone; null for anything else. */
function timeOf(value: unknown): number | null {
  const ms = typeof value === 'string' && /^\d{4}-\d\d-\d\d/.test(value) ? Date.parse(value) : NaN;
  return Number.isFinite(ms) && ms > 0 ? ms : null;
}
