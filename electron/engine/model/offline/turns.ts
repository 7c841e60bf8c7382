import { isRequest, type Message, type ToolCall } from '#shared/trajectory.ts';
import { isRecord, parseJson } from '../json.ts';

/** One earlier answer to the current prompt, with the text of its tool results. */
export interface Turn {
  calls: readonly ToolCall[];
  results: string;
}

/** The prompt that is being answered and what has been done for it so far. Messages of the harness and texts of skills are no prompts. */
export function readConversation(messages: readonly Message[]): { prompt: string; turns: Turn[] } {
  const at = messages.findLastIndex(isRequest);
  const turns: { calls: readonly ToolCall[]; results: string[] }[] = [];
  for (const message of messages.slice(at + 1)) {
    if (message.role === 'assistant') turns.push({ calls: message.toolCalls ?? [], results: [] });
    else if (message.role === 'tool') turns.at(-1)?.results.push(resultText(message.content));
  }
  return { prompt: messages[at]?.content.trim() ?? '', turns: turns.map((turn) => ({ calls: turn.calls, results: turn.results.join('\n') })) };
}

/** A result as text to search: the values of a JSON object, texts as they are and everything else as `name=value`. */
function resultText(content: string): string {
  const value = parseJson(content);
  if (!isRecord(value)) return content;
  return Object.entries(value)
    .map(([name, item]) => (name === 'error' && item !== null ? `error=${String(item)}` : typeof item === 'string' ? item : `${name}=${JSON.stringify(item)}`))
    .join('\n');
}
