import { z } from 'zod';

/** Every way a run can end (exactly one per trajectory). */
export const EXIT_REASONS = [
  'completed',
  'max_turns',
  'interrupted',
  'invalid_tool_calls',
  'truncated',
  'empty_response',
  'context_overflow',
  'provider_error',
  'budget_exceeded',
  'error',
] as const;
export const exitReasonSchema = z.enum(EXIT_REASONS);
export type ExitReason = z.infer<typeof exitReasonSchema>;

/** One call as the model emitted it. `arguments` is the RAW JSON text: re-serialising would change numbers and key order. */
export const toolCallSchema = z.object({ id: z.string(), name: z.string(), arguments: z.string() });
export type ToolCall = z.infer<typeof toolCallSchema>;

/** Token counts of one model call, or summed over many. */
export const usageSchema = z.object({
  promptTokens: z.number().int(),
  completionTokens: z.number().int(),
  reasoningTokens: z.number().int(),
  cachedTokens: z.number().int(),
});
export type Usage = z.infer<typeof usageSchema>;

export const ZERO_USAGE: Usage = { promptTokens: 0, completionTokens: 0, reasoningTokens: 0, cachedTokens: 0 };

/** Sums two usages field by field. */
export function addUsage(a: Usage, b: Usage): Usage {
  return {
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    reasoningTokens: a.reasoningTokens + b.reasoningTokens,
    cachedTokens: a.cachedTokens + b.cachedTokens,
  };
}

export const roleSchema = z.enum(['system', 'user', 'assistant', 'tool']);
export type Role = z.infer<typeof roleSchema>;

/** One entry of a trajectory. */
export const messageSchema = z.object({
  role: roleSchema,
  content: z.string(),
  /** Native or inline reasoning, already separated from `content`. */
  reasoning: z.string().optional(),
  /** Provider-specific reasoning blocks, replayed unmodified. */
  reasoningDetails: z.array(z.unknown()).optional(),
  toolCalls: z.array(toolCallSchema).optional(),
  /** Tool messages: the call this answers. */
  toolCallId: z.string().optional(),
  toolName: z.string().optional(),
  /** Tool messages: the result is an error by the rules of `isToolFailure`. */
  isError: z.boolean().optional(),
  /** Written by the harness for the model; training data never contains it. */
  synthetic: z.boolean().optional(),
  finishReason: z.string().optional(),
  usage: usageSchema.optional(),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  /** How long the model call or the tool took. */
  durationMs: z.number().optional(),
});
export type Message = z.infer<typeof messageSchema>;

/** A message as stored: numbered within its trajectory from 0. */
export const storedMessageSchema = messageSchema.extend({
  seq: z.number().int(),
  /** Set when `content` is only the first part of a large value; the whole is read by (trajectory, seq). */
  contentBytes: z.number().int().optional(),
});
export type StoredMessage = z.infer<typeof storedMessageSchema>;

export const trajectoryKindSchema = z.enum(['batch', 'chat']);
export type TrajectoryKind = z.infer<typeof trajectoryKindSchema>;

/** OpenAI-style description of a tool that was offered to the model. */
export const toolSpecSchema = z.object({
  name: z.string(),
  description: z.string(),
  parameters: z.record(z.string(), z.unknown()),
});
export type ToolSpec = z.infer<typeof toolSpecSchema>;

export const toolStatSchema = z.object({ count: z.number().int(), success: z.number().int(), failure: z.number().int() });
export type ToolStat = z.infer<typeof toolStatSchema>;

/** What a list shows of a trajectory. */
export const trajectorySummarySchema = z.object({
  id: z.string(),
  /** Creation order within this home; the keyset cursor of lists. */
  n: z.number().int(),
  kind: trajectoryKindSchema,
  title: z.string(),
  runId: z.string().nullable(),
  runName: z.string().nullable(),
  promptIndex: z.number().int().nullable(),
  model: z.string(),
  provider: z.string(),
  /** Made by the scripted offline model: not to be trained on unawares. */
  scripted: z.boolean(),
  state: z.enum(['running', 'ended']),
  exitReason: exitReasonSchema.nullable(),
  /** Why the run's filters left it out of the output files; null = kept. */
  discardReason: z.string().nullable(),
  error: z.string().nullable(),
  messageCount: z.number().int(),
  /** Assistant turns. */
  turns: z.number().int(),
  toolCalls: z.number().int(),
  toolErrors: z.number().int(),
  usage: usageSchema,
  costUsd: z.number().nullable(),
  createdAt: z.number(),
  endedAt: z.number().nullable(),
});
export type TrajectorySummary = z.infer<typeof trajectorySummarySchema>;

/** The header of the trajectory view: summary plus what was offered. */
export const trajectoryDetailSchema = trajectorySummarySchema.extend({
  toolsets: z.array(z.string()),
  tools: z.array(toolSpecSchema),
  toolStats: z.record(z.string(), toolStatSchema),
  apiCalls: z.number().int(),
});
export type TrajectoryDetail = z.infer<typeof trajectoryDetailSchema>;

export const OUTCOMES = ['completed', 'partial', 'failed', 'discarded', 'running'] as const;
export type Outcome = (typeof OUTCOMES)[number];

const PARTIAL_REASONS: readonly ExitReason[] = ['max_turns', 'truncated', 'invalid_tool_calls', 'interrupted', 'budget_exceeded', 'empty_response'];

/** Collapses state, exit reason and discard into the five outcomes people filter by. */
export function outcomeOf(t: Pick<TrajectorySummary, 'state' | 'exitReason' | 'discardReason'>): Outcome {
  if (t.state === 'running' || t.exitReason === null) return 'running';
  if (t.discardReason !== null) return 'discarded';
  if (t.exitReason === 'completed') return 'completed';
  return PARTIAL_REASONS.includes(t.exitReason) ? 'partial' : 'failed';
}
