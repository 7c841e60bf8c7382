import type { ModelInfo } from '#shared/contract/settings.ts';
import { isRecord, parseJson, textOf, type JsonRecord } from './json.ts';
import { tokens, type ListedModel } from './model-list.ts';
import { get, type Probe, type ProbedEndpoint } from './probe-request.ts';
import { serverKindOf, type ServerKind } from './server-kind.ts';

const DETAIL_TIMEOUT_MS = 3000;
/** Ollama is asked for each model by itself. */
const MAX_ASKED_MODELS = 40;

/** What local servers put into `owned_by` of their list of models. */
const OWNERS: Readonly<Record<string, ServerKind>> = { vllm: 'vllm', sglang: 'sglang', llamacpp: 'llamacpp', library: 'ollama', organization_owner: 'lmstudio', 'organization-owner': 'lmstudio' };

/** Context lengths by model id; the one under `*` holds for all. */
type Lengths = Map<string, number>;

/** The kind of server that a list of models gives away; null when it does not. */
export function kindOfList(models: readonly ListedModel[]): ServerKind | null {
  return models.map(({ owner }) => OWNERS[owner]).find((kind) => kind !== undefined) ?? null;
}

/**
 * The list with the context lengths that local servers tell elsewhere. Sources, read in 2026:
 * - llama.cpp: `GET /props`, `default_generation_settings.n_ctx`; its list has only what the model was trained with (tools/server/README.md).
 * - LM Studio: `GET /api/v0/models`, `loaded_context_length`, else `max_context_length` (lmstudio.ai/docs/developer/rest).
 * - Ollama: `GET /api/ps`, `context_length` of what is loaded; else `POST /api/show`, the parameter `num_ctx`, else
 *   `model_info.*.context_length` (docs.ollama.com/api).
 * What is not answered in time is left as it is; never throws but for an aborted signal.
 */
export async function withDetails(models: readonly ListedModel[], endpoint: ProbedEndpoint, options: Probe, known?: ServerKind): Promise<ModelInfo[]> {
  const kind = known ?? kindOfList(models) ?? serverKindOf({ provider: '', baseUrl: endpoint.baseUrl });
  const ask = async (path: string, body?: unknown): Promise<JsonRecord> => {
    const timeoutMs = Math.min(options.timeoutMs ?? DETAIL_TIMEOUT_MS, DETAIL_TIMEOUT_MS);
    const answer = await get(new URL(endpoint.baseUrl).origin, path, endpoint, { ...options, timeoutMs }, body).catch(() => null);
    const value = answer?.status === 200 ? parseJson(answer.text) : null;
    return isRecord(value) ? value : {};
  };
  const lengths = await lengthsOf(kind, models.map(({ id }) => id), ask);
  options.signal?.throwIfAborted();
  return models.map(({ owner: _, ...model }) => ({ ...model, contextLength: lengths.get(model.id) ?? lengths.get('*') ?? model.contextLength }));
}

type Ask = (path: string, body?: unknown) => Promise<JsonRecord>;

async function lengthsOf(kind: ServerKind, ids: readonly string[], ask: Ask): Promise<Lengths> {
  if (kind === 'llamacpp') {
    const { default_generation_settings: settings } = await ask('props');
    return new Map(isRecord(settings) ? lengthEntry('*', settings.n_ctx) : []);
  }
  if (kind === 'lmstudio') {
    const { data } = await ask('api/v0/models');
    return new Map(records(data).flatMap((item) => lengthEntry(textOf(item.id), item.loaded_context_length ?? item.max_context_length)));
  }
  return kind === 'ollama' ? await ollamaLengths(ids, ask) : new Map();
}

async function ollamaLengths(ids: readonly string[], ask: Ask): Promise<Lengths> {
  const shown = Promise.all(ids.slice(0, MAX_ASKED_MODELS).map(async (id) => [id, await ask('api/show', { model: id })] as const));
  const loaded = records((await ask('api/ps')).models);
  const lengths: Lengths = new Map();
  for (const [id, details] of await shown) {
    const set = /^num_ctx\s+(\d+)/m.exec(textOf(details.parameters))?.[1];
    const info = isRecord(details.model_info) ? details.model_info : {};
    const own = Object.entries(info).find(([key]) => key.endsWith('.context_length'))?.[1];
    for (const [, length] of lengthEntry(id, set === undefined ? own : Number(set))) lengths.set(id, length);
  }
  for (const item of loaded) for (const [id, length] of lengthEntry(textOf(item.name) || textOf(item.model), item.context_length)) lengths.set(id, length);
  return lengths;
}

function lengthEntry(id: string, value: unknown): [string, number][] {
  const length = tokens(value);
  return id === '' || length === null ? [] : [[id, length]];
}

function records(value: unknown): JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
