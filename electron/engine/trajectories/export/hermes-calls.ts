import type { Message, ToolCall, ToolSpec } from '#shared/trajectory.ts';
import { type HermesProblem, plainTurns } from './hermes-turns.ts';

/*
 * Conversations with calls as data instead of tagged text. Arguments are JSON text, as the model wrote it. Turns of different roles have
 * different keys, in every row: that is how Hugging Face datasets (4.7 and later) know at the first rows that turns are not alike, and
 * take calls that come only much later.
 */

interface StructuredCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

export type HermesCallsTurn =
  | { from: 'human'; value: string }
  | { from: 'gpt'; value: string; tool_calls: StructuredCall[] }
  | { from: 'tool'; value: string; tool_call_id: string; name: string };

/** ShareGPT turns as in published Hermes data with structured calls: reasoning as a think block in the text, one tool turn per result. */
export function toHermesCalls(messages: readonly Message[], tools: readonly ToolSpec[]): { conversations: HermesCallsTurn[]; problems: HermesProblem[] } {
  const { turns, problems } = plainTurns(messages, tools);
  const conversations = turns.flatMap((turn): HermesCallsTurn[] => {
    if (turn.from === 'human') return [{ from: 'human', value: turn.text }];
    const value = `<think>\n${turn.reasoning}${turn.reasoning === '' ? '' : '\n'}</think>\n${turn.text}`.trim();
    return [
      { from: 'gpt', value, tool_calls: turn.calls.map(structured) },
      ...turn.results.map(({ call, content }) => ({ from: 'tool' as const, value: content, tool_call_id: call.id, name: call.name })),
    ];
  });
  return { conversations, problems };
}

export type OpenAiMessage =
  | { role: 'user'; content: string }
  | { role: 'assistant'; content: string; reasoning_content: string; tool_calls?: StructuredCall[] }
  | { role: 'tool'; tool_call_id: string; name: string; content: string };

/** Messages as OpenAI's chat API has them, with the reasoning beside the content. */
export function toOpenAiMessages(messages: readonly Message[], tools: readonly ToolSpec[]): { messages: OpenAiMessage[]; problems: HermesProblem[] } {
  const { turns, problems } = plainTurns(messages, tools);
  const converted = turns.flatMap((turn): OpenAiMessage[] => {
    if (turn.from === 'human') return [{ role: 'user', content: turn.text }];
    return [
      { role: 'assistant', content: turn.text, reasoning_content: turn.reasoning, ...(turn.calls.length > 0 ? { tool_calls: turn.calls.map(structured) } : {}) },
      ...turn.results.map(({ call, content }) => ({ role: 'tool' as const, tool_call_id: call.id, name: call.name, content })),
    ];
  });
  return { messages: converted, problems };
}

function structured(call: ToolCall): StructuredCall {
  return { id: call.id.toWellFormed(), type: 'function', function: { name: call.name.toWellFormed(), arguments: call.arguments.toWellFormed() } };
}
