import { z } from 'zod';
import { SANDBOX_KINDS } from '#shared/contract/chats.ts';
import { MAX_REFRESH_MINUTES, MEMORY_LIMIT_CHARS } from '#shared/contract/memory.ts';
import { REASONING_EFFORTS } from '#shared/contract/runs.ts';
import { PROPOSAL_KINDS, REVIEW_EXTRA_TOOLS } from '#shared/contract/reviews.ts';
import { LANGUAGES, THEMES } from '#shared/contract/settings.ts';
import { SEARCH_SERVICES } from '#shared/contract/tools.ts';

function oneOf<const T extends readonly [string, ...string[]]>(names: T) {
  return z.enum(names, { error: `must be one of ${names.join(', ')}` });
}

/** `ui:` of config.yaml. */
export const uiSchema = z.object({
  theme: oneOf(THEMES).default('system'),
  language: oneOf(LANGUAGES).default('system'),
});
export type UiConfig = z.infer<typeof uiSchema>;

export const PROVIDER_ID = /^[a-z0-9][a-z0-9_-]{0,39}$/;

/** What `isBaseUrl` asks for, after "The base URL must ". */
export const BASE_URL_RULE = 'begin with http:// or https:// and have no user name, password, ?query or #fragment; a key goes into its own field in Settings, into the environment variable, or into --api_key';

/**
 * Whether `text` can be the base of an OpenAI-compatible API. User names, passwords and keys in it would end up in config.yaml and in logs;
 * paths are put behind it, so that a query could not work either.
 */
export function isBaseUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return /^https?:$/.test(url.protocol) && [url.username, url.password, url.search, url.hash].every((part) => part === '');
}

const text = (max: number) => z.string({ error: 'must be text' }).trim().min(1, 'must not be empty').max(max, `must be at most ${max} characters`);

const yesNo = z.boolean({ error: 'must be true or false' });
const whole = (min: number, max: number) => z.int({ error: 'must be a whole number' }).min(min, `must be at least ${min}`).max(max, `must be at most ${max}`);
const usd = z.number({ error: 'must be a number of US dollars' }).positive('must be more than 0');
const names = (what: string) => z.array(z.string(), { error: `must be a list of ${what}` });
const part = z.number({ error: 'must be a number between 0 and 1' }).min(0.05, 'must be at least 0.05').max(0.95, 'must be at most 0.95');

/** `agent:` */
export const agentSchema = z.object({
  /** Model calls for one user turn in a chat (Hermes: `agent.max_turns`). */
  max_turns: whole(1, 1000).default(90),
  reasoning_effort: oneOf(REASONING_EFFORTS).optional(),
});

/** `compression:` */
export const compressionSchema = z.object({
  enabled: yesNo.default(true),
  /** Part of the context length at which older messages are replaced by a summary. */
  threshold: part.default(0.5),
  /** Part of the threshold that is kept of the end of the conversation. */
  target_ratio: part.default(0.2),
  protect_last_n: whole(2, 500).default(20),
  /** Writes the summaries: `provider/model id`; the chat's own model when absent. */
  model: text(200).optional(),
});

/** `approvals:` */
export const approvalsSchema = z.object({
  /** `off`: dangerous commands in chats run without asking. */
  mode: oneOf(['manual', 'off']).default('manual'),
  /** Keys of what was allowed for good. */
  allow: names('keys').default([]),
});

/** `terminal:` */
export const terminalSchema = z.object({
  sandbox: oneOf(SANDBOX_KINDS).default('host'),
  /** bubblewrap only. */
  network: yesNo.default(true),
});

/** `web:`; keys are in BRAVE_API_KEY and TAVILY_API_KEY. */
export const webSchema = z.object({
  search: oneOf(SEARCH_SERVICES).optional(),
  searxng_url: z.string({ error: 'must be text' }).refine(isBaseUrl, `must ${BASE_URL_RULE}`).optional(),
  /** Lets web_extract read addresses of this machine and of private networks. */
  allow_private: yesNo.default(false),
});

/** `vision:`; the chat's own model when absent. */
export const visionSchema = z.object({ model: text(200).optional() });

/** `chat:` */
export const chatSchema = z.object({
  /** `provider/model id` of new chats; the last one chosen when absent. */
  model: text(200).optional(),
  /** Folder that new chats work in; one of its own for each chat when absent. */
  workspace: text(4096).optional(),
  /** Titles are asked of a model. */
  titles: yesNo.default(true),
  title_model: text(200).optional(),
  /** Also append ended turns to trajectory_samples.jsonl and failed_trajectories.jsonl. */
  save_trajectories: yesNo.default(false),
  checkpoints: yesNo.default(true),
  /** Desktop notification when a chat in the background ends or asks, and when a task ends. */
  notify: yesNo.default(true),
  /** Desktop: goes on in the tray when the window is closed while agents work. */
  keep_in_tray: yesNo.default(true),
});

/** `skills:` */
export const skillsSchema = z.object({
  /** Model calls without a skill being written after which a review looks for one; 0: never. */
  creation_nudge_interval: whole(0, 10_000).default(10),
  /** Further folders with skills, read only. */
  external_dirs: names('folders').default([]),
  /** A Hermes home whose skills are read too, e.g. ~/.hermes. */
  hermes_home: text(4096).optional(),
});

/** `memory:` limits in characters. */
export const memorySchema = z.object({
  enabled: yesNo.default(true),
  nudge_interval: whole(0, 10_000).default(10),
  memory_char_limit: whole(MEMORY_LIMIT_CHARS.min, MEMORY_LIMIT_CHARS.max).default(2_200),
  user_char_limit: whole(MEMORY_LIMIT_CHARS.min, MEMORY_LIMIT_CHARS.max).default(1_375),
  /** Idle time after which a session goes on with the memory as it is then; 0: never. */
  refresh_idle_minutes: whole(0, MAX_REFRESH_MINUTES).default(60),
});

/** `review:` */
export const reviewSchema = z.object({
  enabled: yesNo.default(true),
  session_end: yesNo.default(true),
  /** `provider/model id`; the chat's own model when absent. */
  model: text(200).optional(),
  max_iterations: whole(1, 64).default(16),
  day_usd: usd.optional(),
  day_reviews: whole(1, 10_000).default(40),
  /** Tools that a review may use besides memory, skills and reading files; none of them changes anything. */
  extra_tools: z.array(oneOf(REVIEW_EXTRA_TOOLS), { error: 'must be a list of tools' }).default([]),
  /** Kinds of proposals that are applied at once; the others wait for a person. */
  apply_at_once: z.array(oneOf(PROPOSAL_KINDS), { error: 'must be a list of kinds of proposals' }).default(['memory_add', 'skill_new']),
});

/** `delegation:` */
export const delegationSchema = z.object({
  /** Children at work at the same time, in one chat. */
  max_concurrent_children: whole(1, 64).default(3),
  /** 1: children cannot delegate. */
  max_spawn_depth: whole(1, 5).default(1),
  max_iterations: whole(1, 1000).default(50),
  /** `provider/model id`; the parent's own when absent. */
  model: text(200).optional(),
  /** Seconds without a sign of life after which a child counts as stalled; 0: never. */
  stall_seconds: whole(0, 86_400).default(450),
  /** Dangerous commands of children run without asking. */
  auto_approve: yesNo.default(false),
});

/** `spend:` caps in USD. */
export const spendSchema = z.object({ session_usd: usd.optional(), run_usd: usd.optional(), day_usd: usd.optional() });

/** Sections that are one map of single values. */
export const SECTIONS = {
  ui: uiSchema,
  agent: agentSchema,
  compression: compressionSchema,
  approvals: approvalsSchema,
  terminal: terminalSchema,
  web: webSchema,
  vision: visionSchema,
  chat: chatSchema,
  skills: skillsSchema,
  memory: memorySchema,
  review: reviewSchema,
  delegation: delegationSchema,
  spend: spendSchema,
} as const;
export type Sections = { [K in keyof typeof SECTIONS]: z.infer<(typeof SECTIONS)[K]> };

const ROUTE_TEXTS = names('provider names');
/** `openrouter:` of a provider: which of OpenRouter's providers may answer (their `provider` request object). */
export const routingSchema = z.object({
  order: ROUTE_TEXTS.optional(),
  only: ROUTE_TEXTS.optional(),
  ignore: ROUTE_TEXTS.optional(),
  quantizations: names('names').optional(),
  sort: oneOf(['price', 'throughput', 'latency']).optional(),
  allow_fallbacks: yesNo.optional(),
  require_parameters: yesNo.optional(),
  data_collection: oneOf(['allow', 'deny']).optional(),
});

/** One entry of `providers:`: a provider of the person's own, or changes to one that Talaria knows. */
export const configProviderSchema = z.object({
  name: text(60).optional(),
  base_url: z
    .string({ error: 'must be text' })
    .refine(isBaseUrl, `must ${BASE_URL_RULE}`)
    .optional(),
  default_model: text(200).optional(),
  key_env: z
    .string({ error: 'must be text' })
    .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable')
    .optional(),
  /** Tokens; for servers that do not say. */
  context_length: whole(1_000, 100_000_000).optional(),
  /** Requests at the same time. */
  concurrency: whole(1, 1000).optional(),
  requests_per_minute: whole(1, 1_000_000).optional(),
  tokens_per_minute: whole(1, 1_000_000_000).optional(),
  /** `provider/model id` that answers when this one fails with 429 or 5xx. */
  fallback: text(200).optional(),
  openrouter: routingSchema.optional(),
});
export type ConfigProvider = z.infer<typeof configProviderSchema>;

export const DISTRIBUTION_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,59}$/;
const percent = z.number({ error: 'must be a number of percent' }).min(0, 'must be from 0 to 100').max(100, 'must be from 0 to 100');

/** One entry of `distributions:`, in the shape of Hermes' own table: chances of toolsets in percent, independent of each other. */
export const configDistributionSchema = z.object({
  description: text(300).optional(),
  toolsets: z
    .record(z.string().regex(/^[a-z][a-z0-9_-]{0,59}$/, 'must be the name of a toolset'), percent, { error: 'must be toolsets with their chance in percent' })
    .refine((toolsets) => Object.values(toolsets).some((chance) => chance > 0), 'must have a toolset with a chance above 0')
    .refine((toolsets) => Object.keys(toolsets).length <= 50, 'must be at most 50 toolsets'),
});
export type ConfigDistribution = z.infer<typeof configDistributionSchema>;
