/** A step: what the fake model server does with one request. Plain data, so that a script can also be a JSON file. */
export interface Step {
  /** The answer, in the order in which it is streamed. Left out or empty: an empty answer. */
  parts?: Part[];
  /** Default: `tool_calls` when the answer has tool calls, else `stop`. */
  finishReason?: string;
  /** Default: estimated at four characters per token. `null`: this provider never reports usage. */
  usage?: Usage | null;
  pace?: Pace;
  /** Holds the answer until the test calls `fake.release(name)`. */
  gate?: Gate;
  wire?: Wire;
  quirks?: Quirks;
  fault?: Fault;
}

export type Part = ContentPart | ReasoningPart | ToolCallsPart;

/** Text as a list is streamed piece by piece as given; one text is split in pieces of `pieceChars` (default 24). */
interface Pieces {
  pieceChars?: number;
}

export interface ContentPart extends Pieces {
  content: string | string[];
}

export type ReasoningField = 'reasoning' | 'reasoning_content' | 'reasoning_details';

export interface ReasoningPart extends Pieces {
  reasoning: string | string[];
  /** Several fields carry the same text side by side, as OpenRouter does. Default `reasoning`. */
  field?: ReasoningField | ReasoningField[];
  /** Only for `reasoning_details`: the entry's type and what else belongs to it. The signature comes with the last piece. */
  detail?: { type?: 'reasoning.text' | 'reasoning.summary' | 'reasoning.encrypted'; signature?: string; id?: string; format?: string };
}

export interface ToolCallsPart {
  toolCalls: ToolCallPlan[];
  /** Stream the argument pieces of these calls in turn instead of one call after the other. */
  interleaved?: boolean;
}

export interface ToolCallPlan {
  /** Default: unique per request and call. */
  id?: string;
  name: string;
  /** The text as sent: may be malformed JSON. */
  arguments: string;
  /**
   * How the arguments are split: `whole` puts name and arguments in one delta; `borders` are offsets in characters;
   * `seed` picks pieces of 1 to 12 characters, always the same for one seed. Default: pieces of 24 characters.
   */
  split?: 'whole' | { borders: number[] } | { seed: number };
}

/** Counts of tokens; sent in OpenAI's shape. */
export interface Usage {
  prompt?: number;
  completion?: number;
  reasoning?: number;
  cached?: number;
}

export interface Pace {
  /** Before the status line and headers. */
  firstByteMs?: number;
  /** Between two streamed chunks. */
  betweenChunksMs?: number;
}

export interface Gate {
  name: string;
  /** Streamed pieces before the wait; default 0, which holds the headers back too. */
  afterChunks?: number;
}

/** How the body is put on the wire; the meaning stays the same. */
export interface Wire {
  /** Write the body in slices of so many bytes, so that borders fall inside characters and lines. */
  sliceBytes?: number;
  sliceDelayMs?: number;
  crlf?: boolean;
  /** An SSE comment line before the first chunk and then before every `everyChunks`th (default 4). */
  comment?: { text: string; everyChunks?: number };
  omitDone?: boolean;
}

export interface Quirks {
  repeatToolName?: boolean;
  /** `omitted`: no index at all; `zero`: every call says 0. Calls then follow one another, told apart by their ids. */
  toolIndex?: 'omitted' | 'zero';
  roleInEveryDelta?: boolean;
}

export type Fault = StatusFault | HtmlFault | CutFault | MalformedFault | StreamErrorFault | HangFault | { kind: 'drop' };

/** An HTTP error with a JSON body in OpenAI's shape. Left-out fields follow the status. */
export interface StatusFault {
  kind: 'status';
  status: number;
  message?: string;
  type?: string;
  code?: string | null;
  /** Seconds, sent as a number. */
  retryAfter?: number;
  /** Seconds from now, sent as an HTTP date (which has whole seconds: rounded up). */
  retryAfterDate?: number;
  /** Milliseconds, sent as `retry-after-ms`. */
  retryAfterMs?: number;
  headers?: Record<string, string>;
}

export interface HtmlFault {
  kind: 'html';
  status: number;
  title?: string;
}

/** `afterChunks` counts the streamed pieces of the answer, in every fault; more than there are means: all, but no finish. */
export interface CutFault {
  kind: 'cut';
  afterChunks?: number;
  /** `destroy` (default) closes the socket; `end` ends the body in good order, but with neither finish reason nor [DONE]. */
  how?: 'destroy' | 'end';
}

/** A chunk that is no JSON; the good chunks go on after it. */
export interface MalformedFault {
  kind: 'malformed';
  afterChunks?: number;
  text?: string;
}

/** Status 200 and then an `error` object in the stream, as OpenRouter sends when its upstream fails. */
export interface StreamErrorFault {
  kind: 'stream-error';
  afterChunks?: number;
  message?: string;
  code?: string | number;
}

/** Headers and `afterChunks` pieces (default 0), then silence until somebody closes the connection. */
export interface HangFault {
  kind: 'hang';
  afterChunks?: number;
}

export function say(content: string | string[], options: Pieces & Pick<Step, 'finishReason' | 'usage'> = {}): Step {
  const { pieceChars, ...rest } = options;
  return { parts: [{ content, ...(pieceChars === undefined ? {} : { pieceChars }) }], ...rest };
}

export function think(reasoning: string | string[], field: ReasoningPart['field'] = 'reasoning', detail?: ReasoningPart['detail']): Step {
  return { parts: [{ reasoning, field, ...(detail ? { detail } : {}) }] };
}

/** Arguments given as a text are sent as they are; anything else as JSON. */
export function toolCall(name: string, args: unknown = {}, options: Pick<ToolCallPlan, 'id' | 'split'> = {}): ToolCallPlan {
  return { name, arguments: typeof args === 'string' ? args : JSON.stringify(args), ...options };
}

export function callTool(name: string, args: unknown = {}, options: Pick<ToolCallPlan, 'id' | 'split'> = {}): Step {
  return callTools([toolCall(name, args, options)]);
}

/** Several calls in one answer; `interleaved` mixes their argument pieces by index. */
export function callTools(toolCalls: ToolCallPlan[], options: { interleaved?: boolean } = {}): Step {
  return { parts: [{ toolCalls, ...options }] };
}

/** One step out of several: parts follow one another, of everything else the later one wins. */
export function together(...steps: Step[]): Step {
  const result: Step = {};
  for (const step of steps) {
    const { parts, pace, wire, quirks, ...rest } = step;
    if (parts) result.parts = [...(result.parts ?? []), ...parts];
    if (pace) result.pace = { ...result.pace, ...pace };
    if (wire) result.wire = { ...result.wire, ...wire };
    if (quirks) result.quirks = { ...result.quirks, ...quirks };
    Object.assign(result, rest);
  }
  return result;
}

export function empty(): Step {
  return { parts: [] };
}

export function fail(status: number, options: Omit<StatusFault, 'kind' | 'status'> = {}): Step {
  return { fault: { kind: 'status', status, ...options } };
}

/** The 400 of a conversation that is too long, in the words by which clients know it. */
export function contextOverflow(limit = 8192, asked = 9001): Step {
  return fail(400, {
    message: `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${asked} tokens.`,
    code: 'context_length_exceeded',
  });
}

export function htmlError(status = 502, title?: string): Step {
  return { fault: { kind: 'html', status, ...(title === undefined ? {} : { title }) } };
}

export function cutAfter(afterChunks: number, how: CutFault['how'] = 'destroy'): Step {
  return { fault: { kind: 'cut', afterChunks, how } };
}

/** The connection is closed before a single byte is answered. */
export function drop(): Step {
  return { fault: { kind: 'drop' } };
}

export function malformedAfter(afterChunks: number, text?: string): Step {
  return { fault: { kind: 'malformed', afterChunks, ...(text === undefined ? {} : { text }) } };
}

export function streamErrorAfter(afterChunks: number, options: Omit<StreamErrorFault, 'kind' | 'afterChunks'> = {}): Step {
  return { fault: { kind: 'stream-error', afterChunks, ...options } };
}

export function hangAfter(afterChunks = 0): Step {
  return { fault: { kind: 'hang', afterChunks } };
}

/** A few bytes at a time. */
export function drip(sliceDelayMs: number, sliceBytes = 1): Step {
  return { wire: { sliceBytes, sliceDelayMs } };
}

export function sliced(sliceBytes: number): Step {
  return { wire: { sliceBytes } };
}

export function paced(firstByteMs: number, betweenChunksMs = 0): Step {
  return { pace: { firstByteMs, betweenChunksMs } };
}

/** Waits for `fake.release(name)` once `afterChunks` pieces are out. */
export function gated(name: string, afterChunks = 0): Step {
  return { gate: { name, afterChunks } };
}
