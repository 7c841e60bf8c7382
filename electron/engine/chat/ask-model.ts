import type { SpendPurpose } from '#shared/contract/chats.ts';
import { ZERO_USAGE } from '#shared/trajectory.ts';
import type { ChatRequest } from '../model/types.ts';
import type { ModelChoice } from '../model/service.ts';
import { getDetail } from '../trajectories/query.ts';
import type { Rooms } from './rooms.ts';

export interface SideCall {
  choice: ModelChoice;
  purpose: SpendPurpose;
  /** The trajectory that pays for it. */
  trajectoryId: string | null;
  request: ChatRequest;
  signal: AbortSignal;
}

/** One model call beside the conversation: its text, without reasoning. Throws ModelError or SettingsError. */
export async function askModel(rooms: Rooms, { choice, purpose, trajectoryId, request, signal }: SideCall): Promise<string> {
  const { deps } = rooms;
  const model = await deps.models.create(choice);
  for await (const event of model.stream(request, signal)) {
    if (event.type !== 'answer') continue;
    const { provider, model: name } = event.answer.servedBy ?? model.endpoint;
    const n = trajectoryId === null ? undefined : getDetail(deps.db, trajectoryId)?.n;
    deps.spend.record({ purpose, provider, model: name, usage: event.answer.usage ?? ZERO_USAGE, costUsd: event.answer.costUsd, ...(n === undefined ? {} : { trajectoryN: n }) });
    return event.answer.content;
  }
  throw new Error('The model ended without an answer.');
}
