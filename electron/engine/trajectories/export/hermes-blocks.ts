import { jsonEnd, rawMembers } from '../../model/json-scan.ts';

/** A text is gone through so many times at most: hostile ones have thousands of tags behind which nothing ends. */
const MAX_READINGS = 4;

export interface CallBlock {
  start: number;
  end: number;
  name: string;
  /** Raw JSON text; what was no JSON object stands as it was. */
  arguments: string;
}

export interface ResponseBlock {
  start: number;
  end: number;
  id: string | null;
  name: string | null;
  content: string;
}

/**
 * Blocks of `<tool_call>` JSON in a text. The JSON says where a block ends, not the first closing tag, which may be part of an argument.
 * What only looks like a block is passed over.
 */
export function callBlocks(text: string): CallBlock[] {
  return jsonBlocks(text, 'tool_call').flatMap(({ start, end, raw, value }) => {
    const { name, arguments: args } = value;
    if (typeof name !== 'string' || name === '') return [];
    return [{ start, end, name, arguments: typeof args === 'string' ? args : (rawMembers(raw).get('arguments') ?? '{}') }];
  });
}

/** Blocks of `<tool_response>`; one whose JSON is broken ends at its closing tag, and its content is what stands there. */
export function responseBlocks(text: string): ResponseBlock[] {
  const good = new Map(jsonBlocks(text, 'tool_response').map(({ start, end, raw, value }): [number, ResponseBlock] => {
    const { tool_call_id: id, name, content } = value;
    const body = 'content' in value ? (typeof content === 'string' ? content : rawMembers(raw).get('content')!) : raw;
    return [start, { start, end, id: typeof id === 'string' && id !== '' ? id : null, name: typeof name === 'string' ? name : null, content: body }];
  }));
  const blocks: ResponseBlock[] = [];
  for (let at = text.indexOf('<tool_response>'); at >= 0; at = text.indexOf('<tool_response>', at)) {
    const block = good.get(at);
    const close = text.indexOf('</tool_response>', at);
    if (!block && close < 0) break;
    blocks.push(block ?? { start: at, end: close + '</tool_response>'.length, id: null, name: null, content: text.slice(at + '<tool_response>'.length, close).trim() });
    at = blocks.at(-1)!.end;
  }
  return blocks;
}

function jsonBlocks(text: string, tag: string): { start: number; end: number; raw: string; value: Record<string, unknown> }[] {
  const open = `<${tag}>`;
  const close = `</${tag}>`;
  const blocks: { start: number; end: number; raw: string; value: Record<string, unknown> }[] = [];
  let read = 0;
  for (let at = text.indexOf(open); at >= 0 && read < MAX_READINGS * text.length; at = text.indexOf(open, at)) {
    const json = skipSpace(text, at + open.length);
    const end = text[json] === '{' ? jsonEnd(json).find(text) : null;
    read += (end ?? (text[json] === '{' ? text.length : json)) - json;
    const behind = end === null ? -1 : skipSpace(text, end);
    const value = end !== null && text.startsWith(close, behind) ? parseObject(text.slice(json, end)) : null;
    if (value) {
      blocks.push({ start: at, end: behind + close.length, raw: text.slice(json, end!), value });
      at = behind + close.length;
    } else at += open.length;
  }
  return blocks;
}

function parseObject(json: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (/\s/.test(text[at] ?? '')) at += 1;
  return at;
}
