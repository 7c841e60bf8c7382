import type { Message } from '#shared/trajectory.ts';
import { effortFields } from './effort.ts';
import { answerBeforeUser } from './history.ts';
import { isRecord, parseJson, type JsonRecord } from './json.ts';
import type { Learnt } from './learnt.ts';
import { contentWithPictures, picturesOf, type Pictures } from './pictures.ts';
import { serverKindOf, type ServerKind } from './server-kind.ts';
import type { ChatRequest, Endpoint } from './types.ts';

/** They refuse a message with fields that are not OpenAI's. */
const NO_REPLAY: ReadonlySet<ServerKind> = new Set(['openai', 'mistral', 'groq', 'google']);
/** They refuse an assistant message with calls that carries no reasoning (api-docs.deepseek.com/guides/thinking_mode). */
const NEEDS_REASONING: ReadonlySet<ServerKind> = new Set(['deepseek', 'moonshot']);
/** An empty text counts as none there. */
const NO_REASONING = ' ';

interface Dialect {
  kind: ServerKind;
  learnt: Learnt;
  pictures: Pictures;
}

/**
 * The body of `POST /chat/completions` for a repaired conversation.
 * Reasoning is replayed as `reasoning_content` (DeepSeek, Kimi, vLLM, llama.cpp) and `reasoning_details` (OpenRouter), the
 * latter as they came. `routing` is OpenRouter's `provider` object, `plugins` its list of that name; they go to no other server.
 */
export function wireBody(
  request: ChatRequest,
  messages: readonly Message[],
  endpoint: Endpoint,
  { learnt, pictures, routing, plugins = [] }: { learnt: Learnt; pictures: Pictures; routing?: Readonly<JsonRecord> | undefined; plugins?: readonly JsonRecord[] | undefined },
): JsonRecord {
  const dialect: Dialect = { kind: serverKindOf(endpoint), learnt, pictures };
  const { kind } = dialect;
  const { without } = learnt;
  const sent = learnt.answersTools || kind === 'mistral' ? answerBeforeUser(messages) : messages;
  const body: JsonRecord = { model: endpoint.model, messages: sent.map((message) => wireMessage(message, dialect)), stream: true };
  if (!without.has('stream_options')) body.stream_options = { include_usage: true };
  if (request.tools.length > 0) {
    body.tools = request.tools.map(({ name, description, parameters }) => ({ type: 'function', function: { name, description, parameters } }));
  }
  // OpenAI's reasoning models refuse `max_tokens`; most other servers know nothing else.
  if (request.maxTokens !== undefined) body[kind === 'openai' || without.has('max_tokens') ? 'max_completion_tokens' : 'max_tokens'] = request.maxTokens;
  if (request.temperature !== undefined) body.temperature = request.temperature;
  if (request.seed !== undefined && !without.has('seed')) body[kind === 'mistral' ? 'random_seed' : 'seed'] = request.seed;
  if (request.topP !== undefined) body.top_p = request.topP;
  if (request.reasoningEffort !== undefined) Object.assign(body, effortOf(request.reasoningEffort, dialect));
  if (kind === 'openrouter' && routing !== undefined && Object.keys(routing).length > 0) body.provider = routing;
  if (kind === 'openrouter' && plugins.length > 0) body.plugins = plugins;
  return body;
}

function effortOf(effort: NonNullable<ChatRequest['reasoningEffort']>, { kind, learnt }: Dialect): JsonRecord {
  const fields = effortFields(kind, learnt.effort.get(effort) ?? effort);
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !(learnt.without as ReadonlySet<string>).has(name)));
}

function wireMessage(message: Message, dialect: Dialect): JsonRecord {
  if (message.role === 'tool') return { role: 'tool', tool_call_id: message.toolCallId ?? '', content: message.content };
  if (message.role === 'user' && picturesOf(message).length > 0) {
    return { role: 'user', content: contentWithPictures(message, dialect.pictures, dialect.learnt.without.has('pictures')) };
  }
  if (message.role !== 'assistant') return { role: message.role, content: message.content };
  const wire: JsonRecord = { role: 'assistant', content: message.content };
  Object.assign(wire, replayOf(message, dialect));
  if (message.toolCalls !== undefined && message.toolCalls.length > 0) {
    wire.tool_calls = message.toolCalls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: sendableArguments(call.arguments) },
    }));
  }
  return wire;
}

function replayOf(message: Message, { kind, learnt }: Dialect): JsonRecord {
  const fields: JsonRecord = {};
  if (NO_REPLAY.has(kind)) return fields;
  const { reasoning = '', reasoningDetails = [], toolCalls = [] } = message;
  if (!learnt.without.has('reasoning_content')) {
    if (reasoning !== '') fields.reasoning_content = reasoning;
    else if (toolCalls.length > 0 && (learnt.needsReasoning || NEEDS_REASONING.has(kind))) fields.reasoning_content = NO_REASONING;
  }
  if (reasoningDetails.length > 0 && !learnt.without.has('reasoning_details')) fields.reasoning_details = reasoningDetails;
  return fields;
}

/** Chat templates parse old arguments as a JSON object and fail the whole request on anything else: the raw text is wrapped. */
function sendableArguments(raw: string): string {
  return isRecord(parseJson(raw)) ? raw : JSON.stringify({ invalid_arguments: raw });
}
