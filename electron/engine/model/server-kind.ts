import type { Endpoint } from './types.ts';
import { hostOf } from './place.ts';

/** Servers whose dialect of the OpenAI API is known to differ. */
export type ServerKind = 'openrouter' | 'openai' | 'nous' | 'ollama' | 'lmstudio' | 'vllm' | 'sglang' | 'llamacpp' | 'deepseek' | 'moonshot' | 'zai' | 'mistral' | 'groq' | 'google' | 'unknown';

const BY_HOST: readonly (readonly [suffix: string, kind: ServerKind])[] = [
  ['openrouter.ai', 'openrouter'],
  ['api.openai.com', 'openai'],
  ['nousresearch.com', 'nous'],
  ['api.deepseek.com', 'deepseek'],
  ['moonshot.ai', 'moonshot'],
  ['moonshot.cn', 'moonshot'],
  ['api.z.ai', 'zai'],
  ['open.bigmodel.cn', 'zai'],
  ['api.mistral.ai', 'mistral'],
  ['api.groq.com', 'groq'],
  ['generativelanguage.googleapis.com', 'google'],
];
const LOCAL: ReadonlySet<string> = new Set(['ollama', 'lmstudio', 'vllm', 'sglang', 'llamacpp'] satisfies ServerKind[]);

/** Ports that the local servers take unless told otherwise; elsewhere they say nothing. */
export const LOCAL_PORTS = { ollama: 11_434, lmstudio: 1234, vllm: 8000, sglang: 30_000, llamacpp: 8080 } as const satisfies Partial<Record<ServerKind, number>>;

/**
 * What serves an endpoint, as far as that can be told without asking: by the host of hosted services, by the provider's id
 * (`vllm`, `vllm-2`…) or else by its usual port for local ones.
 */
export function serverKindOf({ provider, baseUrl }: Pick<Endpoint, 'provider' | 'baseUrl'>): ServerKind {
  const host = hostOf(baseUrl);
  const hosted = BY_HOST.find(([suffix]) => host === suffix || host.endsWith(`.${suffix}`));
  if (hosted !== undefined) return hosted[1];
  const named = provider.replace(/-\d+$/, '');
  if (LOCAL.has(named)) return named as ServerKind;
  const port = URL.canParse(baseUrl) ? Number(new URL(baseUrl).port) : Number.NaN;
  const usual = Object.entries(LOCAL_PORTS).find(([, number]) => number === port);
  // 8000 and 8080 are anybody's.
  return usual !== undefined && port !== 8000 && port !== 8080 ? (usual[0] as ServerKind) : 'unknown';
}
