import { z } from 'zod';
import { base } from './base.ts';

export const THEMES = ['system', 'light', 'dark'] as const;
export const LANGUAGES = ['system', 'en', 'zh-CN'] as const;

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

/** `contextLength` in tokens; null when the server does not say. */
export const modelInfoSchema = z.object({ id: z.string(), contextLength: z.number().int().nullable() });
export type ModelInfo = z.infer<typeof modelInfoSchema>;

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
};
