import { isRecord, parseJson, textOf } from './json.ts';
import { retryAfterMs } from './retry.ts';
import { ModelError, type Endpoint } from './types.ts';
import { hostOf, placeOf } from './place.ts';

const MAX_PROVIDER_MESSAGE_CHARS = 500;

/** How OpenAI, vLLM, llama.cpp, LM Studio, Anthropic, Google, Mistral and DeepSeek say that a conversation is too long. */
const OVERFLOW = new RegExp(
  [
    'context_length_exceeded',
    'exceed_context_size',
    'context[ _-]?(?:length|window|size)',
    'maximum (?:context|prompt|input) (?:length|size)',
    'prompt is too long',
    'input is too long',
    'too many (?:input )?tokens',
    'input token count .{0,40}exceeds',
    'exceeds? the (?:maximum|max) (?:number of )?tokens',
    'context (?:overflow|the overflow|overflows)',
  ].join('|'),
  'i',
);
const OUT_OF_CREDIT = /insufficient_quota|insufficient (?:credits?|balance|funds)|billing_hard_limit/i;
const MODERATED = /moderation|flagged|content policy/i;

export interface FaultContext {
  endpoint: Pick<Endpoint, 'baseUrl' | 'apiKey' | 'model'>;
  /** Parts of this attempt's answer had arrived. */
  midAnswer: boolean;
  now: number;
}

/** Turns whatever a request threw into a ModelError that says what to do. The key appears in none of its parts. */
export function modelErrorOf(thrown: unknown, context: FaultContext): ModelError {
  if (thrown instanceof ModelError) return thrown;
  if (thrown instanceof SyntaxError) {
    return new ModelError('bad_response', `${placeOf(context.endpoint.baseUrl)} sent a piece of the answer that is not valid JSON.`);
  }
  return networkFault(thrown, context);
}

export function abortedError(): ModelError {
  return new ModelError('aborted', 'The model call was stopped.');
}

/** The fault of an HTTP status with its body: an object, the parsed `error`, or raw text. */
export function statusFault(status: number, body: unknown, headers: Headers | undefined, context: FaultContext): ModelError {
  const { baseUrl, apiKey, model } = context.endpoint;
  const place = placeOf(baseUrl);
  const isPage = typeof body === 'string' && looksLikeHtml(body);
  const said = isPage ? null : providerText(body, apiKey);
  const all = isPage ? '' : searchable(body);
  const wait = retryAfterMs(headers, context.now) ?? retryDelayMs(all);
  const more = { status, ...(said === null ? {} : { providerMessage: said }), ...(wait === null ? {} : { retryAfterMs: wait }) };

  if (status >= 300 && status < 400) {
    const target = headers?.get('location') ?? null;
    const where = target !== null && URL.canParse(target, baseUrl) ? ` to ${new URL(target, baseUrl).host}` : '';
    return new ModelError('not_found', `${place} sends requests on${where}, and prompts are not sent on. Set the base URL to where the API is.`, more);
  }
  if (status === 402 || (status === 429 && OUT_OF_CREDIT.test(all))) {
    return new ModelError('payment', `The account at ${place} has no credit left. Add credit there, or use another provider.`, more);
  }
  if (status === 403 && MODERATED.test(all)) {
    return new ModelError('bad_request', `${place} refused this prompt by its content rules.`, more);
  }
  if (status === 401 || status === 403) return new ModelError('auth', authSentence(status, isPage, context), more);
  // "Too many tokens" in a 429 is about the rate.
  const isRateLimit = status === 429 || status === 529;
  if (status === 413 || (!isRateLimit && OVERFLOW.test(all))) {
    return new ModelError('context_overflow', `The conversation is longer than ${model} at ${place} can take.`, more);
  }
  if (status === 404) {
    const sentence = isPage || said === null
      ? `No OpenAI-compatible API answered at ${place}${pathOf(baseUrl)}: check the base URL (most end in /v1).`
      : `${place} knows no model ${model}, or no such path: check the model name and the base URL (most end in /v1).`;
    return new ModelError('not_found', sentence, more);
  }
  if (status === 408) return new ModelError('timeout', `${place} gave up waiting for this request.`, more);
  if (isRateLimit) {
    return new ModelError('rate_limit', `${place} is limiting the rate of requests. Fewer agents at once, or a pause, help.`, more);
  }
  if (status >= 500) {
    const sentence = isPage ? `${place} answered with an error page (${status}) instead of an API answer.` : `${place} failed (${status}).`;
    return new ModelError('server', `${sentence} It may pass; try again later.`, more);
  }
  if (status === 409 || status === 425) return new ModelError('server', `${place} could not take this request just now (${status}).`, more);
  if (isPage || status < 400) return notAnApi(baseUrl, status);
  return new ModelError('bad_request', `${place} refused the request (${status})${said === null ? '' : `: ${said}`}`, more);
}

/** An `error` object that came inside a stream, after the status was already 200. */
export function streamedFault(error: unknown, context: FaultContext): ModelError {
  const place = placeOf(context.endpoint.baseUrl);
  const code = isRecord(error) ? Number(error.code ?? error.status) : Number.NaN;
  const hint = searchable(error);
  if (Number.isInteger(code) && code >= 400 && code < 600) return statusFault(code, error, undefined, context);
  if (OVERFLOW.test(hint)) return statusFault(400, error, undefined, context);
  if (OUT_OF_CREDIT.test(hint)) return statusFault(402, error, undefined, context);
  if (/rate.?limit|too many requests|overloaded/i.test(hint)) return statusFault(429, error, undefined, context);
  if (/invalid_api_key|authentication_error/i.test(hint)) return statusFault(401, error, undefined, context);
  const said = providerText(error, context.endpoint.apiKey);
  const sentence = `${place} broke off the answer with an error. It may pass; try again later.`;
  return new ModelError('server', sentence, said === null ? {} : { providerMessage: said });
}

/** Something answered, but not with what an OpenAI-compatible server says. */
export function notAnApi(baseUrl: string, status?: number): ModelError {
  const sentence = `${placeOf(baseUrl)}${pathOf(baseUrl)} answered with a web page: it is not an OpenAI-compatible API. Check the base URL (most end in /v1).`;
  return new ModelError('bad_response', sentence, status === undefined ? {} : { status });
}

/** The stream was over before the provider had said so. */
export function cutStream(baseUrl: string): ModelError {
  return new ModelError('network', `The connection to ${placeOf(baseUrl)} was cut in the middle of the answer.`);
}

export function looksLikeHtml(text: string): boolean {
  return /^\s*<(?:!doctype|html|head|body|\?xml)/i.test(text);
}

function networkFault(thrown: unknown, context: FaultContext): ModelError {
  return new ModelError(...networkSentence(networkCode(thrown), context));
}

/** What a network error code means, in words; `midAnswer` when the connection had been working. */
export function networkSentence(code: string | null, context: Pick<FaultContext, 'endpoint' | 'midAnswer'>): ['network' | 'timeout', string] {
  const { baseUrl } = context.endpoint;
  const place = placeOf(baseUrl);
  const host = hostOf(baseUrl);
  if (code === 'ECONNREFUSED') return ['network', `Nothing listens at ${place}: is the server running?`];
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return ['network', `The name ${host} cannot be found: check the base URL and the network.`];
  if (code === 'EHOSTUNREACH' || code === 'ENETUNREACH') return ['network', `${place} cannot be reached from here: check the network.`];
  if (code !== null && /TIMEOUT|ETIMEDOUT/.test(code)) return ['timeout', `${place} did not answer in time.`];
  if (code !== null && /CERT|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) {
    return ['network', `The certificate of ${place} is not trusted by this machine (${code}).`];
  }
  if (code !== null && /^(?:ERR_SSL|EPROTO)/.test(code)) return ['network', `${place} does not speak HTTPS: try http:// in the base URL.`];
  if (context.midAnswer) return ['network', cutStream(baseUrl).message];
  return ['network', `The connection to ${place} failed${code === null ? '' : ` (${code})`} before an answer came.`];
}

/** The first error code in a chain of causes, also inside an AggregateError. */
export function networkCode(thrown: unknown): string | null {
  let current = thrown;
  for (let depth = 0; depth < 8 && isRecord(current); depth += 1) {
    if (typeof current.code === 'string' && /^[A-Z][A-Z0-9_]+$/.test(current.code)) return current.code;
    if (Array.isArray(current.errors) && current.errors.length > 0) return networkCode(current.errors[0]);
    current = current.cause;
  }
  return null;
}

function authSentence(status: number, isPage: boolean, { endpoint }: FaultContext): string {
  const place = placeOf(endpoint.baseUrl);
  if (isPage) return `${place} turned the request away with a web page (${status}): a gateway in between may be blocking it.`;
  if (endpoint.apiKey === null || endpoint.apiKey === '') {
    return `${place} wants an API key. Enter one in Settings, or set the provider's environment variable; on the command line, --api_key gives one.`;
  }
  if (status === 403) return `The key does not permit ${endpoint.model} at ${place}. Check what the key is allowed to do.`;
  return `The key was refused by ${place}. Check it where it was given (Settings, environment variable or --api_key), or make a new one at ${place}.`;
}

/** The provider's own words in an error body: trimmed, without keys, at most 500 characters. */
export function providerText(body: unknown, apiKey: string | null): string | null {
  const text = wordsOf(body).replaceAll(/\s+/g, ' ').trim();
  if (text === '') return null;
  const safe = redactKeys(text, apiKey);
  return safe.length > MAX_PROVIDER_MESSAGE_CHARS ? `${safe.slice(0, MAX_PROVIDER_MESSAGE_CHARS - 1).toWellFormed()}…` : safe;
}

function wordsOf(body: unknown): string {
  if (typeof body === 'string') return wordsOf(parseJson(body) ?? null) || body;
  if (Array.isArray(body)) return wordsOf(body[0]);
  if (!isRecord(body)) return '';
  const inner = isRecord(body.error) ? wordsOf(body.error) : textOf(body.error);
  const own = textOf(body.message) || inner || textOf(body.detail) || textOf(body.msg);
  // OpenRouter hides what its upstream said in metadata.raw.
  const upstream = isRecord(body.metadata) ? textOf(body.metadata.raw) : '';
  if (own === '') return upstream || JSON.stringify(body);
  return upstream === '' ? own : `${own}: ${upstream}`;
}

/** Google says only in the body how long to wait: `"retryDelay": "22s"`. */
function retryDelayMs(body: string): number | null {
  const seconds = /"retryDelay":\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return seconds === undefined ? null : Math.ceil(Number(seconds) * 1000);
}

function redactKeys(text: string, apiKey: string | null): string {
  const known = apiKey !== null && apiKey.length >= 4 ? text.replaceAll(apiKey, '[key]') : text;
  return known.replaceAll(/\bsk-[\w*-]{6,}/g, '[key]').replaceAll(/\bBearer\s+[\w.~+/*-]{8,}=*/gi, 'Bearer [key]');
}

function searchable(body: unknown): string {
  return typeof body === 'string' ? body : (JSON.stringify(body) ?? '');
}

function pathOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).pathname.replace(/\/+$/, '') : '';
}
