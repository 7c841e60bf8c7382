import type { ContentPart, Part, ReasoningPart, Step, ToolCallPlan, ToolCallsPart, Usage } from './steps.ts';

const DEFAULT_PIECE_CHARS = 24;
const CHARS_PER_TOKEN = 4;

type Json = Record<string, unknown>;

/** The `delta` objects of a streamed answer, at least one; without the finishing chunk. `callPrefix` makes ids of calls unique. */
export function deltasOf(step: Step, callPrefix: string): Json[] {
  const deltas: Json[] = [];
  let callCount = 0;
  for (const part of step.parts ?? []) {
    if ('content' in part) {
      for (const content of piecesOf(part.content, part.pieceChars)) deltas.push({ content });
    } else if ('reasoning' in part) {
      pushReasoning(part, deltas);
    } else {
      pushToolCalls(part, callCount, callPrefix, step, deltas);
      callCount += part.toolCalls.length;
    }
  }
  const first = deltas[0];
  if (!first) return [{ role: 'assistant', content: '' }];
  deltas[0] = { role: 'assistant', ...('content' in first ? {} : { content: null }), ...first };
  if (step.quirks?.roleInEveryDelta) return deltas.map((delta) => ({ role: 'assistant', ...delta }));
  return deltas;
}

/** The `message` object of an answer that is not streamed. */
export function messageOf(step: Step, callPrefix: string): Json {
  let content = '';
  const calls: Json[] = [];
  const reasoning: Json = {};
  let detailIndex = 0;
  for (const part of step.parts ?? []) {
    if ('content' in part) {
      content += textOf(part.content);
    } else if ('reasoning' in part) {
      const text = textOf(part.reasoning);
      for (const field of fieldsOf(part)) {
        if (field === 'reasoning_details') {
          const earlier = (reasoning.reasoning_details ?? []) as Json[];
          reasoning.reasoning_details = [...earlier, detailOf(part, text, true, detailIndex++)];
        } else {
          reasoning[field] = `${typeof reasoning[field] === 'string' ? reasoning[field] : ''}${text}`;
        }
      }
    } else {
      for (const call of part.toolCalls) {
        const id = call.id ?? `${callPrefix}_${calls.length}`;
        calls.push({ id, type: 'function', function: { name: call.name, arguments: call.arguments } });
      }
    }
  }
  return {
    role: 'assistant',
    content: content === '' && calls.length > 0 ? null : content,
    refusal: null,
    ...reasoning,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

export function finishReasonOf(step: Step): string {
  return step.finishReason ?? (step.parts?.some((part) => 'toolCalls' in part && part.toolCalls.length > 0) ? 'tool_calls' : 'stop');
}

/** The `usage` object, or null when this step reports none. `requestChars`: length of the request's body. */
export function usageOf(step: Step, requestChars: number): Json | null {
  if (step.usage === null) return null;
  const given: Usage = step.usage ?? {};
  let all = 0;
  let thought = 0;
  for (const part of step.parts ?? []) {
    const length = lengthOf(part);
    all += length;
    if ('reasoning' in part) thought += length;
  }
  const prompt = given.prompt ?? Math.ceil(requestChars / CHARS_PER_TOKEN);
  const completion = given.completion ?? Math.ceil(all / CHARS_PER_TOKEN);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: given.cached ?? 0 },
    completion_tokens_details: { reasoning_tokens: given.reasoning ?? Math.min(completion, Math.ceil(thought / CHARS_PER_TOKEN)) },
  };
}

function lengthOf(part: Part): number {
  if ('content' in part) return textOf(part.content).length;
  if ('reasoning' in part) return textOf(part.reasoning).length;
  return part.toolCalls.reduce((sum, call) => sum + call.name.length + call.arguments.length, 0);
}

function textOf(text: ContentPart['content']): string {
  return typeof text === 'string' ? text : text.join('');
}

function piecesOf(text: string | string[], pieceChars = DEFAULT_PIECE_CHARS): string[] {
  if (typeof text !== 'string') return text;
  return splitText(text, () => Math.max(1, pieceChars));
}

/** Cuts a text in pieces of the sizes that `nextSize` gives, never inside a surrogate pair. */
function splitText(text: string, nextSize: () => number): string[] {
  const pieces: string[] = [];
  let from = 0;
  while (from < text.length) {
    let to = from + nextSize();
    const lastUnit = text.charCodeAt(to - 1);
    if (lastUnit >= 0xd800 && lastUnit <= 0xdbff) to += 1;
    pieces.push(text.slice(from, to));
    from = to;
  }
  return pieces;
}

function fieldsOf(part: ReasoningPart): string[] {
  return Array.isArray(part.field) ? part.field : [part.field ?? 'reasoning'];
}

function pushReasoning(part: ReasoningPart, deltas: Json[]): void {
  const pieces = piecesOf(part.reasoning, part.pieceChars);
  const fields = fieldsOf(part);
  pieces.forEach((piece, at) => {
    const delta: Json = {};
    for (const field of fields) {
      delta[field] = field === 'reasoning_details' ? [detailOf(part, piece, at === pieces.length - 1, 0)] : piece;
    }
    deltas.push(delta);
  });
}

/** One entry of `reasoning_details`, in the shape of OpenRouter's API. */
function detailOf(part: ReasoningPart, text: string, isLast: boolean, index: number): Json {
  const { type = 'reasoning.text', signature, id, format = 'unknown' } = part.detail ?? {};
  const textField = type === 'reasoning.text' ? 'text' : type === 'reasoning.summary' ? 'summary' : 'data';
  return { type, [textField]: text, ...(id === undefined ? {} : { id }), ...(isLast && signature ? { signature } : {}), format, index };
}

function pushToolCalls(part: ToolCallsPart, firstIndex: number, callPrefix: string, step: Step, deltas: Json[]): void {
  const { repeatToolName, toolIndex } = step.quirks ?? {};
  const streams = part.toolCalls.map((call, at) => {
    const number = firstIndex + at;
    const index: Json = toolIndex === 'omitted' ? {} : { index: toolIndex === 'zero' ? 0 : number };
    const head = { ...index, id: call.id ?? `${callPrefix}_${number}`, type: 'function' };
    const pieces = argumentPieces(call);
    const opening = { ...head, function: { name: call.name, arguments: call.split === 'whole' ? call.arguments : '' } };
    return [opening, ...pieces.map((piece) => ({ ...index, function: { ...(repeatToolName ? { name: call.name } : {}), arguments: piece } }))];
  });
  // Without an index only the order tells whose piece it is, so such calls cannot be mixed.
  if (part.interleaved && toolIndex === undefined) {
    const longest = Math.max(0, ...streams.map((stream) => stream.length));
    for (let turn = 0; turn < longest; turn += 1) {
      for (const stream of streams) {
        const entry = stream[turn];
        if (entry) deltas.push({ tool_calls: [entry] });
      }
    }
    return;
  }
  for (const stream of streams) for (const entry of stream) deltas.push({ tool_calls: [entry] });
}

function argumentPieces(call: ToolCallPlan): string[] {
  const { split } = call;
  if (split === 'whole') return [];
  if (split === undefined) return splitText(call.arguments, () => DEFAULT_PIECE_CHARS);
  if ('seed' in split) {
    const random = seededRandom(split.seed);
    return splitText(call.arguments, () => 1 + Math.floor(random() * 12));
  }
  const borders = [0, ...split.borders, call.arguments.length];
  return borders.slice(1).map((border, at) => call.arguments.slice(borders[at], border));
}

/** Mulberry32: small, seeded, good enough to scatter borders. */
function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
