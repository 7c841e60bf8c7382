import { z } from 'zod';

/** Every way a run can end (exactly one per trajectory). */
export const EXIT_REASONS = [
  'completed',
  'max_turns',
  'interrupted',
  'timeout',
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

/** What the harness writes for the model: budget notes, requests to go on or to stop, summaries in place of older messages, skills that a person ran by name, results of sub-agents in the background. */
export const NOTE_KINDS = ['budget', 'continue', 'cap', 'empty', 'repeat', 'compaction', 'skill', 'delegation'] as const;
export const noteKindSchema = z.enum(NOTE_KINDS);
export type NoteKind = z.infer<typeof noteKindSchema>;

/** The model is shown the message that carries this in place of the messages `from` to `to` (seq, inclusive), which stay stored. See `contextOf`. */
export const compactionSchema = z.object({
  from: z.number().int(),
  to: z.number().int(),
  /** `fallback`: written without a model, because asking one had failed. */
  method: z.enum(['model', 'fallback']),
  tokensBefore: z.number().int(),
  tokensAfter: z.number().int(),
});
export type Compaction = z.infer<typeof compactionSchema>;

/** A file that a person gave or a tool showed. The bytes are kept in the home under `id`. */
export const attachmentSchema = z.object({
  /** SHA-256 of the bytes, hex. */
  id: z.string().regex(/^[0-9a-f]{64}$/),
  kind: z.enum(['image', 'file']),
  name: z.string(),
  mime: z.string(),
  bytes: z.number().int(),
  /** Where a copy lies in the workspace, relative to it. */
  path: z.string().optional(),
});
export type Attachment = z.infer<typeof attachmentSchema>;

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
  /** Which of the harness's notes this is; with `synthetic`, but for `delegation` and `skill`: what answers those must not be trained on without them. */
  note: noteKindSchema.optional(),
  compaction: compactionSchema.optional(),
  /** User messages: what was sent with the text. Tool messages: pictures to show. */
  attachments: z.array(attachmentSchema).optional(),
  finishReason: z.string().optional(),
  usage: usageSchema.optional(),
  /** Epoch milliseconds. */
  createdAt: z.number(),
  /** How long the model call or the tool took. */
  durationMs: z.number().optional(),
});
export type Message = z.infer<typeof messageSchema>;

/** Whether a turn answers this: what a person said, or results that came between turns. The texts of skills belong to the request before them. */
export function isRequest(message: Pick<Message, 'role' | 'synthetic' | 'note'>): boolean {
  return message.role === 'user' && !message.synthetic && message.note !== 'skill';
}

/** Whether a person said this. */
export function saidByPerson(message: Pick<Message, 'role' | 'synthetic' | 'note'>): boolean {
  return isRequest(message) && message.note === undefined;
}

/** A message as stored: numbered within its trajectory from 0. */
export const storedMessageSchema = messageSchema.extend({
  seq: z.number().int(),
  /** Set when `content` is only the first part of a large value; the whole is read by (trajectory, seq). */
  contentBytes: z.number().int().optional(),
});
export type StoredMessage = z.infer<typeof storedMessageSchema>;

/** `delegation`: a sub-agent; `background`: a task of its own; `review`: the agent that learns from others; `trial`: one attempt of "try this skill". */
export const TRAJECTORY_KINDS = ['batch', 'chat', 'delegation', 'background', 'review', 'trial'] as const;
export const trajectoryKindSchema = z.enum(TRAJECTORY_KINDS);
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
  /** Batch: which row of the dataset, from 0, and which of its rollouts, from 0. All rollouts of a row are a group. */
  promptIndex: z.number().int().nullable(),
  rollout: z.number().int(),
  /** How many rollouts its run makes of each row; 1 outside of runs. */
  rollouts: z.number().int(),
  /** Chats: the session; a session has one trajectory for each branch. */
  sessionId: z.string().nullable(),
  /** The trajectory this one was branched from; it begins with that one's messages before seq `parentSeq`. */
  parentId: z.string().nullable(),
  parentSeq: z.number().int().nullable(),
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
  /** The score that stands for all of its rules; null when nothing scored it. */
  reward: z.number().nullable(),
  /** A person's, 1 to 5. */
  rating: z.number().int().nullable(),
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

const PARTIAL_REASONS: readonly ExitReason[] = ['max_turns', 'timeout', 'truncated', 'invalid_tool_calls', 'interrupted', 'budget_exceeded', 'empty_response'];

/** Collapses state, exit reason and discard into the five outcomes people filter by. */
export function outcomeOf(t: Pick<TrajectorySummary, 'state' | 'exitReason' | 'discardReason'>): Outcome {
  if (t.state === 'running' || t.exitReason === null) return 'running';
  if (t.discardReason !== null) return 'discarded';
  if (t.exitReason === 'completed') return 'completed';
  return PARTIAL_REASONS.includes(t.exitReason) ? 'partial' : 'failed';
}
