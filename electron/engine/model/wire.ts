import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions';
import type { Message } from '#shared/trajectory.ts';
import { isRecord, parseJson, type JsonRecord } from './json.ts';
import type { ChatRequest, Endpoint } from './types.ts';

/** Fields that not every server takes; left out for good once a server has refused one by name. */
export type OptionalField = 'reasoning_content' | 'reasoning_details' | 'stream_options';

/**
 * The body of `POST /chat/completions` for a repaired conversation.
 * Reasoning is replayed as `reasoning_content` (DeepSeek, Kimi, vLLM) and `reasoning_details` (OpenRouter).
 */
export function wireBody(
  request: ChatRequest,
  messages: readonly Message[],
  endpoint: Endpoint,
  without: ReadonlySet<OptionalField>,
): ChatCompletionCreateParamsStreaming {
  const host = hostOf(endpoint.baseUrl);
  const body: JsonRecord = { model: endpoint.model, messages: messages.map((message) => wireMessage(message, without)), stream: true };
  if (!without.has('stream_options')) body.stream_options = { include_usage: true };
  if (request.tools.length > 0) {
    body.tools = request.tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } }));
  }
  // OpenAI's reasoning models refuse `max_tokens`; most other servers know nothing else.
  if (request.maxTokens !== undefined) body[host === 'api.openai.com' ? 'max_completion_tokens' : 'max_tokens'] = request.maxTokens;
  if (request.temperature !== undefined) body.temperature = request.temperature;
  const effort = request.reasoningEffort;
  if (effort !== undefined) {
    if (host === 'openrouter.ai' || host.endsWith('.openrouter.ai')) body.reasoning = { effort };
    else if (effort !== 'none') body.reasoning_effort = effort;
  }
  return body as unknown as ChatCompletionCreateParamsStreaming;
}

function wireMessage(message: Message, without: ReadonlySet<OptionalField>): JsonRecord {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.toolCallId ?? '', content: message.content };
  if (message.role !== 'assistant') return { role: message.role, content: message.content };
  const wire: JsonRecord = { role: 'assistant', content: message.content };
  if (message.reasoning !== undefined && message.reasoning !== '' && !without.has('reasoning_content')) wire.reasoning_content = message.reasoning;
  if (message.reasoningDetails !== undefined && message.reasoningDetails.length > 0 && !without.has('reasoning_details')) {
    wire.reasoning_details = message.reasoningDetails;
  }
  if (message.toolCalls !== undefined && message.toolCalls.length > 0) {
    wire.tool_calls = message.toolCalls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: sendableArguments(call.arguments) },
    }));
  }
  return wire;
}

/** Chat templates parse old arguments as a JSON object and fail the whole request on anything else: the raw text is wrapped. */
function sendableArguments(raw: string): string {
  return isRecord(parseJson(raw)) ? raw : JSON.stringify({ invalid_arguments: raw });
}

/** Lower-case host name of a base URL, without port; the text itself when it is no URL. */
export function hostOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).hostname.toLowerCase() : baseUrl;
}

/** Host with port as a person would write it; never with user name, password or query. */
export function placeOf(baseUrl: string): string {
  return URL.canParse(baseUrl) ? new URL(baseUrl).host : 'the base URL';
}

/** The field that a 400 refused as unknown, when it is one that can be left out. */
export function refusedField(text: string | null): OptionalField | null {
  if (text === null || !/unsupported|not supported|unknown|unrecogni[sz]ed|unexpected|extra|not (?:be )?(?:permitted|allowed)/i.test(text)) return null;
  return (['reasoning_content', 'reasoning_details', 'stream_options'] as const).find((field) => text.includes(field)) ?? null;
}
