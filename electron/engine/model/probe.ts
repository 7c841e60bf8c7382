import type { ModelInfo, ProviderTest } from '#shared/contract/settings.ts';
import { abortedError, looksLikeHtml, networkCode, networkSentence, providerText, statusFault } from './faults.ts';
import { isRecord, parseJson, textOf } from './json.ts';
import { OFFLINE_BASE_URL, OFFLINE_MODEL } from './providers.ts';
import { ModelError, type Endpoint } from './types.ts';
import { hostOf, placeOf } from './wire.ts';

export type ProbedEndpoint = Pick<Endpoint, 'baseUrl' | 'apiKey'>;

export interface ProbeOptions {
  /** For one request; default 10 s. */
  timeoutMs?: number;
  now?: () => number;
  fetch?: typeof fetch;
}

type Probe = ProbeOptions & { signal: AbortSignal | undefined };

interface Answer {
  status: number;
  text: string;
  headers: Headers;
  latencyMs: number;
}

const DEFAULT_TIMEOUT_MS = 10_000;
/** The names under which OpenRouter, Groq, vLLM, LM Studio and others tell the context length. */
const CONTEXT_FIELDS = ['context_length', 'context_window', 'max_model_len', 'max_context_length', 'max_input_tokens', 'n_ctx', 'n_ctx_train'];

/** The models of an endpoint by `GET /models`, sorted by id. Throws a ModelError that says what is wrong. */
export async function listModels(endpoint: ProbedEndpoint, signal?: AbortSignal, more: ProbeOptions = {}): Promise<ModelInfo[]> {
  if (endpoint.baseUrl === OFFLINE_BASE_URL) return [{ id: OFFLINE_MODEL, contextLength: null }];
  const options: Probe = { ...more, signal };
  const answer = await get(endpoint.baseUrl, 'models', endpoint, options);
  const models = modelsIn(answer);
  if (models !== null) return models;
  throw faultOf(answer, endpoint, options);
}

/**
 * Asks an endpoint for its models and says in words what came of it: a wrong address, a missing or refused key, a server
 * that is not OpenAI-compatible, a base URL without /v1 (which is tried), or how many models there are. Never throws.
 */
export async function testEndpoint(endpoint: ProbedEndpoint, signal?: AbortSignal, more: ProbeOptions = {}): Promise<ProviderTest> {
  const { baseUrl } = endpoint;
  const options: Probe = { ...more, signal };
  if (baseUrl === OFFLINE_BASE_URL) {
    return { ok: true, message: 'The scripted demo model is built in and always there.', hint: null, latencyMs: 0, modelCount: 1 };
  }
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    return failed('The base URL is not a web address.', 'Write it like https://host/v1.');
  }
  try {
    const answer = await get(baseUrl, 'models', endpoint, options);
    const models = modelsIn(answer);
    if (models === null) return await explain(answer, endpoint, options);
    const refusal = await keyRefusal(endpoint, options);
    if (refusal !== null) return { ...refusal, latencyMs: answer.latencyMs };
    const counted = models.length === 1 ? '1 model' : `${models.length} models`;
    return { ok: true, message: `${placeOf(baseUrl)} answered: ${counted}.`, hint: null, latencyMs: answer.latencyMs, modelCount: models.length };
  } catch (thrown) {
    if (!(thrown instanceof ModelError)) throw thrown;
    return failed(thrown.message, networkHint(thrown, baseUrl));
  }
}

async function get(baseUrl: string, path: string, endpoint: ProbedEndpoint, options: Probe): Promise<Answer> {
  const { timeoutMs = DEFAULT_TIMEOUT_MS, now = Date.now, fetch: send = fetch, signal } = options;
  const startedAt = now();
  const headers: Record<string, string> = { accept: 'application/json' };
  if (endpoint.apiKey !== null && endpoint.apiKey !== '') headers.authorization = `Bearer ${endpoint.apiKey}`;
  const once = async (): Promise<Answer> => {
    const limit = AbortSignal.timeout(timeoutMs);
    const response = await send(`${baseUrl.replace(/\/+$/, '')}/${path}`, { headers, signal: signal ? AbortSignal.any([limit, signal]) : limit });
    const text = await response.text();
    return { status: response.status, text, headers: response.headers, latencyMs: Math.max(0, Math.round(now() - startedAt)) };
  };
  try {
    // A kept-alive socket of a server that has since gone or restarted says nothing about the server now: ask again.
    return await once().catch((thrown: unknown) => (networkCode(thrown) === 'UND_ERR_SOCKET' ? once() : Promise.reject(thrown)));
  } catch (thrown) {
    if (signal?.aborted === true) throw abortedError();
    const timedOut = thrown instanceof Error && thrown.name === 'TimeoutError';
    const context = { endpoint: { ...endpoint, model: '' }, midAnswer: false };
    throw new ModelError(...networkSentence(timedOut ? 'ETIMEDOUT' : networkCode(thrown), context));
  }
}

/** The models in an answer; null when it is not a list of models. */
function modelsIn(answer: Answer): ModelInfo[] | null {
  if (answer.status < 200 || answer.status > 299) return null;
  const value = parseJson(answer.text);
  const list: unknown = Array.isArray(value) ? value : isRecord(value) ? (value.data ?? value.models) : null;
  if (!Array.isArray(list)) return null;
  const models = list.flatMap((item: unknown): ModelInfo[] => {
    if (!isRecord(item)) return [];
    const id = textOf(item.id) || textOf(item.name);
    return id === '' ? [] : [{ id, contextLength: contextLengthOf(item) }];
  });
  return models.toSorted((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0));
}

function contextLengthOf(item: Record<string, unknown>): number | null {
  for (const source of [item, item.top_provider, item.meta]) {
    if (!isRecord(source)) continue;
    for (const field of CONTEXT_FIELDS) {
      const value = source[field];
      if (typeof value === 'number' && Number.isInteger(value) && value > 0) return value;
    }
  }
  return null;
}

async function explain(answer: Answer, endpoint: ProbedEndpoint, options: Probe): Promise<ProviderTest> {
  const { baseUrl, apiKey } = endpoint;
  const { status, text, latencyMs } = answer;
  const place = placeOf(baseUrl);
  const said = looksLikeHtml(text) ? null : providerText(parseJson(text) ?? text, apiKey);
  if ((status === 401 || status === 403) && !looksLikeHtml(text)) {
    const hasKey = apiKey !== null && apiKey !== '';
    const refused = failed(`${place} refused the key (${status}).`, 'Check that the key is complete and still valid, or make a new one there.');
    return { ...(hasKey ? refused : failed(`${place} wants an API key.`, 'Enter a key.')), latencyMs };
  }
  if (status === 429 || status >= 500) {
    return { ...failed(`${place} answered with an error (${status})${said === null ? '' : `: ${said}`}.`, 'It may pass: try again in a moment.'), latencyMs };
  }
  const better = await betterBaseUrl(endpoint, options);
  if (better !== null) {
    return { ...failed(`There is no OpenAI-compatible API at this path, but there is one at ${better}.`, `Use ${better} as the base URL.`), latencyMs };
  }
  const what =
    status === 404 ? `${place} answered, but has no list of models at this path (404).` : `What answered at ${place} is not an OpenAI-compatible API (${status}).`;
  return { ...failed(what, 'Check the base URL: most end in /v1.'), latencyMs };
}

/** The base URL that was probably meant: with /v1 at its end, or without a pasted /chat/completions. */
async function betterBaseUrl(endpoint: ProbedEndpoint, options: Probe): Promise<string | null> {
  const bare = endpoint.baseUrl.replace(/\/+$/, '').replace(/\/(?:chat\/completions|completions|models)$/, '');
  const candidates = [bare, `${bare}/v1`, `${new URL(bare).origin}/v1`].filter((candidate) => candidate !== endpoint.baseUrl.replace(/\/+$/, ''));
  for (const candidate of new Set(candidates)) {
    const answer = await get(candidate, 'models', endpoint, options).catch(() => null);
    if (answer === null) continue;
    const refusesKey = (answer.status === 401 || answer.status === 403) && isRecord(parseJson(answer.text));
    if (refusesKey || modelsIn(answer) !== null) return candidate;
  }
  return null;
}

/** OpenRouter lists its models to anybody; only `GET /key` tells whether a key is good. */
async function keyRefusal(endpoint: ProbedEndpoint, options: Probe): Promise<ProviderTest | null> {
  if (hostOf(endpoint.baseUrl) !== 'openrouter.ai') return null;
  if (endpoint.apiKey === null || endpoint.apiKey === '') return failed('openrouter.ai wants an API key.', 'Enter a key.');
  const answer = await get(endpoint.baseUrl, 'key', endpoint, options);
  return answer.status === 401 || answer.status === 403 ? await explain(answer, endpoint, options) : null;
}

function faultOf(answer: Answer, endpoint: ProbedEndpoint, options: Probe): ModelError {
  const context = { endpoint: { ...endpoint, model: 'the list of models' }, midAnswer: false, now: (options.now ?? Date.now)() };
  if (answer.status >= 400) return statusFault(answer.status, parseJson(answer.text) ?? answer.text, answer.headers, context);
  const sentence = `What answered at ${placeOf(endpoint.baseUrl)} is not an OpenAI-compatible list of models. Check the base URL (most end in /v1).`;
  return new ModelError('bad_response', sentence, { status: answer.status });
}

function networkHint(error: ModelError, baseUrl: string): string {
  if (error.message.includes('Nothing listens')) return 'Start the server, or check the host and the port.';
  if (error.code === 'timeout') return 'Check the address; the server may be starting or busy.';
  return baseUrl.startsWith('https:') ? 'Check the base URL and the network.' : 'Check the base URL; servers on the internet mostly need https://.';
}

function failed(message: string, hint: string): ProviderTest {
  return { ok: false, message, hint, latencyMs: null, modelCount: null };
}
