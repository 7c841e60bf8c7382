import type { ToolSpec } from '#shared/trajectory.ts';
import { readProjectContext } from '../agent/prompt/project-context.ts';
import { buildSystemPrompt } from '../agent/prompt/system-prompt.ts';
import type { Sandbox } from '../sandbox/types.ts';
import type { OutputSchema } from './output-schema.ts';

const ROLE =
  'You are a sub-agent: another agent has given you one task, which is the first message. You see nothing of its conversation; all that you need to know is in the task and in the context below, the rest you find out with your tools. ' +
  'Do this task and nothing else. Nobody can answer questions: where something is unclear, take the most likely reading and say that you did.';
const SHARED_FOLDER = 'Other agents may work in the same workspace at the same time: change only the files that your task needs.';
const REPORT =
  '# Your report\nYour last message is all that the other agent gets. Make it complete and short: what you did and found, the files you made or changed (by path), what did not work and what is left. ' +
  'Say only what you have seen; when you could not finish, say how far you came.';
const REPORT_JSON =
  '# Your report\nYour last message is all that the other agent gets, and a program reads it. It must be one JSON value that fits the JSON Schema below, without a word before or after it.';

export interface ChildPromptInput {
  tools: readonly ToolSpec[];
  context: string | null;
  schema: OutputSchema | null;
  sandbox: Pick<Sandbox, 'root' | 'kind'>;
  childId: string;
  model: string;
  provider: string;
  /** Epoch ms. */
  now: number;
}

/** The system prompt of a sub-agent: what it is, the context it was given, how to report. The task itself is its first message. */
export async function childSystemPrompt({ tools, context, schema, sandbox, childId, model, provider, now }: ChildPromptInput): Promise<string> {
  const blocks = [
    tools.length > 0 ? `${ROLE}\n${SHARED_FOLDER}` : ROLE,
    context === null ? null : `# Context\n${context}`,
    schema === null ? REPORT : `${REPORT_JSON}\n\n\`\`\`json\n${JSON.stringify(schema.schema)}\n\`\`\``,
  ];
  return buildSystemPrompt({
    tools,
    sharedWorkspace: true,
    system: blocks.filter((block) => block !== null).join('\n\n'),
    project: tools.length > 0 ? await readProjectContext(sandbox.root) : null,
    session: { now, timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone, id: childId, model, provider },
    platform: tools.some((tool) => tool.name === 'terminal') ? `The workspace is ${sandbox.root}.` : null,
  });
}

/** Asks once for an answer that fits. */
export function correction(errors: readonly string[]): string {
  return `Your answer does not fit the JSON Schema: ${errors.join('; ')}. Answer once more, with nothing but one JSON value that fits it.`;
}
