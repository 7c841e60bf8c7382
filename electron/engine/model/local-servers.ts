import type { LocalServer } from '#shared/contract/settings.ts';
import { isRecord, parseJson } from './json.ts';
import { kindOfList, withDetails } from './model-details.ts';
import { modelsIn } from './model-list.ts';
import { get, type Probe, type ProbeAnswer, type ProbeOptions } from './probe-request.ts';
import { LOCAL_PORTS, type ServerKind } from './server-kind.ts';

export type FoundServer = Omit<LocalServer, 'provider'>;

/** Where model servers are usually found: those that are known here, then Jan, text-generation-webui, KoboldCpp, GPT4All and second servers. */
export const PROBED_PORTS: readonly number[] = [...Object.values(LOCAL_PORTS), 1337, 5000, 5001, 4891, 8001, 8081];
const PROBE_TIMEOUT_MS = 1500;

const NAMES = { ollama: 'Ollama', lmstudio: 'LM Studio', vllm: 'vLLM', sglang: 'SGLang', llamacpp: 'llama.cpp' } as const;
type LocalKind = keyof typeof NAMES;

/** Paths that only one kind of server answers, and what in the answer shows it. */
const SIGNS: readonly (readonly [kind: LocalKind, path: string, shows: (value: unknown) => boolean])[] = [
  ['ollama', 'api/version', (value) => isRecord(value) && typeof value.version === 'string'],
  ['lmstudio', 'api/v0/models', (value) => isRecord(value) && Array.isArray(value.data)],
  ['llamacpp', 'props', (value) => isRecord(value) && ('default_generation_settings' in value || 'chat_template' in value)],
  ['sglang', 'get_model_info', (value) => isRecord(value) && 'model_path' in value],
  ['vllm', 'version', (value) => isRecord(value) && typeof value.version === 'string'],
];

/**
 * The model servers that answer on this machine, in the order of `ports`: what they are, where, and their models. All are asked at
 * the same time and for a short while; nothing leaves the machine, no key is sent. Throws only when the signal is aborted.
 */
export async function findLocalServers(signal?: AbortSignal, more: ProbeOptions & { ports?: readonly number[] } = {}): Promise<FoundServer[]> {
  const { ports = PROBED_PORTS, timeoutMs = PROBE_TIMEOUT_MS, ...rest } = more;
  const options: Probe = { ...rest, timeoutMs, signal, redirect: 'manual' };
  const found = await Promise.all([...new Set(ports)].map((port) => serverAt(port, options)));
  signal?.throwIfAborted();
  return found.filter((server) => server !== null);
}

async function serverAt(port: number, options: Probe): Promise<FoundServer | null> {
  const origin = `http://127.0.0.1:${port}`;
  const baseUrl = `${origin}/v1`;
  const ask = (url: string, path: string): Promise<ProbeAnswer | null> => get(url, path, { baseUrl, apiKey: null }, options).catch(() => null);
  const answer = await ask(baseUrl, 'models');
  if (answer === null) return null;
  const needsKey = (answer.status === 401 || answer.status === 403) && isRecord(parseJson(answer.text));
  const models = modelsIn(answer);
  if (models === null && !needsKey) return null;
  const owner = kindOfList(models ?? []);
  const kind = owner !== null && isLocal(owner) ? owner : await kindBySigns(origin, ask);
  const detailed = await withDetails(models ?? [], { baseUrl, apiKey: null }, options, kind ?? 'unknown');
  return { kind: kind ?? 'other', name: kind === null ? `127.0.0.1:${port}` : NAMES[kind], baseUrl, models: detailed, needsKey };
}

function isLocal(kind: ServerKind): kind is LocalKind {
  return kind in NAMES;
}

async function kindBySigns(origin: string, ask: (url: string, path: string) => Promise<ProbeAnswer | null>): Promise<LocalKind | null> {
  const shown = await Promise.all(
    SIGNS.map(async ([kind, path, shows]) => {
      const answer = await ask(origin, path);
      return answer?.status === 200 && shows(parseJson(answer.text)) ? kind : null;
    }),
  );
  return shown.find((kind) => kind !== null) ?? null;
}
