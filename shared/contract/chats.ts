import { eventIterator } from '@orpc/contract';
import { z } from 'zod';
import { attachmentSchema, exitReasonSchema } from '../trajectory.ts';
import { base } from './base.ts';
import { REASONING_EFFORTS } from './runs.ts';

export const SESSION_STATES = ['idle', 'running', 'asking'] as const;
export const SANDBOX_KINDS = ['host', 'bubblewrap'] as const;

/** What a list shows of a chat. */
export const sessionSummarySchema = z.object({
  id: z.string(),
  /** Empty until there is one. */
  title: z.string(),
  provider: z.string(),
  model: z.string(),
  /** `asking`: it waits for the person. */
  state: z.enum(SESSION_STATES),
  /** What a running one does, in a few words ("thinking", "terminal pytest -q"). */
  activity: z.string().nullable(),
  /** When its turn began, while it runs or asks. */
  turnStartedAt: z.number().nullable().optional(),
  /** How the last turn ended; null while none has. */
  exitReason: exitReasonSchema.nullable(),
  error: z.string().nullable(),
  /** A task of the background (see tasks.ts), in which nobody is asked; what a person says in it makes a chat of it. */
  background: z.boolean().optional(),
  /** Sub-agents that work for it or wait for a place; absent: none. */
  agents: z.number().int().optional(),
  /** It ended or asked while nobody watched. */
  unread: z.boolean(),
  pinned: z.boolean(),
  archived: z.boolean(),
  hasDraft: z.boolean(),
  messageCount: z.number().int(),
  /** Priced calls of all branches; null when no call has a known price. */
  costUsd: z.number().nullable(),
  createdAt: z.number(),
  updatedAt: z.number(),
});
export type SessionSummary = z.infer<typeof sessionSummarySchema>;

/** What a person chooses for a session; changes hold from the next model call on. */
export const sessionSettingsSchema = z.object({
  provider: z.string(),
  model: z.string().min(1),
  reasoningEffort: z.enum(REASONING_EFFORTS).nullable(),
  toolsets: z.array(z.string()),
  /** Absolute folder that tools work in; given as an empty text: a folder of its own. */
  workspace: z.string(),
  sandbox: z.enum(SANDBOX_KINDS),
  maxTurns: z.number().int().min(1).max(1000),
});
export type SessionSettings = z.infer<typeof sessionSettingsSchema>;

/** Something the agent waits for. */
export const questionSchema = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('approval'),
    id: z.string(),
    callId: z.string(),
    what: z.enum(['command', 'path', 'skill']),
    /** The command line, the path, or the file of a skill. */
    subject: z.string(),
    /** Why it is asked. */
    reason: z.string(),
    /** What "session" and "always" would allow, in words. */
    scope: z.string(),
    askedAt: z.number(),
  }),
  z.object({ kind: z.literal('clarify'), id: z.string(), callId: z.string(), question: z.string(), choices: z.array(z.string()), askedAt: z.number() }),
]);
export type Question = z.infer<typeof questionSchema>;

export const APPROVALS = ['once', 'session', 'always', 'deny'] as const;
export const answerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('approval'), choice: z.enum(APPROVALS) }),
  /** `text` null: the person does not want to answer. */
  z.object({ kind: z.literal('clarify'), text: z.string().nullable() }),
]);
export type Answer = z.infer<typeof answerSchema>;

export const TODO_STATES = ['pending', 'in_progress', 'completed', 'cancelled'] as const;
export const todoSchema = z.object({ id: z.string(), content: z.string(), status: z.enum(TODO_STATES) });
export type Todo = z.infer<typeof todoSchema>;

/** Tokens of the next request, by what they are; estimated unless `measured`. */
export const contextMeterSchema = z.object({
  system: z.number().int(),
  tools: z.number().int(),
  messages: z.number().int(),
  total: z.number().int(),
  /** The model's context length; null when it is not known. */
  limit: z.number().int().nullable(),
  /** Where compression begins, tokens; null when it is off or the limit is unknown. */
  compressAt: z.number().int().nullable(),
  /** `total` is what the provider counted at the last call. */
  measured: z.boolean(),
});
export type ContextMeter = z.infer<typeof contextMeterSchema>;

export const SPEND_PURPOSES = ['chat', 'batch', 'compression', 'titles', 'vision', 'web', 'review', 'delegation', 'trial'] as const;
export const spendPurposeSchema = z.enum(SPEND_PURPOSES);
export type SpendPurpose = z.infer<typeof spendPurposeSchema>;
export const spendLineSchema = z.object({
  purpose: spendPurposeSchema,
  calls: z.number().int(),
  tokens: z.number(),
  /** Of the calls whose price is known. */
  costUsd: z.number(),
  /** Tokens of calls without a known price. */
  unpricedTokens: z.number(),
});
export type SpendLine = z.infer<typeof spendLineSchema>;

/** `continues`: the same conversation under a newer system prompt; its parent has nothing beyond `parentSeq`. */
export const branchSchema = z.object({ trajectoryId: z.string(), parentId: z.string().nullable(), parentSeq: z.number().int().nullable(), model: z.string(), createdAt: z.number(), continues: z.boolean().optional() });
export type Branch = z.infer<typeof branchSchema>;

export const queuedMessageSchema = z.object({
  id: z.string(),
  text: z.string(),
  attachments: z.array(attachmentSchema),
  /** It goes before the next model call of the running turn; else it becomes a turn of its own. */
  steer: z.boolean().optional(),
});
export type QueuedMessage = z.infer<typeof queuedMessageSchema>;

export const backgroundProcessSchema = z.object({
  id: z.string(),
  command: z.string(),
  running: z.boolean(),
  exitCode: z.number().int().nullable(),
  startedAt: z.number(),
});
export type BackgroundProcessInfo = z.infer<typeof backgroundProcessSchema>;

/** Everything that is shown of an open session besides its messages. Small: it is sent whole on each change. */
export const sessionStateSchema = z.object({
  session: sessionSummarySchema,
  settings: sessionSettingsSchema,
  /** The trajectory (branch) that is shown; null before the first message. */
  tip: z.string().nullable(),
  branches: z.array(branchSchema),
  queue: z.array(queuedMessageSchema),
  question: questionSchema.nullable(),
  todos: z.array(todoSchema),
  context: contextMeterSchema.nullable(),
  spend: z.array(spendLineSchema),
  /** Output tokens per second of the running or last answer; null before one. */
  tokensPerSecond: z.number().nullable(),
  /** A failed call is made again at this time. */
  retry: z.object({ at: z.number(), message: z.string() }).nullable(),
  compressing: z.boolean(),
  turnStartedAt: z.number().nullable(),
  processes: z.array(backgroundProcessSchema),
  draft: z.object({ text: z.string(), attachments: z.array(attachmentSchema) }),
  /** Checkpoints that can be gone back to; null with `checkpointsOff` saying why there are none. */
  checkpoints: z.number().int(),
  checkpointsOff: z.string().nullable(),
});
export type SessionState = z.infer<typeof sessionStateSchema>;

export const checkpointSchema = z.object({ id: z.string(), reason: z.string(), createdAt: z.number(), files: z.number().int() });
export type Checkpoint = z.infer<typeof checkpointSchema>;

const id = z.object({ id: z.string() });
const newText = z.object({ text: z.string().max(4_000_000), attachments: z.array(attachmentSchema).max(20).default([]) });

export const chatsContract = {
  /** Newest first by last activity; pinned ones are not put first here. Sessions without a message and without a draft are left out. */
  list: base
    .input(z.object({ query: z.string().max(500).optional(), archived: z.boolean().default(false), /** Only these. */ pinned: z.boolean().optional(), before: z.object({ updatedAt: z.number(), id: z.string() }).optional(), limit: z.number().int().min(1).max(200).default(60) }))
    .output(z.object({ items: z.array(sessionSummarySchema), more: z.boolean() })),
  /** Sessions as they change, at most 4 times a second; `removed` also when one was deleted. */
  changes: base.output(eventIterator(z.object({ changed: z.array(sessionSummarySchema), removed: z.array(z.string()) }))),
  /** What is left out is as config.yaml says; provider and model else as in the last session, the workspace a folder of its own. */
  create: base.input(sessionSettingsSchema.partial()).output(sessionStateSchema),
  get: base.input(id).output(sessionStateSchema),
  /** The state now, then on every change, at most 10 times a second. Watching marks the session as read. */
  watch: base.input(id).output(eventIterator(sessionStateSchema)),
  configure: base.input(id.extend({ settings: sessionSettingsSchema.partial() })).output(sessionStateSchema),
  /**
   * While the agent works: `queue` sends it after this turn, `steer` puts it before the next model call. What is queued goes on by itself
   * after a turn that ended by itself; after an interrupt, a failure or a restart it waits: sending an empty text then sends the first one.
   */
  send: base.input(id.extend({ ...newText.shape, whenBusy: z.enum(['queue', 'steer']).default('queue') })).output(z.object({ state: z.enum(['started', 'queued', 'steering']), trajectoryId: z.string().nullable() })),
  unqueue: base.input(id.extend({ itemId: z.string() })).output(sessionStateSchema),
  /** Interrupts model call, tools and waiting; resolves when the turn has ended. */
  stop: base.input(id).output(sessionStateSchema),
  /** Ends a background process with what it started; NOT_FOUND when there is none of that id. */
  killProcess: base.input(id.extend({ processId: z.string() })).output(sessionStateSchema),
  answer: base.input(id.extend({ questionId: z.string(), answer: answerSchema })).output(z.object({})),
  /** Says the user message at `seq` anew: a new branch that shares everything before it. */
  edit: base.input(id.extend({ seq: z.number().int(), ...newText.shape })).output(z.object({ trajectoryId: z.string() })),
  /** Answers the last user message again on a new branch, with another model when given; the session then goes on with that one. */
  retry: base.input(id.extend({ provider: z.string().optional(), model: z.string().optional() })).output(z.object({ trajectoryId: z.string() })),
  /** Goes back before the last user message, on a new branch (`tip` null before the first one); answers with its text for the composer. Like edit, retry and branch CONFLICT while the agent works. */
  undo: base.input(id).output(z.object({ text: z.string(), attachments: z.array(attachmentSchema) })),
  branch: base.input(id.extend({ trajectoryId: z.string() })).output(sessionStateSchema),
  /** A new session with the messages up to and with `seq` (all when left out); it works in the same folder. */
  fork: base.input(id.extend({ seq: z.number().int().optional() })).output(sessionStateSchema),
  /** Replaces older messages by a summary, after the turn that runs; `stop` ends it. Says in words when there is nothing to gain. */
  compress: base.input(id.extend({ focus: z.string().max(2_000).optional() })).output(z.object({ message: z.string(), tokensBefore: z.number(), tokensAfter: z.number() })),
  draft: base.input(id.extend({ text: z.string().max(4_000_000), attachments: z.array(attachmentSchema) })).output(z.object({})),
  rename: base.input(id.extend({ title: z.string().trim().min(1).max(200) })).output(sessionSummarySchema),
  mark: base.input(id.extend({ pinned: z.boolean().optional(), archived: z.boolean().optional() })).output(sessionSummarySchema),
  /** Hides it with its trajectories; `restore` brings it back until it is purged at a later start (after 30 days). */
  remove: base.input(id).output(z.object({})),
  restore: base.input(id).output(sessionSummarySchema),
  /** Brings a file in pieces (base64, at most 1 MiB decoded each; 50 MB in all); the last piece answers with the attachment. */
  attach: base
    .input(z.object({ uploadId: z.string().optional(), name: z.string().min(1).max(255), mime: z.string().max(100), chunk: z.string(), last: z.boolean() }))
    .output(z.object({ uploadId: z.string(), attachment: attachmentSchema.nullable() })),
  /** The bytes of a picture, base64. NOT_FOUND when it is gone; INVALID for what is no picture. */
  picture: base.input(z.object({ id: z.string() })).output(z.object({ mime: z.string(), data: z.string() })),
  checkpoints: base.input(id).output(z.object({ items: z.array(checkpointSchema) })),
  /** What going back would change, as a unified diff from now to then. */
  checkpointDiff: base.input(id.extend({ checkpointId: z.string() })).output(z.object({ diff: z.string(), truncated: z.boolean(), files: z.array(z.object({ path: z.string(), change: z.enum(['added', 'removed', 'changed']) })) })),
  /** Goes back; what was there becomes a checkpoint itself. CONFLICT while the agent or sub-agents of the chat work. */
  rollback: base.input(id.extend({ checkpointId: z.string() })).output(z.object({ undoId: z.string(), files: z.number().int() })),
};
