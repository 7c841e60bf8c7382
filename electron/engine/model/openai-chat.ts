import type { Message } from '#shared/trajectory.ts';
import { createAnswerAssembler } from './answer-assembler.ts';
import { chunksOf, type WireView } from './answer-chunks.ts';
import { MAX_ANSWER_BYTES, post } from './connection.ts';
import { abortedError, cutStream, looksLikeHtml, modelErrorOf, notAnApi, streamedFault } from './faults.ts';
import { joinNeighbours, repairHistory } from './history.ts';
import { isRecord, type JsonRecord } from './json.ts';
import { learnFrom, nothingLearnt, type Learnt } from './learnt.ts';
import { loadPictures, type Pictures } from './pictures.ts';
import { placeOf } from './place.ts';
import type { Admission, ProviderGate } from './provider-gate.ts';
import { GateClosedError } from './rate-gate.ts';
import { createRetryPlan } from './retry.ts';
import { realSleep, type Sleep } from './sleep.ts';
import { ModelError, type ChatAnswer, type ChatModel, type ChatRequest, type Endpoint, type ModelEvent } from './types.ts';
import { createWatchdog } from './watchdog.ts';
import { wireBody } from './wire.ts';

export interface OpenAiChatOptions {
  /** From the request to the first byte of the answer; default 240 s. */
  firstByteTimeoutMs?: number;
  /** Between two pieces of the answer; default 60 s. */
  idleTimeoutMs?: number;
  /** How long keep-alive comments alone are believed; default 10 min. */
  stallTimeoutMs?: number;
  /** Bytes of one answer on the wire, at most; default 64 MiB. */
  maxAnswerBytes?: number;
  /** Attempts in all; default 3. */
  maxAttempts?: number;
  /** Attempts in all when a 429 says how long to wait; default 6. */
  maxRateLimitAttempts?: number;
  /** Shared by all models of one provider, to keep its limits and to slow down together. */
  gate?: ProviderGate;
  /** Shared by all calls to this model: what the server has refused. */
  learnt?: Learnt;
  /** A 429 that would make the call wait longer fails it, so that another model can answer; absent = wait. */
  longestWaitMs?: number;
  /** Waits out troubles of the provider for so long, ms, instead of failing after a few attempts. */
  patienceMs?: number | undefined;
  /** OpenRouter's `provider` request object. */
  routing?: Readonly<Record<string, unknown>> | undefined;
  /** OpenRouter's `plugins`. */
  plugins?: readonly Record<string, unknown>[] | undefined;
  /** Sent with every request; none by default. */
  headers?: Readonly<Record<string, string>>;
  sleep?: Sleep;
  now?: () => number;
  random?: () => number;
}

/**
 * A model behind an OpenAI-compatible `/chat/completions`, streamed. It repairs the history before each call, owns all
 * retrying (see `createRetryPlan`), and throws only ModelErrors.
 */
export function createOpenAiChatModel(endpoint: Endpoint, options: OpenAiChatOptions = {}): ChatModel {
  const { firstByteTimeoutMs = 240_000, idleTimeoutMs = 60_000, stallTimeoutMs = 600_000, maxAttempts = 3, maxRateLimitAttempts = 6 } = options;
  const { maxAnswerBytes = MAX_ANSWER_BYTES, headers = {}, sleep = realSleep, now = Date.now, random = Math.random } = options;
  const { gate, learnt = nothingLearnt(), longestWaitMs = Infinity, patienceMs, routing, plugins } = options;
  const limits = { firstByteTimeoutMs, idleTimeoutMs, stallTimeoutMs, place: placeOf(endpoint.baseUrl) };

  async function* attempt(request: ChatRequest, messages: readonly Message[], pictures: Pictures, signal: AbortSignal): AsyncGenerator<ModelEvent, ChatAnswer> {
    const fields = wireBody(request, messages, endpoint, { learnt, pictures, routing, plugins });
    const body = Buffer.from(JSON.stringify(fields));
    const admission = await whileNotAborted(() => enter(tokensOf(fields, body.length, pictures), signal), signal);
    const startedAt = now();
    const watchdog = createWatchdog(limits, signal);
    const posting = post(endpoint, { body, headers, onBytes: () => watchdog.sawBytes(), maxBytes: maxAnswerBytes });
    const assembler = createAnswerAssembler({ ...conversationFacts(messages), tools: request.tools });
    const view: WireView = { head: '', sawDone: false };
    let counted: number | null = null;
    let midAnswer = false;
    let wholeAnswer = false;
    const faultContext = () => ({ endpoint, midAnswer, now: now() });
    try {
      const chunks = chunksOf(await watchdog.guard(posting.reply), view, faultContext());
      for (;;) {
        const next = await watchdog.guard(chunks.next());
        if (next.done === true) {
          wholeAnswer = true;
          break;
        }
        watchdog.sawChunk();
        for (const chunk of next.value) {
          const failed = errorInside(chunk);
          if (failed !== null) throw streamedFault(failed, faultContext());
          for (const delta of assembler.push(chunk)) {
            midAnswer = true;
            yield delta;
          }
        }
      }
      if (!assembler.finished && !view.sawDone) throw looksLikeHtml(view.head) ? notAnApi(endpoint.baseUrl) : cutStream(endpoint.baseUrl);
      const { answer, rest } = assembler.finish(Math.max(0, now() - startedAt));
      counted = answer.usage === null ? null : answer.usage.promptTokens + answer.usage.completionTokens;
      yield* rest;
      return answer;
    } catch (thrown) {
      if (signal.aborted) throw abortedError();
      throw modelErrorOf(thrown, faultContext());
    } finally {
      admission?.end(counted);
      watchdog.dispose();
      if (wholeAnswer) posting.finish();
      else posting.cancel();
    }
  }

  async function pause(waitMs: number, isRateLimit: boolean, signal: AbortSignal): Promise<void> {
    if (isRateLimit && gate !== undefined) gate.closeUntil(now() + waitMs);
    else if (waitMs > 0) await sleep(waitMs, signal);
  }

  /** Waits for this call's turn; not for a long time when another model can answer instead. */
  async function enter(tokens: number, signal: AbortSignal): Promise<Admission | null> {
    try {
      return (await gate?.enter(tokens, signal, { longestWaitMs, patient: patienceMs !== undefined })) ?? null;
    } catch (thrown) {
      if (!(thrown instanceof GateClosedError)) throw thrown;
      const sentence = `${limits.place} is limiting the rate of requests for another ${Math.ceil(thrown.waitMs / 1000)} s.`;
      throw new ModelError('rate_limit', sentence, { retryAfterMs: thrown.waitMs });
    }
  }

  async function* stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const messages = joinNeighbours(repairHistory(request.messages));
    const pictures = await loadPictures(messages, request.attachment);
    const sent = {
      effort: request.reasoningEffort,
      replayed: messages.some((message) => message.reasoningDetails !== undefined),
      userAfterTool: messages.some(({ role }, at) => role === 'user' && messages[at - 1]?.role === 'tool'),
    };
    const call = Symbol('call');
    const patience = patienceMs === undefined ? undefined : { ms: patienceMs, now, downSince: () => gate?.health.downSince ?? null, storms: () => gate?.health.storms ?? 0 };
    const waitAfter = createRetryPlan({ maxAttempts, maxRateLimitAttempts, random, patience });
    for (let number = 1; ; number += 1) {
      try {
        const answer = yield* attempt(request, messages, pictures, signal);
        gate?.health.answered();
        yield { type: 'answer', answer };
        return;
      } catch (thrown) {
        if (!(thrown instanceof ModelError) || thrown.code === 'aborted') throw thrown;
        const hadPictures = pictures.size > 0 && !learnt.without.has('pictures');
        if (learnFrom(learnt, thrown, { ...sent, pictures: hadPictures })) {
          if (hadPictures && learnt.without.has('pictures')) yield { type: 'retry', attempt: number, waitMs: 0, error: noPictures(thrown) };
          number -= 1;
          continue;
        }
        note(thrown, call);
        const waitMs = waitAfter(thrown);
        const isRateLimit = thrown.code === 'rate_limit';
        if (isRateLimit && waitMs !== null && waitMs > longestWaitMs) gate?.closeUntil(now() + waitMs);
        if (waitMs === null || (isRateLimit && waitMs > longestWaitMs)) throw thrown;
        yield { type: 'retry', attempt: number, waitMs, error: thrown };
        await whileNotAborted(() => pause(waitMs, isRateLimit, signal), signal);
      }
    }
  }

  /** Tells all calls to this provider what this one met. */
  function note({ code, status }: ModelError, call: symbol): void {
    if (code === 'rate_limit') gate?.health.limited(gate.open + 1);
    else if (code === 'network' || code === 'timeout' || code === 'server') gate?.health.failed(call, code !== 'server' || [502, 503, 504].includes(status ?? 0));
    // it refuses, so it is there
    else gate?.health.answered();
  }

  function noPictures({ status, providerMessage }: ModelError): ModelError {
    const more = { ...(status === null ? {} : { status }), ...(providerMessage === null ? {} : { providerMessage }) };
    return new ModelError('bad_request', `${endpoint.model} at ${limits.place} takes no pictures: it is asked without them.`, more);
  }

  const { provider, baseUrl, model } = endpoint;
  return { endpoint: { provider, baseUrl, model }, scripted: false, stream };
}

/** Does work that heeds the signal; whatever it says on abort becomes our own error. */
async function whileNotAborted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  if (signal.aborted) throw abortedError();
  try {
    return await work();
  } catch (thrown) {
    throw signal.aborted ? abortedError() : thrown;
  }
}

/** OpenRouter also puts an error beside a choice. */
function errorInside(chunk: unknown): unknown {
  if (!isRecord(chunk) || !Array.isArray(chunk.choices)) return null;
  const choice: unknown = chunk.choices[0];
  return isRecord(choice) && isRecord(choice.error) ? choice.error : null;
}

function conversationFacts(messages: readonly Message[]): { takenIds: ReadonlySet<string>; turn: number } {
  const assistant = messages.filter((message) => message.role === 'assistant');
  return { takenIds: new Set(assistant.flatMap((message) => message.toolCalls?.map((call) => call.id) ?? [])), turn: assistant.length };
}

const USUAL_ANSWER_TOKENS = 500;
const TOKENS_PER_PICTURE = 1000;

/** About how many tokens a request of so many bytes will count for; pictures count by number, not by their bytes. */
function tokensOf({ max_completion_tokens, max_tokens }: JsonRecord, bytes: number, pictures: Pictures): number {
  let text = bytes;
  for (const url of pictures.values()) text -= url.length;
  const answer = Number(max_completion_tokens ?? max_tokens ?? USUAL_ANSWER_TOKENS);
  return Math.ceil(Math.max(0, text) / 4) + pictures.size * TOKENS_PER_PICTURE + Math.min(answer, 4 * USUAL_ANSWER_TOKENS);
}
