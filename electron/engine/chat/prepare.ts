import type { SessionSettings } from '#shared/contract/chats.ts';
import { withAttached } from '#shared/attached.ts';
import type { Attachment, Message } from '#shared/trajectory.ts';
import { chatSystemPrompt } from '../agent/prompt/chat-prompt.ts';
import type { AgentDeps, AgentSpec } from '../agent/types.ts';
import type { ChatModel } from '../model/types.ts';
import type { Sandbox } from '../sandbox/types.ts';
import { createRegistry } from '../tools/registry.ts';
import type { ToolRegistry } from '../tools/types.ts';
import { getDetail } from '../trajectories/query.ts';
import type { TrajectoryRecorder } from '../trajectories/record.ts';
import { approverOf, offeredServices, openTodos, turnServices } from './agent-services.ts';
import type { SessionPlace } from './extensions.ts';
import { systemPromptOf } from './history.ts';
import type { LiveSession } from './live-session.ts';
import type { Rooms } from './rooms.ts';
import { SessionModel } from './session-model.ts';

/** What a person says. */
export interface NewText {
  text: string;
  attachments: readonly Attachment[];
}

/** Everything a turn needs. */
export interface Prepared {
  model: ChatModel;
  tools: ToolRegistry;
  sandbox: Sandbox;
  settings: SessionSettings;
  systemPrompt: string;
  /** It is not the one that the conversation had before. */
  renewed: boolean;
  /** Null for a turn that answers what is stored already. */
  message: Message | null;
  /** What the harness puts behind it. */
  behind: readonly Message[];
}

/**
 * Makes everything that can fail before anything is stored. Throws ChatError or SettingsError with a sentence for the person.
 * @param base.goesOn the turn follows the last message of the branch that is shown
 * @param base.again what a person had said and is answered again, behind which the harness puts the same as the first time
 */
export async function prepareTurn(rooms: Rooms, live: LiveSession, said: NewText | null, { goesOn, again }: { goesOn: boolean; again?: string | undefined }): Promise<Prepared> {
  const { deps, workspaces } = rooms;
  const settings = turnSettings(rooms, live.id);
  const model = await deps.models.create({ provider: settings.provider, model: settings.model });
  const sandbox = await workspaces.get(live.id, settings);
  const tools = createRegistry(settings.toolsets, offeredServices(rooms, live));
  const place = { sessionId: live.id, settings, sandbox };
  const { tip, updatedAt } = rooms.session(live.id);
  const kept = systemPromptOf(deps.db, live.id, tip);
  const renewed = kept !== null && goesOn && said !== null && tip !== null && rooms.anyOf((extension) => extension.outdated?.(place, { systemPrompt: kept, idleMs: deps.now() - updatedAt }, tools.specs) ?? false);
  const systemPrompt = kept === null || renewed ? await newSystemPrompt(rooms, place, tools) : kept;
  const message = said && (await userMessage(rooms, said, sandbox));
  const text = said?.text ?? again;
  const behind = text === undefined ? [] : await behindOf(rooms, place, text);
  return { model, tools, sandbox, settings, systemPrompt, renewed, message, behind };
}

/** What the harness puts behind what a person said. */
export async function behindOf(rooms: Rooms, place: SessionPlace, text: string): Promise<Message[]> {
  return (await rooms.gather((extension) => extension.behind?.(place, text))).flat();
}

/** As chosen; a task that goes on in the background has the turns that are left of it. */
function turnSettings(rooms: Rooms, id: string): SessionSettings {
  const { settings, background, tip } = rooms.session(id);
  const taken = background && tip !== null ? (getDetail(rooms.deps.db, tip)?.turns ?? 0) : 0;
  return taken === 0 ? settings : { ...settings, maxTurns: Math.max(1, settings.maxTurns - taken) };
}

async function newSystemPrompt(rooms: Rooms, place: SessionPlace, tools: ToolRegistry): Promise<string> {
  const { deps } = rooms;
  const { sessionId, sandbox } = place;
  const { model, provider } = place.settings;
  const blocks = await rooms.gather((extension) => extension.promptBlocks?.(place, tools.specs));
  return chatSystemPrompt({ tools: tools.specs, home: deps.home.root, workspace: sandbox.root, sandbox: sandbox.kind, sessionId, model, provider, now: deps.now(), ...Object.assign({}, ...blocks) });
}

/** The message as it is stored: with its files in the workspace, and a line for each in the text. */
export async function userMessage(rooms: Rooms, said: NewText, sandbox: Sandbox): Promise<Message> {
  const attachments = said.attachments.length === 0 ? [] : await rooms.attachments.bring(said.attachments, sandbox);
  return {
    role: 'user',
    content: withAttached(said.text, attachments).toWellFormed(),
    ...(attachments.length > 0 ? { attachments } : {}),
    createdAt: rooms.deps.now(),
  };
}

/** What `runAgent` is told. The context length may have to be asked for over the network; the signal ends the waiting. */
export async function agentSpec(rooms: Rooms, { settings, systemPrompt }: Prepared, signal: AbortSignal): Promise<AgentSpec> {
  const { compression } = rooms.deps.config.read();
  return {
    systemPrompt,
    maxTurns: settings.maxTurns,
    ...(settings.reasoningEffort ? { reasoningEffort: settings.reasoningEffort } : {}),
    contextLength: await contextLength(rooms, settings, signal),
    ...(compression.enabled ? { compression: compressionSettings(rooms) } : {}),
  };
}

function contextLength(rooms: Rooms, { provider, model }: SessionSettings, signal: AbortSignal): Promise<number | null> {
  const aborted = new Promise<null>((resolve) => (signal.aborted ? resolve(null) : signal.addEventListener('abort', () => resolve(null), { once: true })));
  return Promise.race([rooms.deps.models.contextLength(provider, model), aborted]);
}

export function compressionSettings(rooms: Rooms): NonNullable<AgentSpec['compression']> {
  const { threshold, target_ratio, protect_last_n } = rooms.deps.config.read().compression;
  return { threshold, tailRatio: target_ratio, protectLast: protect_last_n };
}

/** The model that writes summaries; undefined: the chat's own. */
export async function summaryModel(rooms: Rooms): Promise<ChatModel | undefined> {
  const route = rooms.deps.config.read().compression.model;
  if (route === undefined) return undefined;
  try {
    return await rooms.deps.models.create(rooms.deps.models.parse(route));
  } catch (error) {
    rooms.deps.log.error(`config.yaml: compression.model "${route}" cannot be used; the chat's own model writes the summaries`, error);
    return undefined;
  }
}

export interface TurnParts {
  recorder: TrajectoryRecorder;
  steering: () => Message[];
  signal: AbortSignal;
}

export async function agentDeps(rooms: Rooms, live: LiveSession, { model, tools, sandbox, settings }: Prepared, { recorder, steering, signal }: TurnParts): Promise<AgentDeps> {
  const { deps } = rooms;
  const summaries = await summaryModel(rooms);
  // a deleted session still has its turn to end
  const chosen = (): SessionSettings => rooms.store.get(live.id)?.settings ?? settings;
  let measured = settings;
  return {
    contextLength: async () => {
      const next = chosen();
      if (next.provider === measured.provider && next.model === measured.model) return undefined;
      measured = next;
      return contextLength(rooms, next, signal);
    },
    model: new SessionModel(model, {
      settings: chosen,
      create: ({ provider, model: name }) => deps.models.create({ provider, model: name }),
      switched: (next) => recorder.answeredBy({ ...next.endpoint, scripted: next.scripted }),
    }),
    tools,
    sandbox,
    now: deps.now,
    ...(deps.redact ? { redact: deps.redact } : {}),
    toolState: live.toolState,
    toolServices: turnServices(rooms, live, sandbox, signal),
    approve: approverOf(rooms, live),
    attachment: (id) => rooms.attachments.bytes(id),
    steering,
    overBudget: () => deps.spend.overBudget({ sessionId: live.id }),
    ...(summaries ? { summaryModel: summaries } : {}),
    carryOver: () => openTodos(rooms.store.get(live.id)?.todos ?? []),
  };
}
