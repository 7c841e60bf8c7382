import type { ContextMeter } from '#shared/contract/chats.ts';
import type { ToolSpec, Usage } from '#shared/trajectory.ts';
import { estimateTokens, toolTokens } from '../agent/tokens.ts';
import { sqlFor } from '../store/database.ts';
import type { Rooms } from './rooms.ts';

/**
 * The meter of a chat that has not run since the engine started, from what the provider counted at its last call: reading all messages
 * for it would make long chats open slowly. Null when nobody counted, or the context has been compressed since.
 */
export async function measuredMeter(rooms: Rooms, id: string): Promise<ContextMeter | null> {
  const { db, models, config } = rooms.deps;
  const { tip, settings } = rooms.session(id);
  const trajectory = tip === null ? undefined : db.get(sqlFor.selectFrom('trajectories').select(['n', 'system_prompt', 'tools']).where('id', '=', tip));
  if (!trajectory) return null;
  const messages = sqlFor.selectFrom('messages').where('trajectory_n', '=', trajectory.n).orderBy('seq', 'desc').limit(1);
  const counted = db.get(messages.select(['seq', 'usage']).where('usage', 'is not', null));
  const compacted = db.get(messages.select('seq').where('compaction', 'is not', null));
  const usage = counted?.usage ? (JSON.parse(counted.usage) as Usage) : null;
  if (!usage || usage.promptTokens === 0 || (compacted && compacted.seq > counted!.seq)) return null;
  const total = usage.promptTokens + usage.completionTokens;
  const system = Math.min(total, estimateTokens(trajectory.system_prompt));
  const tools = Math.min(total - system, toolTokens(JSON.parse(trajectory.tools) as ToolSpec[]));
  const limit = await models.contextLength(settings.provider, settings.model);
  const { enabled, threshold } = config.read().compression;
  return { system, tools, messages: total - system - tools, total, limit, compressAt: enabled && limit !== null ? Math.floor(limit * threshold) : null, measured: true };
}
