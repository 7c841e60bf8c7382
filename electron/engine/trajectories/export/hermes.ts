import type { Message, ToolSpec } from '#shared/trajectory.ts';
import { type HermesProblem, type HermesWarning, type PlainTurn, plainTurns } from './hermes-turns.ts';
import { isJsonObject, jsonString, pythonSpacing } from './json-text.ts';

export type { HermesProblem, HermesWarning } from './hermes-turns.ts';

/**
 * The Hermes dialect of ShareGPT: `conversations` of system, human, gpt and tool turns, with tools, calls and results as tagged JSON
 * in the text. Shape: the trajectory format of Hermes Agent; where its converter is known to go wrong (results named by position,
 * doubled think blocks, tags in content not escaped, harness notes as human turns) the corrected form is written. `fromHermes` reads it.
 */
export interface HermesTurn {
  from: 'system' | 'human' | 'gpt' | 'tool';
  value: string;
}

export interface HermesConversation {
  conversations: HermesTurn[];
  /** What makes the row unfit for training; empty for a good row. */
  problems: HermesProblem[];
  /** What was changed to keep the row readable, and what a reader may not expect. */
  warnings: HermesWarning[];
  /** The turn that holds a summary of earlier ones; -1 when there is none. */
  summaryTurn: number;
}

const TAGS = String.raw`\/?(?:tool_call|tool_response|tools|think)>`;
const TOKENS = String.raw`\|(?:im_start|im_end|endoftext|eot_id|start_header_id|end_header_id)\|>`;
/** The `<` of a control tag or token. */
const CONTROL = new RegExp(`<(?=${TAGS}|${TOKENS})`, 'g');
/** The `&` of what looks as if it had been escaped: it is escaped itself, so that reading gives back what was. */
const ESCAPED = new RegExp(`&(?=(?:amp;)*lt;(?:${TAGS}|${TOKENS}))`, 'g');
const ESCAPED_CONTROL = new RegExp(`&lt;(?=${TAGS}|${TOKENS})`, 'g');
const ESCAPED_TWICE = new RegExp(`&amp;(?=(?:amp;)*lt;(?:${TAGS}|${TOKENS}))`, 'g');

/** Converts messages as `plainTurns` reads them. */
export function toHermes(messages: readonly Message[], tools: readonly ToolSpec[], { summaries = false } = {}): HermesConversation {
  const { turns, problems, warnings } = plainTurns(messages, tools, { summaries });
  let escaped = false;
  const clean = (text: string): string => {
    const out = escapeText(text);
    escaped ||= out !== text;
    return out;
  };
  let summaryTurn = -1;
  const conversations: HermesTurn[] = [{ from: 'system', value: systemTurn(tools) }];
  for (const turn of turns) {
    if (turn.from === 'human') {
      conversations.push({ from: 'human', value: clean(turn.text) });
      if (turn.summary) summaryTurn = conversations.length - 1;
      continue;
    }
    conversations.push({ from: 'gpt', value: assistantTurn(turn, clean) });
    if (turn.results.length > 0) conversations.push({ from: 'tool', value: turn.results.map(({ call, content }) => `<tool_response>\n${responseJson(call.id, call.name, content)}\n</tool_response>`).join('\n') });
  }
  return { conversations, problems, warnings: escaped ? ['tags_escaped', ...warnings] : warnings, summaryTurn };
}

/** What `toHermes` did to text, undone. */
export function unescapeText(text: string): string {
  return text.replace(ESCAPED_CONTROL, '<').replace(ESCAPED_TWICE, '&');
}

function escapeText(text: string): string {
  return text.replace(ESCAPED, '&amp;').replace(CONTROL, '&lt;');
}

function assistantTurn({ reasoning, text, calls }: Extract<PlainTurn, { from: 'gpt' }>, clean: (t: string) => string): string {
  const thought = clean(reasoning);
  let out = `<think>\n${thought}${thought === '' ? '' : '\n'}</think>\n${clean(text)}`;
  if (calls.length === 0) return out.trim();
  if (text !== '') out += '\n';
  for (const call of calls) {
    const args = isJsonObject(call.arguments) ? pythonSpacing(call.arguments.toWellFormed()) : jsonString(call.arguments);
    out += `<tool_call>\n{"name": ${escapeTags(jsonString(call.name))}, "arguments": ${escapeTags(args)}}\n</tool_call>\n`;
  }
  return out.trimEnd();
}

function responseJson(id: string, name: string, content: string): string {
  const structured = /^[{[]/.test(content.trimStart()) && parses(content);
  const body = structured ? pythonSpacing(content) : jsonString(content);
  return escapeTags(`{"tool_call_id": ${jsonString(id)}, "name": ${jsonString(name)}, "content": ${body}}`);
}

/** In JSON a tag's `<` can only stand inside a string, where `\u003c` means the same and cannot end a block early. */
function escapeTags(json: string): string {
  return json.replace(CONTROL, '\\u003c');
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The system turn: how to call functions, and which there are. */
function systemTurn(tools: readonly ToolSpec[]): string {
  const list = tools.map((t) => ({ name: t.name, description: t.description, parameters: t.parameters, required: null }));
  return [
    'You are a function calling AI model. The functions you may call are described by their signatures between <tools> and </tools>. ' +
      'Call one or more of them when that helps with the request, and do not guess values for their arguments. ' +
      'What a function returns will be given to you between <tool_response> and </tool_response>.',
    `<tools>\n${escapeTags(pythonSpacing(JSON.stringify(list)))}\n</tools>`,
    'Each call is one JSON object of this schema:',
    '{"title": "FunctionCall", "type": "object", "properties": {"name": {"title": "Name", "type": "string"}, "arguments": {"title": "Arguments", "type": "object"}}, "required": ["name", "arguments"]}',
    'Put each call between its own tags, like this:\n<tool_call>\n{"name": "function_name", "arguments": {"argument": "value"}}\n</tool_call>',
  ].join('\n');
}
