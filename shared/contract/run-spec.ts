import { z } from 'zod';

export const REASONING_EFFORTS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh'] as const;

/** Shapes of published datasets that the reader knows; `auto` looks at the columns. */
export const DATASET_SHAPES = ['auto', 'plain', 'gsm8k', 'humaneval', 'mbpp', 'math', 'swe_bench'] as const;
export type DatasetShape = (typeof DATASET_SHAPES)[number];

/** How the rows of a run's files are written: Hermes' tagged text, or structured tool calls in Hermes' or OpenAI's messages. */
export const TRAJECTORY_FORMATS = ['hermes', 'tool_calls', 'openai'] as const;
export type TrajectoryFormat = (typeof TRAJECTORY_FORMATS)[number];

export const RUN_SANDBOXES = ['host', 'bubblewrap'] as const;
export const PROVIDER_SORTS = ['price', 'throughput', 'latency'] as const;

/** Device names of Windows, also with an ending, and names with a dot at the end: no folder there can be called so. */
const NOT_ON_WINDOWS = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|\.$/i;

const names = z.array(z.string().trim().min(1)).max(100);

/**
 * Everything that defines a batch run: what the command line, the form and a run file (`run.yaml`) all become. Names are those of the
 * command line, in camel case.
 */
export const runSpecSchema = z.object({
  datasetFile: z.string().min(1),
  /** What the rows are like; `columns` says what no shape knows. */
  datasetShape: z.enum(DATASET_SHAPES).default('auto'),
  /** Our column (prompt, answer, tests, system, …) to the file's. */
  columns: z.record(z.string(), z.string().min(1)).default({}),
  runName: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/, 'Use letters, digits, dot, dash and underscore; start with a letter or digit; at most 100 characters.')
    .refine((name) => !NOT_ON_WINDOWS.test(name), 'Windows cannot have a folder of this name: take one that does not end in a dot and is no device name (CON, NUL, COM1, …).'),
  /** Rows of the dataset per batch_N.jsonl file. */
  batchSize: z.number().int().min(1).default(10),
  /** Attempts per row: a group. */
  rollouts: z.number().int().min(1).max(1024).default(1),
  /** Only the first N rows. */
  maxSamples: z.number().int().min(1).optional(),
  /** Provider id of Settings; ignored when `baseUrl` is given. */
  provider: z.string().default('offline'),
  model: z.string().min(1).default('offline/demo'),
  baseUrl: z.url().optional(),
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().gt(0).max(1).optional(),
  /** Of one answer. */
  maxTokens: z.number().int().min(1).optional(),
  reasoningEffort: z.enum(REASONING_EFFORTS).optional(),
  /** The same as the effort `none`. */
  reasoningDisabled: z.boolean().default(false),
  /** OpenRouter's providers. */
  providersAllowed: names.default([]),
  providersIgnored: names.default([]),
  providersOrder: names.default([]),
  providerSort: z.enum(PROVIDER_SORTS).optional(),
  openrouterMinCodingScore: z.number().min(0).max(1).optional(),
  numWorkers: z.number().int().min(1).max(512).default(4),
  maxTurns: z.number().int().min(1).max(1000).default(10),
  /** Seconds for one rollout; none when absent. */
  timeoutPerPrompt: z.number().min(1).max(604_800).optional(),
  /** US dollars for the run; it pauses there. */
  budgetUsd: z.number().positive().optional(),
  /** Stop after so many failed rollouts in a row. */
  maxFailures: z.number().int().min(1).optional(),
  distribution: z.string().min(1).default('default'),
  /** Of sampling toolsets. One is drawn and kept when absent. */
  seed: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
  sandbox: z.enum(RUN_SANDBOXES).default('host'),
  /** bubblewrap: whether commands reach the network. */
  network: z.boolean().default(true),
  /** The workspaces of rollouts stay. */
  keepWorkspaces: z.boolean().default(false),
  /** Added to the system prompt; not in trajectories. */
  ephemeralSystemPrompt: z.string().optional(),
  /** A JSON list of messages put before each conversation; not in trajectories. */
  prefillMessagesFile: z.string().min(1).optional(),
  trajectoryFormat: z.enum(TRAJECTORY_FORMATS).default('hermes'),
  /** What is left out of the files, each as `parseFilter` reads it. */
  filters: z.array(z.string().trim().min(1)).max(100).default(['no_reasoning']),
  /** How rollouts are scored, each as `parseScoreRule` reads it. */
  scoring: z.array(z.string().trim().min(1)).max(100).default([]),
  /** Folder that holds the run's own folder; the engine's default when absent. */
  outputDir: z.string().optional(),
});
export type RunSpec = z.infer<typeof runSpecSchema>;
export type RunSpecInput = z.input<typeof runSpecSchema>;
