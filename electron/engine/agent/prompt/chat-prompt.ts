import type { ToolSpec } from '#shared/trajectory.ts';
import { readIdentity, readProjectContext } from './project-context.ts';
import { buildSystemPrompt } from './system-prompt.ts';

export interface ChatPromptInput {
  tools: readonly ToolSpec[];
  /** The Talaria home, for SOUL.md. */
  home: string;
  workspace: string;
  sandbox: 'host' | 'bubblewrap' | 'container';
  sessionId: string;
  model: string;
  provider: string;
  /** Epoch milliseconds. */
  now: number;
  timeZone?: string;
  platform?: NodeJS.Platform;
  /** The caller's own system message. */
  system?: string | null;
  /** As in `PromptParts`. */
  memory?: string | null;
  user?: string | null;
  skills?: string | null;
}

const SYSTEMS: Partial<Record<NodeJS.Platform, string>> = { linux: 'Linux', darwin: 'macOS', win32: 'Windows' };

/** The system prompt of a new chat; to be stored with it and used unchanged from then on. */
export async function chatSystemPrompt(input: ChatPromptInput): Promise<string> {
  const { tools, sessionId: id, model, provider, now, workspace, platform = process.platform } = input;
  const [identity, project] = await Promise.all([readIdentity(input.home), readProjectContext(workspace)]);
  const offered = new Set(tools.map((tool) => tool.name));
  const confined = input.sandbox === 'bubblewrap' ? ', in a sandbox where only the workspace can be written' : '';
  return buildSystemPrompt({
    tools,
    sharedWorkspace: true,
    identity: identity?.blocked ? null : identity?.text,
    system: [identity?.blocked ? identity.text : '', input.system ?? ''].join('\n\n'),
    memory: input.memory ?? null,
    user: input.user ?? null,
    skills: input.skills ?? null,
    project,
    session: { now, timeZone: input.timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone, id, model, provider },
    platform: [
      'You talk with a person in a chat window that shows Markdown and code; pictures from the web are not shown.',
      offered.has('terminal') ? `The workspace is ${workspace}. Commands run on ${SYSTEMS[platform] ?? platform}${confined}.` : '',
    ].join(' '),
  });
}
