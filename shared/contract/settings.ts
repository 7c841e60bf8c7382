import { z } from 'zod';
import { base } from './base.ts';
import { priceSchema } from './spend.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export const LANGUAGES = ['system', 'en', 'zh-CN'] as const;

export const ROUTING_SORTS = ['price', 'throughput', 'latency'] as const;
/** Which of OpenRouter's providers may answer; the names are those of their `provider` request object. */
export const routingSchema = z.object({
  order: z.array(z.string()).optional(),
  only: z.array(z.string()).optional(),
  ignore: z.array(z.string()).optional(),
  quantizations: z.array(z.string()).optional(),
  sort: z.enum(ROUTING_SORTS).optional(),
  allow_fallbacks: z.boolean().optional(),
  require_parameters: z.boolean().optional(),
  data_collection: z.enum(['allow', 'deny']).optional(),
});
export type Routing = z.infer<typeof routingSchema>;

/** What a person allows a provider, and who answers in its place; null = no limit, none. */
export const providerLimitsSchema = z.object({
  /** Tokens; for servers that do not say. */
  contextLength: z.number().nullable(),
  /** Requests at the same time. */
  concurrency: z.number().nullable(),
  requestsPerMinute: z.number().nullable(),
  tokensPerMinute: z.number().nullable(),
  /** `provider/model id` that answers when this one fails with 429, 5xx or a broken connection. */
  fallback: z.string().nullable(),
  /** For OpenRouter only. */
  routing: routingSchema.nullable(),
});
export type ProviderLimits = z.infer<typeof providerLimitsSchema>;

export const providerSchema = z.object({
  id: z.string(),
  name: z.string(),
  baseUrl: z.string(),
  /** Model to preselect. */
  defaultModel: z.string().nullable(),
  /** Where the key comes from; the key itself never leaves the engine. */
  key: z.enum(['none', 'env', 'file', 'keychain']),
  /** The environment variable that provides the key, when there is one. */
  keyEnv: z.string().nullable(),
  /** The scripted offline model: needs neither key nor network. */
  scripted: z.boolean(),
  /** Known from the start: it can be reset, not removed. */
  builtIn: z.boolean().optional(),
  limits: providerLimitsSchema,
});
export type Provider = z.infer<typeof providerSchema>;

export const settingsSchema = z.object({
  theme: z.enum(THEMES),
  language: z.enum(LANGUAGES),
  providers: z.array(providerSchema),
  /** Where keys typed into Settings are kept. */
  keyStore: z.enum(['keychain', 'file']),
  home: z.string(),
  /** Problems found in config.yaml, each with its line. */
  problems: z.array(z.string()),
});
export type Settings = z.infer<typeof settingsSchema>;

export const providerInputSchema = z.object({
  /** Absent = a new provider. */
  id: z.string().optional(),
  name: z.string().min(1).max(60),
  baseUrl: z.url(),
  defaultModel: z.string().nullable().default(null),
  /** Absent = keep, empty = forget. */
  apiKey: z.string().optional(),
  /** Absent = keep. */
  limits: providerLimitsSchema.optional(),
});

export const providerTestSchema = z.object({
  ok: z.boolean(),
  /** One sentence: what happened. */
  message: z.string(),
  /** What to do about it, when it failed. */
  hint: z.string().nullable(),
  latencyMs: z.number().nullable(),
  modelCount: z.number().int().nullable(),
});
export type ProviderTest = z.infer<typeof providerTestSchema>;

export const modelInfoSchema = z.object({
  id: z.string(),
  /** Tokens; null when the server does not say. */
  contextLength: z.number().int().nullable(),
  /** USD for a million tokens, where the list of models has prices. */
  prices: priceSchema.optional(),
});
export type ModelInfo = z.infer<typeof modelInfoSchema>;

export const LOCAL_SERVERS = ['ollama', 'lmstudio', 'vllm', 'sglang', 'llamacpp', 'other'] as const;
/** A model server that was found on this machine. */
export const localServerSchema = z.object({
  kind: z.enum(LOCAL_SERVERS),
  /** What it is called, e.g. "Ollama"; host and port for an unknown kind. */
  name: z.string(),
  baseUrl: z.string(),
  models: z.array(modelInfoSchema),
  /** It answers only with a key. */
  needsKey: z.boolean(),
  /** The provider that has this address already. */
  provider: z.string().nullable(),
});
export type LocalServer = z.infer<typeof localServerSchema>;

export const settingsContract = {
  get: base.output(settingsSchema),
  update: base.input(z.object({ theme: z.enum(THEMES).optional(), language: z.enum(LANGUAGES).optional() })).output(settingsSchema),
  saveProvider: base.input(providerInputSchema).output(settingsSchema),
  removeProvider: base.input(z.object({ id: z.string() })).output(settingsSchema),
  /** Asks the provider for its models; tells what is wrong when that fails. Takes unsaved values, so a form can be tested before saving. */
  testProvider: base
    .input(z.object({ id: z.string().optional(), baseUrl: z.url().optional(), apiKey: z.string().optional() }))
    .output(providerTestSchema),
  models: base.input(z.object({ provider: z.string() })).output(z.object({ models: z.array(modelInfoSchema) })),
  /** Asks the ports of this machine on which model servers are usually found. */
  findLocal: base.output(z.object({ servers: z.array(localServerSchema) })),
};
