import { isAbsolute } from 'node:path';
import type { SessionSettings } from '#shared/contract/chats.ts';
import { OFFLINE_MODEL, OFFLINE_PROVIDER } from '../model/providers.ts';
import { DEFAULT_TOOLSETS, resolveToolsets, UnknownToolsetError } from '../tools/toolsets.ts';
import type { ChatDeps } from './deps.ts';
import { ChatError } from './errors.ts';
import type { Rooms } from './rooms.ts';
import { ownWorkspace } from './upkeep.ts';

/** Throws ChatError invalid with the field at fault. */
export function checkSettings(settings: { workspace?: string | undefined; toolsets?: readonly string[] | undefined }): void {
  if (settings.workspace !== undefined && settings.workspace !== '' && !isAbsolute(settings.workspace)) throw new ChatError('invalid', `Give the whole path of the workspace folder, not "${settings.workspace}".`, { field: 'workspace' });
  if (settings.toolsets === undefined) return;
  try {
    resolveToolsets(settings.toolsets);
  } catch (error) {
    throw error instanceof UnknownToolsetError ? new ChatError('invalid', error.message, { field: 'toolsets', cause: error }) : error;
  }
}

/** The settings of a new session: what was chosen, else what config.yaml says, else the model of the last one. */
export function newSettings(rooms: Rooms, id: string, chosen: { [K in keyof SessionSettings]?: SessionSettings[K] | undefined }, last: SessionSettings | undefined): SessionSettings {
  const { deps } = rooms;
  const { chat, agent, terminal, toolsets } = deps.config.read();
  const model = chosen.provider !== undefined && chosen.model !== undefined ? { provider: chosen.provider, model: chosen.model } : (configured(deps, chat.model) ?? last ?? { provider: OFFLINE_PROVIDER, model: OFFLINE_MODEL });
  return {
    provider: chosen.provider ?? model.provider,
    model: chosen.model ?? model.model,
    reasoningEffort: chosen.reasoningEffort !== undefined ? chosen.reasoningEffort : (agent.reasoning_effort ?? null),
    toolsets: chosen.toolsets ?? toolsets ?? [...DEFAULT_TOOLSETS],
    workspace: chosen.workspace || chat.workspace || ownWorkspace(rooms, id),
    sandbox: chosen.sandbox ?? terminal.sandbox,
    maxTurns: chosen.maxTurns ?? agent.max_turns,
  };
}

/** Null when config.yaml names no model or one that is not there: Settings shows that; a new chat must open all the same. */
function configured(deps: ChatDeps, route: string | undefined): { provider: string; model: string } | null {
  if (route === undefined) return null;
  try {
    return deps.models.parse(route);
  } catch (error) {
    deps.log.error(`config.yaml: chat.model "${route}" cannot be used`, error);
    return null;
  }
}
