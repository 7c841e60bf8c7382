import { z } from 'zod';
import { defineTool, errorResult, resultText, ToolError } from './define.ts';
import type { Tool } from './types.ts';

const DESCRIPTION =
  'Keep durable facts that stay true beyond this conversation. target "memory": your own notes (environment, projects, conventions, what works here). target "user": the person (name, preferences, how they want you to work). ' +
  'Both are small: one short, dense entry per fact, in the words of a fact and not of an order. Do not keep the state of a task, what can be found out again, one-off or passing errors, or secrets. ' +
  'replace and remove find the entry by old_text, a part of its text that no other entry has. When it is full, free space and use it in one call with operations: all of them are done, or none. ' +
  'Your system prompt shows the memory as it was when this conversation began; read shows it as it is now.';

const action = z.enum(['add', 'replace', 'remove']);

const documented = defineTool({
  name: 'memory',
  toolset: 'memory',
  parallel: 'never',
  description: DESCRIPTION,
  missing: (services) => (services.memory ? null : 'The memory is switched off (memory.enabled in config.yaml).'),
  parameters: z.object({
    action: z.enum(['add', 'replace', 'remove', 'read']).optional().describe('What to do. Leave out with operations.'),
    target: z.enum(['memory', 'user']).optional().describe('Your notes (memory) or what is known of the person (user). read without it shows both.'),
    content: z.string().optional().describe('add and replace: the text of the entry.'),
    old_text: z.string().optional().describe('replace and remove: a part of the entry that no other entry has.'),
    operations: z
      .array(z.object({ action, content: z.string().optional(), old_text: z.string().optional() }))
      .min(1)
      .max(100)
      .optional()
      .describe('Several changes of the same target, done one after the other, all or none.'),
  }),
  run: () => Promise.reject(new Error('Only its description is used')),
});

/**
 * `memory`: entries of MEMORY.md and USER.md are added, replaced, removed and read, one or several at once. Models write these arguments in
 * many ways, so all of them are let through, and MemoryTools understands them. The answer has the usage and what the call changed, never
 * the whole store, but for `read`.
 */
export const memoryTool: Tool = {
  ...documented,
  async run(args, { services }) {
    try {
      if (!services.memory) throw new ToolError('The memory is switched off here.');
      return resultText(await services.memory.call(args));
    } catch (error) {
      if (error instanceof ToolError) return errorResult(error.message, error.details);
      throw error;
    }
  },
};
