import { z } from 'zod';
import { LANGUAGES, THEMES } from '#shared/contract/settings.ts';

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
});
export type ConfigProvider = z.infer<typeof configProviderSchema>;
