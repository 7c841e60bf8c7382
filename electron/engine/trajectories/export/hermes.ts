import type { Message, ToolSpec } from '#shared/trajectory.ts';
import { isJsonObject, jsonString, pythonSpacing } from './json-text.ts';

/**
 * The Hermes dialect of ShareGPT: `conversations` of system, human, gpt and tool turns, with tools, calls and results as tagged JSON
 * in the text. Shape: the trajectory format of Hermes Agent; where its converter is known to go wrong (results named by position,
 * doubled think blocks, tags in content not escaped, harness notes as human turns) the corrected form is written.
 */
export interface HermesTurn {
  from: 'system' | 'human' | 'gpt' | 'tool';
  value: string;
}

export interface HermesConversation {
  conversations: HermesTurn[];
  /** What makes the row unfit for training; empty for a good row. */
  problems: HermesProblem[];
  /** What was changed to keep the row readable. */
  warnings: 'tags_escaped'[];
}

export type HermesProblem =
  | 'empty'
  | 'no_answer'
  | 'malformed_call'
  | 'unknown_tool'
  | 'call_without_result'
  | 'result_without_call'
  | 'ends_without_assistant';

const CONTROL_TAG = /<(?=\/?(?:tool_call|tool_response|tools|think)>)/g;
const CHATML_TOKEN = /<(?=\|(?:im_start|im_end|endoftext|eot_id|start_header_id|end_header_id)\|>)/g;

/** Converts stored messages; synthetic ones are left out, neighbouring human turns joined. */
export function toHermes(messages: readonly Message[], tools: readonly ToolSpec[]): HermesConversation {
  const problems = new Set<HermesProblem>();
  const warnings = new Set<'tags_escaped'>();
  const turns: HermesTurn[] = [{ from: 'system', value: systemTurn(tools) }];
  const toolNames = new Set(tools.map((t) => t.name));
  const clean = (text: string) => {
    const out = text.toWellFormed().replace(CONTROL_TAG, '&lt;').replace(CHATML_TOKEN, '&lt;');
    if (out !== text.toWellFormed()) warnings.add('tags_escaped');
    return out;
  };

  const real = messages.filter((m) => !m.synthetic && m.role !== 'system');
  for (let i = 0; i < real.length; i++) {
    const m = real[i]!;
    const last = turns.at(-1)!;
    if (m.role === 'user') {
      if (last.from === 'human') last.value += `\n\n${clean(m.content)}`;
      else turns.push({ from: 'human', value: clean(m.content) });
    } else if (m.role === 'assistant') {
      turns.push({ from: 'gpt', value: assistantTurn(m, clean, toolNames, problems) });
      const calls = m.toolCalls ?? [];
      if (calls.length === 0) continue;
      const results = new Map<string, Message>();
      while (real[i + 1]?.role === 'tool') {
        const result = real[++i]!;
        if (calls.some((c) => c.id === result.toolCallId)) results.set(result.toolCallId!, result);
        else problems.add('result_without_call');
      }
      const blocks = calls.flatMap((c) => {
        const result = results.get(c.id);
        if (!result) problems.add('call_without_result');
        return result ? [`<tool_response>\n${responseJson(c.id, c.name, result.content)}\n</tool_response>`] : [];
      });
      if (blocks.length > 0) turns.push({ from: 'tool', value: blocks.join('\n') });
    } else problems.add('result_without_call');
  }

  if (turns.length === 1) problems.add('empty');
  else if (!turns.some((t) => t.from === 'gpt')) problems.add('no_answer');
  else if (turns.at(-1)!.from !== 'gpt') problems.add('ends_without_assistant');
  return { conversations: turns, problems: [...problems], warnings: [...warnings] };
}

function assistantTurn(m: Message, clean: (t: string) => string, toolNames: ReadonlySet<string>, problems: Set<HermesProblem>): string {
  const reasoning = clean(m.reasoning?.trim() ?? '');
  let text = `<think>\n${reasoning}${reasoning === '' ? '' : '\n'}</think>\n`;
  text += clean(m.content.trim());
  if (!m.toolCalls?.length) return text.trim();
  if (m.content.trim() !== '') text += '\n';
  for (const call of m.toolCalls) {
    if (!toolNames.has(call.name)) problems.add('unknown_tool');
    let args = call.arguments;
    if (!isJsonObject(args)) {
      problems.add('malformed_call');
      args = jsonString(args);
    }
    text += `<tool_call>\n{"name": ${jsonString(call.name)}, "arguments": ${escapeTags(pythonSpacing(args.toWellFormed()))}}\n</tool_call>\n`;
  }
  return text.trimEnd();
}

function responseJson(id: string, name: string, content: string): string {
  const text = content.toWellFormed();
  const structured = /^[{[]/.test(text.trimStart()) && parses(text);
  const body = structured ? pythonSpacing(text) : jsonString(text);
  return escapeTags(`{"tool_call_id": ${jsonString(id)}, "name": ${jsonString(name)}, "content": ${body}}`);
}

/** In JSON a tag's `<` can only stand inside a string, where `\u003c` means the same and cannot end a block early. */
function escapeTags(json: string): string {
  return json.replace(CONTROL_TAG, '\\u003c').replace(CHATML_TOKEN, '\\u003c');
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
