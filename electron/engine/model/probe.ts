import type { ModelInfo, ProviderTest } from '#shared/contract/settings.ts';
import { looksLikeHtml, providerText, statusFault } from './faults.ts';
import { isRecord, parseJson } from './json.ts';
import { modelsIn } from './model-list.ts';
import { withDetails } from './model-details.ts';
import { get, type ProbeAnswer, type Probe, type ProbedEndpoint, type ProbeOptions } from './probe-request.ts';
import { OFFLINE_BASE_URL, OFFLINE_MODEL } from './providers.ts';
import { hostOf, placeOf } from './place.ts';
import { ModelError } from './types.ts';

export type { ProbedEndpoint, ProbeOptions } from './probe-request.ts';

/**
 * The models of an endpoint by `GET /models`, sorted by id; local servers are asked for what that leaves out (see
 * `withDetails`). Throws a ModelError that says what is wrong.
 */
export async function listModels(endpoint: ProbedEndpoint, signal?: AbortSignal, more: ProbeOptions = {}): Promise<ModelInfo[]> {
  if (endpoint.baseUrl === OFFLINE_BASE_URL) return [{ id: OFFLINE_MODEL, contextLength: null }];
  const options: Probe = { ...more, signal };
  const answer = await get(endpoint.baseUrl, 'models', endpoint, options);
  const models = modelsIn(answer);
  if (models !== null) return await withDetails(models, endpoint, options);
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

async function explain(answer: ProbeAnswer, endpoint: ProbedEndpoint, options: Probe): Promise<ProviderTest> {
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

function faultOf(answer: ProbeAnswer, endpoint: ProbedEndpoint, options: Probe): ModelError {
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
