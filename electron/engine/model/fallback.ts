import { ModelError, type ChatModel, type ChatRequest, type ModelErrorCode, type ModelEvent } from './types.ts';

/** What another provider may not suffer from. A refused key, an empty account or a wrong request is said, not covered up. */
const PASSED_ON: ReadonlySet<ModelErrorCode> = new Set(['rate_limit', 'server', 'network', 'timeout', 'bad_response']);

/**
 * `model`, and `fallback` in its place for each call that `model` finally fails with 429, 5xx or a broken connection. The
 * answer then carries `servedBy`. A `retry` event goes before, so nothing that was streamed is kept. When the fallback fails as
 * well, or cannot be made, the call fails with the first error, and its sentence says both.
 */
export function createFallbackModel(model: ChatModel, fallback: { route: { provider: string; model: string }; open: () => Promise<ChatModel> }): ChatModel {
  const { route } = fallback;
  async function* stream(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    let attempts = 0;
    let first: ModelError;
    try {
      for await (const event of model.stream(request, signal)) {
        if (event.type === 'retry') attempts = event.attempt;
        yield event;
      }
      return;
    } catch (thrown) {
      if (!(thrown instanceof ModelError) || !PASSED_ON.has(thrown.code)) throw thrown;
      first = thrown;
    }
    yield { type: 'retry', attempt: attempts + 1, waitMs: 0, error: first, fallback: route };
    try {
      const other = await fallback.open();
      for await (const event of other.stream(request, signal)) {
        yield event.type === 'answer' ? { type: 'answer', answer: { ...event.answer, servedBy: route } } : event;
      }
    } catch (thrown) {
      if (thrown instanceof ModelError && thrown.code === 'aborted') throw thrown;
      throw both(first, thrown, route);
    }
  }
  return { endpoint: model.endpoint, scripted: false, stream };
}

function both(first: ModelError, second: unknown, { provider, model }: { provider: string; model: string }): ModelError {
  const { code, status, providerMessage, retryAfterMs } = first;
  const why = second instanceof Error ? second.message : String(second);
  return new ModelError(code, `${first.message} The fallback ${provider}/${model} failed too: ${why}`, {
    ...(status === null ? {} : { status }),
    ...(providerMessage === null ? {} : { providerMessage }),
    ...(retryAfterMs === null ? {} : { retryAfterMs }),
    cause: second,
  });
}
