import { z } from 'zod';
import { errorResult, resultText, ToolError } from './define.ts';
import type { Tool } from './types.ts';

const TASK = {
  prompt: z.string().describe('What to do, with everything that it must know: it sees nothing of this conversation. Name files by their paths, and say what to report.'),
  context: z.string().optional().describe('What it must know besides.'),
  toolsets: z.array(z.string()).optional().describe('Toolsets it gets, of those that you have; [] for none. All of yours when left out.'),
  model: z.string().optional().describe('Another model, as provider/model id.'),
  max_turns: z.int().min(1).max(1_000).optional().describe('Most model calls it may make.'),
  output_schema: z.record(z.string(), z.unknown()).optional().describe('A JSON Schema that its answer must fit.'),
  timeout_seconds: z.int().min(1).max(86_400).optional().describe('Seconds after which it is stopped.'),
};
const BACKGROUND = z.boolean().optional().describe('Go on at once; the results come as a message when all have ended.');
const WHAT =
  'A sub-agent starts with an empty conversation, works in your workspace folder with a shell of its own, cannot ask the person, and answers with one report. Its dangerous commands are refused. ' +
  'Result: {results: [{task_index, status, summary, files_written, error, …}]}.';

/** Another harness has one tool for both: which of ours is meant is seen by what it was given. */
const HERMES = 'delegate_task';

/** `spawn_agent`: one sub-agent. The result is Hermes' of delegate_task, see delegation/report.ts. */
export const spawnAgentTool = delegating({
  name: 'spawn_agent',
  description: `Give one task to a sub-agent, for work that needs many steps of which you need only the result. ${WHAT}`,
  parameters: z.object({ ...TASK, background: BACKGROUND }),
  alias: (args) => args === null || args['tasks'] === undefined || args['tasks'] === null,
});

/** `spawn_parallel`: several sub-agents at once; results in task order. */
export const spawnParallelTool = delegating({
  name: 'spawn_parallel',
  description: `Give several independent tasks to sub-agents that work at the same time. What is given beside "tasks" holds for each task that does not say otherwise. ${WHAT}`,
  parameters: z.object({
    tasks: z.array(z.object(TASK)).min(1).describe('One entry for each sub-agent.'),
    context: TASK.context,
    timeout_seconds: TASK.timeout_seconds,
    max_parallel: z.int().min(1).max(100).optional().describe('Most of them at work at the same time.'),
    background: BACKGROUND,
  }),
  alias: (args) => args !== null && args['tasks'] !== undefined && args['tasks'] !== null,
});

/** The input goes on as the model wrote it: names and shapes of other harnesses are understood there. */
function delegating({ name, description, parameters, alias }: { name: 'spawn_agent' | 'spawn_parallel'; description: string; parameters: z.ZodObject; alias: (args: Record<string, unknown> | null) => boolean }): Tool {
  const { $schema: _, ...schema } = z.toJSONSchema(parameters, { io: 'input' }) as Record<string, unknown>;
  return {
    spec: { name, description, parameters: schema },
    toolset: 'delegation',
    // several calls of one turn are meant to work at the same time
    parallel: 'safe',
    answersTo: (other, args) => other === HERMES && alias(args),
    missing: ({ delegation }) => (delegation ? null : 'There is nobody to start sub-agents here: they work in chats only.'),
    async run(args, context) {
      const { delegation } = context.services;
      if (!delegation) return errorResult('Sub-agents cannot be started here.');
      try {
        return resultText(await delegation.spawn(name, args, context));
      } catch (error) {
        if (error instanceof ToolError) return errorResult(`${name}: ${error.message}`, error.details);
        throw error;
      }
    },
  };
}
