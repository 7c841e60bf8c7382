/** The turns of a conversation as chat datasets write it. */
export interface Conversation {
  system: string | null;
  user: string[];
  /** The last answer in it. */
  answer: string | null;
}

const ROLES: Record<string, 'system' | 'user' | 'assistant'> = {
  system: 'system', developer: 'system', user: 'user', human: 'user', prompter: 'user', assistant: 'assistant', gpt: 'assistant', model: 'assistant', bot: 'assistant', chatgpt: 'assistant',
};

/** Whether a value is a list of messages: OpenAI's `role` and `content`, or ShareGPT's `from` and `value`; also as JSON text. */
export function isConversation(value: unknown): boolean {
  const list = listOf(value);
  return list.length > 0 && list.every((m) => typeof m === 'object' && m !== null && !Array.isArray(m) && ('role' in m || 'from' in m));
}

/** Null when a turn of the user is no text or there is none. Tool messages and unknown roles say nothing about the prompt. */
export function readConversation(value: unknown): Conversation | null {
  const found: Conversation = { system: null, user: [], answer: null };
  for (const message of listOf(value) as Record<string, unknown>[]) {
    const role = ROLES[String(message.role ?? message.from ?? '').toLowerCase()];
    const text = textOf(message.content ?? message.value);
    if (role === 'user') {
      if (text === null || text.trim() === '') return null;
      found.user.push(text);
    } else if (role === 'system' && text !== null) found.system ??= text;
    else if (role === 'assistant' && text !== null && text !== '') found.answer = text;
  }
  return found.user.length === 0 ? null : found;
}

function listOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string' || !/^\s*\[\s*\{/.test(value)) return [];
  try {
    const parsed: unknown = JSON.parse(value);
    return Array.isArray(parsed) ? parsed : [];
  } catch {
    return [];
  }
}

/** A text, or the parts of one; null with pictures and sound in it. */
function textOf(content: unknown): string | null {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  const parts: string[] = [];
  for (const part of content as unknown[]) {
    if (typeof part === 'string') parts.push(part);
    else if (typeof part === 'object' && part !== null && typeof (part as { text?: unknown }).text === 'string') parts.push((part as { text: string }).text);
    else return null;
  }
  return parts.join('\n');
}
