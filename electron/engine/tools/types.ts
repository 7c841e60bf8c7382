import type { Todo } from '#shared/contract/chats.ts';
import type { Attachment, ToolSpec } from '#shared/trajectory.ts';
import type { Sandbox } from '../sandbox/types.ts';

/** Something dangerous or outside the workspace that a person must allow. */
export interface ApprovalRequest {
  what: 'command' | 'path' | 'skill';
  /** The command line or the absolute path. */
  subject: string;
  /** Why it is asked, a sentence. */
  reason: string;
  /** What "session" and "always" remember: the rule of a command, the folder of a path. */
  key: string;
  /** `key` in words for a person. */
  scope: string;
}

/** True when the person allowed it. Rejects with the signal's reason when the run is interrupted meanwhile. */
export type ApproveHook = (request: ApprovalRequest, callId: string, signal: AbortSignal) => Promise<boolean>;

export interface SessionHit {
  sessionId: string | null;
  trajectoryId: string;
  title: string;
  /** Epoch ms. */
  when: number;
  excerpts: { role: string; seq: number; text: string }[];
}

/** What tools need of the engine; what is absent makes the tools that need it hide themselves. */
export interface ToolServices {
  /** Asks the person; null when they do not want to answer. */
  ask?: (question: { question: string; choices: string[] }, callId: string, signal: AbortSignal) => Promise<string | null>;
  todos?: { read(): readonly Todo[]; write(todos: readonly Todo[]): void };
  /** Empty query: the latest sessions. The session that asks is left out. */
  searchSessions?: (input: { query: string; limit: number; roles: readonly string[] | null }, signal: AbortSignal) => Promise<SessionHit[]>;
  web?: WebService;
  /** Answers a question about a picture. */
  vision?: (image: { bytes: Uint8Array; mime: string }, question: string, signal: AbortSignal) => Promise<string>;
  /** Keeps a picture so that the page can show it with the result. */
  keepPicture?: (bytes: Uint8Array, mime: string, name: string) => Promise<Attachment>;
  /** Skills as one agent sees them; what they answer is the result that the model reads. They throw ToolError. */
  skills?: SkillTools;
  memory?: MemoryTools;
  delegation?: DelegationTools;
  /** Called before a tool changes files, with what is about to happen in short: makes the checkpoint of this turn. Never throws. */
  beforeChange?: (reason: string) => Promise<void>;
}

type Answer = Record<string, unknown>;

export interface SkillTools {
  list(input: { category: string | null }): Promise<Answer>;
  view(input: { name: string; filePath: string | null }): Promise<Answer>;
  /** Absent where skills must not be changed. With the context it can ask the person for what is theirs. `input` as the model gave it, checked for types only. */
  manage?: (input: SkillChange, context: ToolContext) => Promise<Answer>;
}

/** One call of skill_manage. */
export interface SkillChange {
  action: 'create' | 'patch' | 'edit' | 'delete' | 'write_file' | 'remove_file';
  name: string;
  category?: string | undefined;
  content?: string | undefined;
  oldString?: string | undefined;
  newString?: string | undefined;
  replaceAll?: boolean | undefined;
  filePath?: string | undefined;
  fileContent?: string | undefined;
  reason?: string | undefined;
  /** create: there is something like it, and this is another thing all the same. */
  allowSimilar?: boolean | undefined;
}

export interface MemoryTools {
  /** `input` as the model gave it: single operations and lists of them, names as other harnesses call them. */
  call(input: Answer): Promise<Answer>;
}

export interface DelegationTools {
  /** Starts children for these tasks and answers with their results, or with a handle in the background. `input` as the model gave it. */
  spawn(tool: 'spawn_agent' | 'spawn_parallel' | 'delegate_task', input: Answer, context: ToolContext): Promise<Answer>;
}

export interface WebService {
  /** Absent when no search service is set up. Throws ToolError. */
  readonly search?: ((query: string, limit: number, signal: AbortSignal) => Promise<{ title: string; url: string; snippet: string }[]>) | undefined;
  /** Why `search` is absent and what to do; null when it is there. */
  readonly searchMissing: string | null;
  /** The readable text of a page; `url` is the address after redirects. Throws ToolError for what cannot be read. */
  extract: (url: string, signal: AbortSignal) => Promise<{ url: string; title: string; markdown: string }>;
  /** Bytes behind a web address, by the same rules of which addresses may be read. Throws ToolError, also when there are more than `maxBytes`. */
  download: (url: string, maxBytes: number, signal: AbortSignal) => Promise<{ url: string; bytes: Uint8Array }>;
}

export interface ToolContext {
  sandbox: Sandbox;
  /** The call that is run. */
  callId: string;
  approve?: ApproveHook;
  services: ToolServices;
  signal: AbortSignal;
  /** Per-rollout scratch for tools that remember (e.g. repeated reads), keyed by tool. */
  state: Map<string, unknown>;
  /** Shows a picture beside the result. */
  show: (picture: Attachment) => void;
  /** Live output for display; never stored. */
  onOutput: (text: string) => void;
}

/**
 * A tool that a model may call. `run` gets arguments that were parsed as a JSON object and validated by the tool itself,
 * and answers with the text the model sees (mostly JSON). It does not throw for bad arguments or failed work: those are
 * results with an error. What it throws is a defect, and is turned into an error result by the registry.
 */
export interface Tool {
  readonly spec: ToolSpec;
  readonly toolset: string;
  /** Runs beside other calls of the same turn: always, never, or when paths differ. */
  readonly parallel: 'safe' | 'by_path' | 'never';
  /** Names by which models know it from elsewhere, where the arguments (null when they are no object) fit it: such a call is renamed to this tool. */
  answersTo?(name: string, args: Record<string, unknown> | null): boolean;
  /** A sentence when something it needs is missing: models are then not offered it, and Settings says why. */
  missing?(services: ToolServices): string | null;
  /** The path a `by_path` call touches, relative to the workspace; null when it is several or unknown: the call then runs alone. */
  pathOf?(args: Record<string, unknown>): string | null;
  run(args: Record<string, unknown>, context: ToolContext): Promise<string>;
}

/** The tools of one rollout. */
export interface ToolRegistry {
  readonly specs: readonly ToolSpec[];
  get(name: string): Tool | undefined;
}
