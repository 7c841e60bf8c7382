import { isRecord, parseJson } from './json.ts';
import { jsonEnd, rawMembers, type JsonEnd } from './json-scan.ts';
import type { OfferedTools } from './offered-tools.ts';

export interface TextCall {
  name: string;
  /** Raw JSON text, as in native calls. */
  arguments: string;
}

/** What a piece of text that may be a call turned out to be: not known yet, no call, or calls up to `end`. */
export type Verdict = 'more' | 'no' | { end: number; calls: TextCall[] };

/** One piece of text that may be a call, read as it comes in. `over`: there will be no more. */
export type Reader = (text: string, over: boolean) => Verdict;

export interface CallForm {
  /** What it begins with; also used to hold back beginnings that are cut in the middle. */
  openings: readonly string[];
  /** A reader for a text that begins with one of the openings. */
  read: (tools: OfferedTools) => Reader;
  /** Closing tags behind a call, which are not for a person. */
  closers: readonly string[];
  /** What directly behind a call begins another one, without an opening. */
  again?: string;
  /** A form that may as well be an example: it counts only when nothing but such calls follow to the end of the answer. */
  onlyAtEnd?: boolean;
  /** Recognised at the very beginning of the answer only. */
  onlyAtStart?: boolean;
}

/**
 * The forms in which models write calls into their text. Sources, read in 2026: chat templates on huggingface.co of Hermes 3 and
 * Qwen 2.5 (`<tool_call>` JSON), Qwen3-Coder (`<function=…>`), GLM-4.5 (`<arg_key>`), Mistral (`[TOOL_CALLS]`), Llama 3.1
 * (`<|python_tag|>`, bare JSON), DeepSeek V3 and V3.1 (`<｜tool▁calls▁begin｜>`), Kimi K2, MiniMax M2 and DeepSeek V3.2 (`<invoke>`).
 */
export const CALL_FORMS: readonly CallForm[] = [
  { openings: ['<tool_call>'], read: taggedCall, closers: ['</tool_call>'], again: '{' },
  { openings: ['<function='], read: (tools) => functionTag(tools, 0), closers: ['</function>', '</tool_call>'] },
  { openings: ['[TOOL_CALLS]'], read: mistralCall, closers: ['</s>', '[/TOOL_CALLS]'] },
  { openings: ['<|python_tag|>'], read: (tools) => jsonCall(tools, '<|python_tag|>'.length), closers: [';', '<|eom_id|>', '<|eot_id|>'], again: '{' },
  {
    openings: ['<｜tool▁calls▁begin｜>', '<｜tool▁call▁begin｜>'],
    read: (tools) => headedCall(tools, DEEPSEEK_HEAD),
    closers: ['```', '<｜tool▁call▁end｜>', '<｜tool▁calls▁end｜>', '<｜end▁of▁sentence｜>'],
  },
  {
    openings: ['<|tool_calls_section_begin|>', '<|tool_call_begin|>'],
    read: (tools) => headedCall(tools, KIMI_HEAD),
    closers: ['<|tool_call_end|>', '<|tool_calls_section_end|>'],
  },
  {
    openings: ['<function_calls>', '<｜DSML｜function_calls>', '<minimax:tool_call>', '<invoke name=', '<｜DSML｜invoke name='],
    read: invokeCall,
    closers: ['</invoke>', '</function_calls>', '</minimax:tool_call>', '</｜DSML｜invoke>', '</｜DSML｜function_calls>'],
  },
  { openings: ['```json\n', '```\n', '```tool_call\n'], read: fencedCall, closers: [], onlyAtEnd: true },
  { openings: ['{'], read: (tools) => strictJson(tools, 0), closers: [';'], onlyAtEnd: true, onlyAtStart: true },
];

/** Heads name the tool, directly before its arguments; they stay below so many characters. */
const MAX_HEAD_CHARS = 260;
const DEEPSEEK_HEAD = /^(?:<｜tool▁calls▁begin｜>\s*)?<｜tool▁call▁begin｜>\s*(?:function\s*<｜tool▁sep｜>)?\s*([\w.:-]+)\s*(?:<｜tool▁sep｜>)?\s*(?:```(?:json)?\s*)?(?=\{)/;
const KIMI_HEAD = /^(?:<\|tool_calls_section_begin\|>\s*)?<\|tool_call_begin\|>\s*([\w.:-]+)\s*<\|tool_call_argument_begin\|>\s*(?=\{)/;
const MISTRAL_HEAD = /^\[TOOL_CALLS\]\s*([\w.:-]+)\s*(?:\[CALL_ID\]\s*\w+\s*)?(?:\[ARGS\])?\s*(?=\{)/;

const ARGUMENT_KEYS = ['arguments', 'parameters', 'args', 'input'];

/** One call, or a list of them, as JSON at `start`. */
function jsonCall(tools: OfferedTools, start: number): Reader {
  let scan: JsonEnd | null = null;
  let from = start;
  return (text, over) => {
    if (scan === null) {
      from = start + (/^\s*/.exec(text.slice(start))?.[0].length ?? 0);
      const first = text[from];
      if (first === undefined) return over ? 'no' : 'more';
      if (first !== '{' && first !== '[') return 'no';
      scan = jsonEnd(from);
    }
    const end = scan.find(text);
    if (end === null && !over) return 'more';
    const till = end ?? orEnd(text, text.indexOf('</tool_call>', from));
    const calls = callsIn(text.slice(from, till), tools);
    return calls === null ? 'no' : { end: till, calls };
  };
}

/** The calls of a JSON text, also of one that is broken or breaks off, as long as the name can be read. */
function callsIn(json: string, tools: OfferedTools): TextCall[] | null {
  const value = parseJson(json);
  if (Array.isArray(value)) {
    const calls = arrayItems(json).map((item) => callIn(item, tools));
    return calls.length > 0 && calls.every((call) => call !== null) ? calls : null;
  }
  const call = callIn(json, tools);
  return call === null ? null : [call];
}

function callIn(json: string, tools: OfferedTools): TextCall | null {
  let members = rawMembers(json);
  const inner = members.get('function');
  if (inner?.startsWith('{') === true) members = rawMembers(inner);
  const given: unknown = parseJson(members.get('name') ?? inner ?? '');
  const name = typeof given === 'string' ? tools.meant(given) : null;
  if (name === null) return null;
  const raw = ARGUMENT_KEYS.map((key) => members.get(key)).find((text) => text !== undefined) ?? '{}';
  // Some write the arguments as a string that holds the JSON, as in the API.
  const text: unknown = raw.startsWith('"') ? parseJson(raw) : raw;
  return { name, arguments: typeof text === 'string' ? text : raw };
}

function arrayItems(json: string): string[] {
  const items: string[] = [];
  for (let at = json.indexOf('{'); at !== -1; ) {
    const end = jsonEnd(at).find(json);
    if (end === null) break;
    items.push(json.slice(at, end));
    at = json.indexOf('{', end);
  }
  return items;
}

function taggedCall(tools: OfferedTools): Reader {
  const start = '<tool_call>'.length;
  let inner: Reader | null = null;
  return (text, over) => {
    if (inner === null) {
      const body = text.slice(start).trimStart();
      if (body === '') return over ? 'no' : 'more';
      const from = text.length - body.length;
      if (body.startsWith('{') || body.startsWith('[')) inner = jsonCall(tools, start);
      else if (body.startsWith('<function=')) inner = functionTag(tools, from);
      else if ('<function='.startsWith(body)) return over ? 'no' : 'more';
      else if (/^\w/.test(body)) inner = argKeyCall(tools, from);
      else return 'no';
    }
    return inner(text, over);
  };
}

/** `<function=name>` with `<parameter=key>` tags or JSON inside. */
function functionTag(tools: OfferedTools, start: number): Reader {
  let json: JsonEnd | null = null;
  let searched = start;
  return (text, over) => {
    const open = /^<function=([^>\s]{1,100})>\s*/.exec(text.slice(start, start + 300));
    if (open === null) return over || text.length > start + 200 || text.slice(start).includes('\n') ? 'no' : 'more';
    const name = tools.meant(open[1] ?? '');
    if (name === null) return 'no';
    const from = start + open[0].length;
    if (text[from] === undefined) return over ? 'no' : 'more';
    if (text[from] === '{') {
      json ??= jsonEnd(from);
      const end = json.find(text);
      if (end === null && !over) return 'more';
      return { end: end ?? text.length, calls: [{ name, arguments: text.slice(from, end ?? text.length) }] };
    }
    const end = tagEnd(text, Math.max(from, searched - 40), /<\/parameter>\s*<\/function>/g) ?? (text.startsWith('</function>', from) ? from + '</function>'.length : null);
    searched = text.length;
    if (end === null && !over) return 'more';
    const till = end ?? orEnd(text, text.indexOf('</function>', from));
    const body = text.slice(from, till);
    return { end: till, calls: [{ name, arguments: tools.asJson(name, parametersIn(body, /<parameter=([^>\s]+)>/g, '</parameter>')) }] };
  };
}

/** GLM: the name on a line of its own, then `<arg_key>` and `<arg_value>` in turn. */
function argKeyCall(tools: OfferedTools, start: number): Reader {
  return (text, over) => {
    const head = /^([\w.:-]{1,100})\s*(?=<|$)/.exec(text.slice(start, start + 200));
    if (head === null) return 'no';
    const isWhole = start + head[0].length < text.length;
    if (!isWhole) return over ? 'no' : 'more';
    const name = tools.meant(head[1] ?? '');
    if (name === null) return 'no';
    const from = start + head[0].length;
    const rest = text.slice(from, from + '</tool_call>'.length);
    if (!['<arg_key>', '</tool_call>'].some((tag) => tag.startsWith(rest) || rest.startsWith(tag))) return 'no';
    const at = text.indexOf('</tool_call>', from);
    if (at === -1 && !over) return 'more';
    const end = orEnd(text, at);
    const pairs = [...text.slice(from, end).matchAll(/<arg_key>([\s\S]*?)<\/arg_key>\s*<arg_value>([\s\S]*?)(?:<\/arg_value>|$)/g)];
    return { end, calls: [{ name, arguments: tools.asJson(name, pairs.map(([, key = '', value = '']) => [key.trim(), value])) }] };
  };
}

/** `[TOOL_CALLS]` with a list of calls, or with a name and then its arguments. */
function mistralCall(tools: OfferedTools): Reader {
  const start = '[TOOL_CALLS]'.length;
  let inner: Reader | null = null;
  return (text, over) => {
    const body = text.slice(start).trimStart();
    if (inner === null) {
      if (body === '') return over ? 'no' : 'more';
      inner = body.startsWith('[') || body.startsWith('{') ? jsonCall(tools, start) : headedCall(tools, MISTRAL_HEAD);
    }
    return inner(text, over);
  };
}

/** A head that names the tool, and then its arguments as JSON. */
function headedCall(tools: OfferedTools, head: RegExp): Reader {
  let found: { name: string; from: number; scan: JsonEnd } | null = null;
  return (text, over) => {
    if (found === null) {
      const match = head.exec(text.slice(0, MAX_HEAD_CHARS));
      if (match === null) return over || text.length > MAX_HEAD_CHARS ? 'no' : 'more';
      const name = tools.meant(match[1] ?? '');
      if (name === null) return 'no';
      found = { name, from: match[0].length, scan: jsonEnd(match[0].length) };
    }
    const end = found.scan.find(text);
    if (end === null && !over) return 'more';
    return { end: end ?? text.length, calls: [{ name: found.name, arguments: text.slice(found.from, end ?? text.length) }] };
  };
}

/** `<invoke name="…">` with `<parameter name="…">` tags. */
function invokeCall(tools: OfferedTools): Reader {
  let searched = 0;
  return (text, over) => {
    const open = /^(?:<(?:(?:｜DSML｜)?function_calls|minimax:tool_call)>\s*)?<(?:｜DSML｜)?invoke name="([^"\n]{1,100})"[^>\n]{0,100}>/.exec(text.slice(0, 400));
    if (open === null) return over || text.length > 300 ? 'no' : 'more';
    const name = tools.meant(open[1] ?? '');
    if (name === null) return 'no';
    const end = tagEnd(text, Math.max(open[0].length, searched - 40), /<\/(?:｜DSML｜)?invoke>/g);
    searched = text.length;
    if (end === null && !over) return 'more';
    const body = text.slice(open[0].length, end ?? text.length);
    const parameters = parametersIn(body, /<(?:｜DSML｜)?parameter name="([^"\n]+)"[^>\n]*>/g, body.includes('</｜DSML｜parameter>') ? '</｜DSML｜parameter>' : '</parameter>');
    return { end: end ?? text.length, calls: [{ name, arguments: tools.asJson(name, parameters) }] };
  };
}

/** A fence that holds nothing but one call. */
function fencedCall(tools: OfferedTools): Reader {
  let inner: Reader | null = null;
  return (text, over) => {
    const from = text.indexOf('\n') + 1;
    inner ??= strictJson(tools, from);
    const verdict = inner(text, over);
    if (typeof verdict === 'string') return verdict;
    const rest = text.slice(verdict.end);
    const close = /^\s*```[ \t]*(?:\n|$)/.exec(rest);
    if (close !== null && (over || close[0].endsWith('\n') || close[0].trimEnd().endsWith('```'))) return { end: verdict.end + close[0].length, calls: verdict.calls };
    return !over && '```'.startsWith(rest.trim()) ? 'more' : 'no';
  };
}

const CALL_KEYS: ReadonlySet<string> = new Set(['name', 'type', 'id', ...ARGUMENT_KEYS]);

/** JSON that can be nothing but a call: whole, with the exact name of an offered tool, arguments as an object, and no other keys. */
function strictJson(tools: OfferedTools, start: number): Reader {
  const reader = jsonCall(tools, start);
  return (text, over) => {
    if (cannotBeCall(text.slice(start, start + 200), tools)) return 'no';
    const verdict = reader(text, over);
    if (typeof verdict === 'string') return verdict;
    const value = parseJson(text.slice(start, verdict.end));
    if (!isRecord(value) || typeof value.name !== 'string' || !tools.isExact(value.name)) return 'no';
    const keys = Object.keys(value);
    const given = ARGUMENT_KEYS.filter((key) => key in value);
    return keys.every((key) => CALL_KEYS.has(key)) && given.length === 1 && isRecord(value[given[0] ?? '']) ? verdict : 'no';
  };
}

/** Told early, so that the JSON of an example is not held back to its end. */
function cannotBeCall(head: string, tools: OfferedTools): boolean {
  const key = /^\s*\{\s*"([^"]*)"/.exec(head)?.[1];
  if (key === undefined) return !/^\s*(?:\{\s*(?:"[^"]*)?)?$/.test(head);
  const name = /^\s*\{\s*"name"\s*:\s*"([^"]*)"/.exec(head)?.[1];
  return !CALL_KEYS.has(key) || (name !== undefined && !tools.isExact(name));
}

function orEnd(text: string, at: number): number {
  return at === -1 ? text.length : at;
}

function tagEnd(text: string, from: number, tag: RegExp): number | null {
  tag.lastIndex = from;
  const match = tag.exec(text);
  return match === null ? null : match.index + match[0].length;
}

/** Values of parameter tags, without the line breaks that templates put around them. A value that is not closed goes to the next tag. */
function parametersIn(body: string, opening: RegExp, closing: string): [string, string][] {
  const opens = [...body.matchAll(opening)];
  return opens.map((open, at) => {
    const start = open.index + open[0].length;
    const limit = opens[at + 1]?.index ?? body.length;
    const end = body.lastIndexOf(closing, limit);
    const value = body.slice(start, end < start ? limit : end);
    return [open[1] ?? '', value.replace(/^\r?\n/, '').replace(/\r?\n$/, '')];
  });
}
