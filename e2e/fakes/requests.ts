import type { IncomingHttpHeaders } from 'node:http';

export interface ChatMessage {
  role: string;
  content?: string | { type: string; text?: string }[] | null;
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
  [key: string]: unknown;
}

export interface ChatTool {
  type: string;
  function: { name: string; description?: string; parameters?: Record<string, unknown> };
}

/** The body of `POST /chat/completions`, as far as the fake reads it. */
export interface ChatBody {
  model: string;
  messages: ChatMessage[];
  stream?: boolean;
  stream_options?: { include_usage?: boolean };
  tools?: ChatTool[];
  [key: string]: unknown;
}

/** One request as it arrived, and what became of it. */
export interface RecordedRequest {
  /** Counts from 1 over all requests of this server. */
  number: number;
  method: string;
  path: string;
  headers: IncomingHttpHeaders;
  authorization: string | undefined;
  /** Null for a GET and for a body that is no valid chat request. */
  body: ChatBody | null;
  /** Milliseconds since 1970; `endedAt` once the response is over. */
  arrivedAt: number;
  endedAt?: number;
  /** HTTP status, once headers are out. */
  status?: number;
  /** The client closed the connection before the answer was complete. */
  clientLeft: boolean;
  /** Resolves when the response is over, by whichever side. */
  done: Promise<void>;
}

export type RecordedChat = RecordedRequest & { body: ChatBody };

/** What a responder decides by. */
export interface ModelRequest {
  body: ChatBody;
  headers: IncomingHttpHeaders;
  /** Text of the first user message. */
  prompt: string;
  /** Text of the last user message. */
  lastUser: string;
  /** Assistant messages in the whole conversation. */
  assistantTurns: number;
  /** Assistant messages after the last user message: 0 on the first answer to it. */
  turnsSinceUser: number;
  toolNames: string[];
}

export function readRequest(body: ChatBody, headers: IncomingHttpHeaders): ModelRequest {
  let prompt: string | undefined;
  let lastUser = '';
  let assistantTurns = 0;
  let turnsSinceUser = 0;
  for (const message of body.messages) {
    if (message.role === 'user') {
      lastUser = textOfMessage(message);
      prompt ??= lastUser;
      turnsSinceUser = 0;
    } else if (message.role === 'assistant') {
      assistantTurns += 1;
      turnsSinceUser += 1;
    }
  }
  const toolNames = (body.tools ?? []).map((tool) => tool.function.name);
  return { body, headers, prompt: prompt ?? '', lastUser, assistantTurns, turnsSinceUser, toolNames };
}

export function textOfMessage(message: ChatMessage): string {
  if (typeof message.content === 'string') return message.content;
  return (message.content ?? []).map((part) => part.text ?? '').join('');
}

/**
 * What a strict provider would refuse about a conversation: a sentence, or null when all is well. The rule is OpenAI's:
 * every tool call is answered once, directly after its assistant message, and nothing else is answered.
 */
export function conversationError(body: ChatBody): string | null {
  if (body.tools?.length === 0) return "'tools' must not be an empty list.";
  let open = new Set<string>();
  for (const [at, message] of body.messages.entries()) {
    if (message.role === 'tool') {
      if (!open.delete(message.tool_call_id ?? '')) {
        return `messages[${at}]: the tool message answers '${message.tool_call_id}', which no directly preceding call has open.`;
      }
      continue;
    }
    if (open.size > 0) return `messages[${at}]: tool calls without an answer: ${[...open].join(', ')}.`;
    if (!['system', 'developer', 'user', 'assistant'].includes(message.role)) return `messages[${at}]: unknown role '${message.role}'.`;
    if (message.role !== 'assistant') continue;
    const calls = message.tool_calls ?? [];
    open = new Set(calls.map((call) => call.id));
    if (open.size < calls.length) return `messages[${at}]: two tool calls have the same id.`;
    if (calls.some((call) => typeof call.function?.arguments !== 'string')) return `messages[${at}]: arguments must be a string.`;
    if (message.tool_calls && calls.length === 0) return `messages[${at}]: tool_calls must not be an empty list.`;
  }
  return open.size > 0 ? `Tool calls without an answer at the end: ${[...open].join(', ')}.` : null;
}

/** The chat request in a body's text, or a sentence saying why it is none. */
export function parseChatBody(text: string): ChatBody | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'The request body is not valid JSON.';
  }
  if (typeof value !== 'object' || value === null) return 'The request body must be a JSON object.';
  const body = value as Partial<ChatBody>;
  if (typeof body.model !== 'string') return "'model' must be a string.";
  if (!Array.isArray(body.messages) || body.messages.length === 0) return "'messages' must be a list with at least one message.";
  if (!body.messages.every((message) => typeof message?.role === 'string')) return "Every message needs a 'role'.";
  if (body.tools !== undefined && !body.tools.every((tool) => typeof tool?.function?.name === 'string')) return "Every tool needs 'function.name'.";
  return body as ChatBody;
}
