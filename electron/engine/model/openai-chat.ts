import type { OpenAI } from 'openai';
import type { Message } from '#shared/trajectory.ts';
import { createAnswerAssembler } from './answer-assembler.ts';
import { connect, MAX_ANSWER_BYTES } from './connection.ts';
import { abortedError, cutStream, looksLikeHtml, modelErrorOf, notAnApi, statusFault, streamedFault } from './faults.ts';
import { repairHistory } from './history.ts';
import { isRecord, parseJson } from './json.ts';
import type { RateGate } from './rate-gate.ts';
import { createRetryPlan } from './retry.ts';
import { realSleep, type Sleep } from './sleep.ts';
import { ModelError, type ChatAnswer, type ChatModel, type ChatRequest, type Endpoint, type ModelEvent } from './types.ts';
import { createWatchdog } from './watchdog.ts';
import { placeOf, refusedField, wireBody, type OptionalField } from './wire.ts';

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
  /** Shared by all models of one endpoint, to slow down together. */
  gate?: RateGate;
  /** Sent with every request; none by default. */
  headers?: Readonly<Record<string, string>>;
  sleep?: Sleep;
  now?: () => number;
  random?: () => number;
}

type Body = OpenAI.Chat.ChatCompletionCreateParamsStreaming;
type ChunkStream = AsyncIterable<unknown>;

/**
 * A model behind an OpenAI-compatible `/chat/completions`, streamed. It repairs the history before each call, owns all
 * retrying (see `createRetryPlan`), and throws only ModelErrors.
 */
export function createOpenAiChatModel(endpoint: Endpoint, options: OpenAiChatOptions = {}): ChatModel {
  const { firstByteTimeoutMs = 240_000, idleTimeoutMs = 60_000, stallTimeoutMs = 600_000, maxAttempts = 3, maxRateLimitAttempts = 6 } = options;
  const { maxAnswerBytes = MAX_ANSWER_BYTES, gate, headers = {}, sleep = realSleep, now = Date.now, random = Math.random } = options;
  const limits = { firstByteTimeoutMs, idleTimeoutMs, stallTimeoutMs, place: placeOf(endpoint.baseUrl) };
  /** What this server has refused by name; learnt once, then left out. */
  const without = new Set<OptionalField>();

  async function* attempt(request: ChatRequest, messages: readonly Message[], signal: AbortSignal): AsyncGenerator<ModelEvent, ChatAnswer> {
    const startedAt = now();
    const abort = new AbortController();
    const watchdog = createWatchdog(limits, signal);
    const { client, view } = connect(endpoint, { headers, onBytes: () => watchdog.sawBytes(), maxBytes: maxAnswerBytes });
    const assembler = createAnswerAssembler(conversationFacts(messages));
    let midAnswer = false;
    let chunks: AsyncIterator<unknown> | null = null;
    const faultContext = () => ({ endpoint, midAnswer, now: now() });
    try {
      const body: Body = wireBody(request, messages, endpoint, without);
      const { data, response } = await watchdog.guard(client.chat.completions.create(body, { signal: abort.signal }).withResponse());
      const source = await watchdog.guard(chunkSource(data, response, faultContext()));
      chunks = source[Symbol.asyncIterator]();
      for (;;) {
        const next = await watchdog.guard(chunks.next());
        if (next.done === true) break;
        watchdog.sawChunk();
        const failed = errorInside(next.value);
        if (failed !== null) throw streamedFault(failed, faultContext());
        for (const delta of assembler.push(next.value)) {
          midAnswer = true;
          yield delta;
        }
      }
      if (!assembler.finished && !view.sawDone) throw looksLikeHtml(view.head) ? notAnApi(endpoint.baseUrl) : cutStream(endpoint.baseUrl);
      const { answer, rest } = assembler.finish(Math.max(0, now() - startedAt));
      yield* rest;
      return answer;
    } catch (thrown) {
      if (signal.aborted) throw abortedError();
      throw modelErrorOf(thrown, faultContext());
    } finally {
      watchdog.dispose();
      abort.abort();
      // Not awaited: a hanging connection must not hold up the caller.
      void chunks?.return?.()?.catch(() => undefined);
    }
  }

  async function pause(waitMs: number, isRateLimit: boolean, signal: AbortSignal): Promise<void> {
    if (isRateLimit && gate !== undefined) gate.closeUntil(now() + waitMs);
    else if (waitMs > 0) await sleep(waitMs, signal);
  }

  async function* stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const messages = repairHistory(request.messages);
    const waitAfter = createRetryPlan({ maxAttempts, maxRateLimitAttempts, random });
    for (let number = 1; ; number += 1) {
      try {
        await whileNotAborted(async () => gate?.pass(signal), signal);
        const answer = yield* attempt(request, messages, signal);
        yield { type: 'answer', answer };
        return;
      } catch (thrown) {
        if (!(thrown instanceof ModelError) || thrown.code === 'aborted') throw thrown;
        const refused = thrown.code === 'bad_request' ? refusedField(thrown.providerMessage) : null;
        if (refused !== null && !without.has(refused)) {
          without.add(refused);
          number -= 1;
          continue;
        }
        const waitMs = waitAfter(thrown);
        if (waitMs === null) throw thrown;
        yield { type: 'retry', attempt: number, waitMs, error: thrown };
        await whileNotAborted(() => pause(waitMs, thrown.code === 'rate_limit', signal), signal);
      }
    }
  }

  const { provider, baseUrl, model } = endpoint;
  return { endpoint: { provider, baseUrl, model }, scripted: false, stream };
}

/** Does work that heeds the signal; whatever it says on abort becomes our own error. */
async function whileNotAborted(work: () => Promise<void>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) throw abortedError();
  try {
    await work();
  } catch (thrown) {
    throw signal.aborted ? abortedError() : thrown;
  }
}

/** The chunks of a response: of its event stream, or the one completion of a server that does not stream. */
async function chunkSource(events: ChunkStream, response: Response, context: Parameters<typeof streamedFault>[1]): Promise<ChunkStream> {
  const type = response.headers.get('content-type')?.toLowerCase() ?? '';
  if (type.includes('text/html')) throw notAnApi(context.endpoint.baseUrl, response.status);
  if (!type.includes('application/json')) return events;
  const text = await response.text();
  const value = parseJson(text);
  if (!isRecord(value)) {
    throw new ModelError('bad_response', `${placeOf(context.endpoint.baseUrl)} sent an answer that is not valid JSON.`, { status: response.status });
  }
  if (value.error !== undefined && value.error !== null) throw streamedFault(value.error, context);
  if (!Array.isArray(value.choices)) throw statusFault(404, '', undefined, context);
  return oneChunk(value);
}

async function* oneChunk(completion: unknown): ChunkStream {
  yield completion;
}

/** The SDK throws on a top-level error; OpenRouter also puts one beside a choice. */
function errorInside(chunk: unknown): unknown {
  if (!isRecord(chunk) || !Array.isArray(chunk.choices)) return null;
  const choice: unknown = chunk.choices[0];
  return isRecord(choice) && isRecord(choice.error) ? choice.error : null;
}

function conversationFacts(messages: readonly Message[]): { takenIds: ReadonlySet<string>; turn: number } {
  const assistant = messages.filter((message) => message.role === 'assistant');
  return { takenIds: new Set(assistant.flatMap((message) => message.toolCalls?.map((call) => call.id) ?? [])), turn: assistant.length };
}
