import { z } from 'zod';
import { base } from './base.ts';
import { SANDBOX_KINDS } from './chats.ts';

export const toolInfoSchema = z.object({
  name: z.string(),
  description: z.string(),
  /** Why agents are not offered it although its toolset is on: what is missing and what to do. Null when it is available. */
  missing: z.string().nullable(),
});
export type ToolInfo = z.infer<typeof toolInfoSchema>;
export const toolsetInfoSchema = z.object({
  name: z.string(),
  /** For composites the toolsets they stand for; else empty. */
  parts: z.array(z.string()),
  tools: z.array(toolInfoSchema),
  /** On for new chats. A composite is on when all of its parts are. */
  enabled: z.boolean(),
});
export type ToolsetInfo = z.infer<typeof toolsetInfoSchema>;

export const sandboxInfoSchema = z.object({ kind: z.enum(SANDBOX_KINDS), missing: z.string().nullable() });
export type SandboxInfo = z.infer<typeof sandboxInfoSchema>;

/** What a person allowed for good ("always"). */
export const allowedSchema = z.object({ key: z.string(), what: z.enum(['command', 'path']), description: z.string() });
export type Allowed = z.infer<typeof allowedSchema>;

export const SEARCH_SERVICES = ['searxng', 'brave', 'tavily'] as const;
export type SearchServiceName = (typeof SEARCH_SERVICES)[number];
/** Where the key of a search service is; the key itself never leaves the engine. */
export const searchKeySchema = z.object({ source: z.enum(['none', 'env', 'file', 'keychain']), variable: z.string() });

/** How tools work in new chats. */
export const toolSettingsSchema = z.object({
  search: z.enum(SEARCH_SERVICES).nullable(),
  searxngUrl: z.string().nullable(),
  keys: z.object({ brave: searchKeySchema, tavily: searchKeySchema }),
  /** Where a key that is typed in is kept. */
  keyStore: z.enum(['keychain', 'file']),
  /** web_extract may read addresses of this machine and of private networks. */
  allowPrivate: z.boolean(),
  sandbox: z.enum(SANDBOX_KINDS),
  /** bubblewrap only. */
  network: z.boolean(),
  /** `off`: dangerous commands in chats run without asking. */
  approvals: z.enum(['manual', 'off']),
});
export type ToolSettings = z.infer<typeof toolSettingsSchema>;

const key = z.string().max(1000).optional();
export const toolSettingsInputSchema = z.object({
  search: z.enum(SEARCH_SERVICES).nullable().optional(),
  searxngUrl: z.string().max(2000).nullable().optional(),
  /** Absent = as it is, empty = forgotten. */
  braveKey: key,
  tavilyKey: key,
  allowPrivate: z.boolean().optional(),
  sandbox: z.enum(SANDBOX_KINDS).optional(),
  network: z.boolean().optional(),
  approvals: z.enum(['manual', 'off']).optional(),
});
export type ToolSettingsInput = z.input<typeof toolSettingsInputSchema>;

export const searchTestSchema = z.object({
  ok: z.boolean(),
  /** One sentence: what happened, and what to do when it failed. */
  message: z.string(),
  latencyMs: z.number().nullable(),
});
export type SearchTest = z.infer<typeof searchTestSchema>;

export const toolsContract = {
  /** `unknown`: names under `toolsets:` of config.yaml that mean nothing here. */
  list: base.output(z.object({ toolsets: z.array(toolsetInfoSchema), sandboxes: z.array(sandboxInfoSchema), unknown: z.array(z.string()) })),
  /** Switches toolsets for new chats (config.yaml `toolsets:`). INVALID for names nobody knows. */
  enable: base.input(z.object({ name: z.string(), enabled: z.boolean() })).output(z.object({ toolsets: z.array(toolsetInfoSchema) })),
  allowed: base.output(z.object({ items: z.array(allowedSchema) })),
  revoke: base.input(z.object({ key: z.string() })).output(z.object({ items: z.array(allowedSchema) })),
  /** Takes a `revoke` back. */
  allow: base.input(z.object({ key: z.string() })).output(z.object({ items: z.array(allowedSchema) })),
  settings: base.output(toolSettingsSchema),
  /** Changes what is given. INVALID with the field (`searxngUrl`, `braveKey`, `tavilyKey`). */
  configure: base.input(toolSettingsInputSchema).output(toolSettingsSchema),
  /** Searches once, with what is typed where something is, else with what is set. */
  testSearch: base
    .input(z.object({ search: z.enum(SEARCH_SERVICES), searxngUrl: z.string().max(2000).optional(), key: z.string().max(1000).optional() }))
    .output(searchTestSchema),
};
