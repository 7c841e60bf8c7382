import type { Message, ToolCall, ToolSpec } from '#shared/trajectory.ts';
import { jsonEnd } from '../../model/json-scan.ts';
import { isToolFailure } from '../../tools/failure.ts';
import { unescapeText } from './hermes.ts';
import { callBlocks, type ResponseBlock, responseBlocks } from './hermes-blocks.ts';
import { splitReasoning } from './scratchpad.ts';

export type ParseWarning =
  /** A turn that is no object with a role and a text. */
  | 'turn_not_understood'
  /** Results that answer no call were left out. */
  | 'result_without_call'
  | 'call_without_result';

export interface ParsedConversation {
  messages: Message[];
  /** As the system turn lists them. */
  tools: ToolSpec[];
  warnings: ParseWarning[];
}

export interface ParseOptions {
  /** Epoch ms, for all messages. */
  at?: number;
  /** Tags in the text were escaped, as `toHermes` does; Hermes Agent does not. */
  escaped?: boolean;
}

/** What Hermes Agent says to the model in the person's place. */
const NUDGES: readonly RegExp[] = [/^\[System: /, /^You've reached the maximum number of tool-calling iterations/, /^You just executed tool calls but returned an empty response/];

const ROLES: Readonly<Record<string, Message['role']>> = { system: 'system', human: 'user', user: 'user', gpt: 'assistant', assistant: 'assistant', tool: 'tool', observation: 'tool', function: 'tool' };

interface Turn {
  role: Message['role'];
  text: string;
  raw: Record<string, unknown>;
}

/**
 * Messages of a conversation in the Hermes dialect of ShareGPT: calls as tagged JSON in the text or as data beside it (`tool_calls`),
 * reasoning in leading think blocks or scratchpads. Calls and results are found also when text, arguments or results speak of the tags
 * themselves. What Hermes Agent said in the person's place is marked synthetic. The system turn is read for its tools; without any it is
 * the system prompt. Never throws for what is in the file.
 */
export function fromHermes(conversations: readonly unknown[], { at = 0, escaped = false }: ParseOptions = {}): ParsedConversation {
  const warnings = new Set<ParseWarning>();
  const turns = conversations.flatMap((turn) => {
    const read = readTurn(turn);
    if (!read) warnings.add('turn_not_understood');
    return read ? [read] : [];
  });
  const messages: Message[] = [];
  const clean = escaped ? unescapeText : (text: string) => text;
  let tools: ToolSpec[] = [];
  let humans = 0;
  for (let i = 0; i < turns.length; i += 1) {
    const { role, text, raw } = turns[i]!;
    if (role === 'system') {
      const listed = readTools(text);
      if (listed) tools = listed;
      else if (text.trim() !== '') messages.push({ role, content: text, createdAt: at });
    } else if (role === 'user') {
      const synthetic = humans > 0 && NUDGES.some((nudge) => nudge.test(text));
      messages.push({ role, content: clean(text), createdAt: at, ...(synthetic ? { synthetic: true } : {}) });
      humans += 1;
    } else if (role === 'assistant') {
      const results: ResponseBlock[] = [];
      while (turns[i + 1]?.role === 'tool') results.push(...readResults(turns[++i]!));
      const { message, calls } = assistantMessage(text, raw, results, { at, escaped, clean });
      const answered = matchResults(calls, results, messages.length);
      if (answered.orphans > 0) warnings.add('result_without_call');
      if (answered.results.length < calls.length) warnings.add('call_without_result');
      messages.push(calls.length > 0 ? { ...message, toolCalls: answered.calls } : message);
      for (const { call, content } of answered.results) {
        messages.push({ role: 'tool', content, toolCallId: call.id, toolName: call.name, isError: isToolFailure(content), createdAt: at });
      }
    } else warnings.add('result_without_call');
  }
  return { messages, tools, warnings: [...warnings] };
}

function readTurn(turn: unknown): Turn | null {
  if (typeof turn !== 'object' || turn === null) return null;
  const raw = turn as Record<string, unknown>;
  const from = raw['from'] ?? raw['role'];
  const value = raw['value'] ?? raw['content'] ?? '';
  const role = typeof from === 'string' && Object.hasOwn(ROLES, from) ? ROLES[from] : undefined;
  if (!role) return null;
  return { role, text: typeof value === 'string' ? value : textOfParts(value), raw };
}

/** Text of content that is a list of parts; what is no text is named. */
function textOfParts(value: unknown): string {
  if (!Array.isArray(value)) return JSON.stringify(value) ?? '';
  return value
    .map((part: unknown) => {
      const { type, text } = (part ?? {}) as { type?: unknown; text?: unknown };
      return typeof text === 'string' ? text : `[${typeof type === 'string' ? type : 'part'}]`;
    })
    .join('\n');
}

type UnnamedCall = Omit<ToolCall, 'id'> & { id: string | null };

function assistantMessage(text: string, raw: Record<string, unknown>, results: readonly ResponseBlock[], by: { at: number; escaped: boolean; clean: (text: string) => string }): { message: Message; calls: UnnamedCall[] } {
  const structured = structuredCalls(raw['tool_calls']);
  const tagged = structured.length > 0 ? { calls: [], text } : taggedCalls(text, results, by.escaped);
  const { reasoning: inline, content } = by.escaped ? splitOneBlock(tagged.text) : splitReasoning(tagged.text);
  const beside = raw['reasoning_content'] ?? raw['reasoning'];
  const reasoning = uniqueBlocks([typeof beside === 'string' ? beside.trim() : '', inline].filter((r) => r !== '').join('\n\n'));
  const message: Message = { role: 'assistant', content: by.clean(content.trim()), createdAt: by.at, ...(reasoning === '' ? {} : { reasoning: by.clean(reasoning) }) };
  return { message, calls: structured.length > 0 ? structured : tagged.calls };
}

/** `toHermes` writes exactly one block, and escapes what else looks like one. */
function splitOneBlock(text: string): { reasoning: string; content: string } {
  const block = /^<think>\n?([\s\S]*?)\n?<\/think>/.exec(text);
  return block ? { reasoning: block[1]!.trim(), content: text.slice(block[0].length) } : { reasoning: '', content: text };
}

/** Some versions of Hermes Agent wrote the same reasoning twice. */
function uniqueBlocks(reasoning: string): string {
  const half = (reasoning.length - 2) / 2;
  return Number.isInteger(half) && half > 0 && reasoning.slice(0, half) === reasoning.slice(half + 2) && reasoning.slice(half, half + 2) === '\n\n' ? reasoning.slice(0, half) : reasoning;
}

function structuredCalls(value: unknown): UnnamedCall[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((entry: unknown) => {
    const call = (entry ?? {}) as { id?: unknown; name?: unknown; arguments?: unknown; function?: { name?: unknown; arguments?: unknown } };
    const { name, arguments: args } = call.function ?? call;
    if (typeof name !== 'string') return [];
    return [{ id: typeof call.id === 'string' && call.id !== '' ? call.id : null, name, arguments: typeof args === 'string' ? args : (JSON.stringify(args ?? {}) ?? '{}') }];
  });
}

/**
 * The calls that a turn ends with, and the text before them. When blocks stand only in the middle, they are calls if results follow.
 * Hermes Agent gives every call a result with an id: when fewer follow, the first blocks are text that speaks of calls.
 */
function taggedCalls(text: string, results: readonly ResponseBlock[], escaped: boolean): { calls: UnnamedCall[]; text: string } {
  const blocks = callBlocks(text);
  let first = blocks.length;
  let end = text.length;
  while (first > 0 && text.slice(blocks[first - 1]!.end, end).trim() === '') {
    first -= 1;
    end = blocks[first]!.start;
  }
  let calls = blocks.slice(first);
  if (calls.length === 0 && results.length > 0) calls = blocks;
  if (!escaped && results.length > 0 && calls.length > results.length && results.every((r) => r.id !== null)) calls = calls.slice(-results.length);
  let rest = '';
  let from = 0;
  for (const { start, end: to } of calls) {
    rest += text.slice(from, start);
    from = to;
  }
  return { calls: calls.map((c) => ({ id: null, name: c.name, arguments: c.arguments })), text: rest + text.slice(from) };
}

function readResults({ text, raw }: Turn): ResponseBlock[] {
  const id = raw['tool_call_id'];
  const name = raw['name'];
  const whole: ResponseBlock = { start: 0, end: text.length, id: typeof id === 'string' ? id : null, name: typeof name === 'string' ? name : null, content: text };
  if (whole.id !== null) return [whole];
  const blocks = responseBlocks(text);
  return blocks.length > 0 ? blocks : [whole];
}

/** Results with their calls: by id, else by position when there are as many, else by name in order. */
function matchResults(calls: readonly UnnamedCall[], results: readonly ResponseBlock[], turn: number): { calls: ToolCall[]; results: { call: ToolCall; content: string }[]; orphans: number } {
  const used = new Set<ResponseBlock>();
  const byId = new Map(results.flatMap((r) => (r.id === null ? [] : [[r.id, r] as const])));
  const byPosition = calls.length === results.length && calls.every((c) => c.id === null);
  const take = (found: ResponseBlock | undefined): ResponseBlock | null => {
    if (found) used.add(found);
    return found ?? null;
  };
  const asked = calls.map((call) => (call.id === null ? null : take(byId.get(call.id))));
  const matched = calls.map((call, i) => (call.id !== null ? asked[i]! : take(byPosition ? results[i] : results.find((r) => r.name === call.name && !used.has(r)))));
  const ids = new Set<string>();
  const named = calls.map((call, i) => {
    const wanted = call.id ?? matched[i]?.id ?? null;
    const id = wanted === null || ids.has(wanted) ? `call_${turn}_${i}` : wanted;
    ids.add(id);
    return { id, name: call.name, arguments: call.arguments };
  });
  return {
    calls: named,
    results: named.flatMap((call, i) => (matched[i] ? [{ call, content: matched[i].content }] : [])),
    orphans: results.length - used.size,
  };
}

/** The tools of a system turn; null when it lists none. */
function readTools(text: string): ToolSpec[] | null {
  // the instructions speak of the tags before they use them
  const start = /<tools>\s*(?=\[)/.exec(text);
  if (!start) return null;
  const from = start.index + start[0].length;
  try {
    const list: unknown = JSON.parse(text.slice(from, jsonEnd(from).find(text) ?? from));
    return Array.isArray(list) ? list.flatMap(readTool) : null;
  } catch {
    return null;
  }
}

function readTool(entry: unknown): ToolSpec[] {
  const tool = (entry ?? {}) as Record<string, unknown>;
  const { name, description, parameters } = (typeof tool['function'] === 'object' && tool['function'] !== null ? tool['function'] : tool) as Record<string, unknown>;
  if (typeof name !== 'string') return [];
  return [{ name, description: typeof description === 'string' ? description : '', parameters: typeof parameters === 'object' && parameters !== null ? (parameters as Record<string, unknown>) : {} }];
}
