import { deltasOf, finishReasonOf, messageOf, usageOf } from './answer.ts';
import type { Connection } from './connection.ts';
import { htmlReply, statusReply } from './faults.ts';
import type { ChatBody } from './requests.ts';
import type { Fault, Step, StreamErrorFault } from './steps.ts';

export interface ReplyContext {
  body: ChatBody;
  /** Length of the request's body in characters, for the estimate of its tokens. */
  requestChars: number;
  number: number;
  /** When the request arrived, `performance.now()`. */
  arrivedAt: number;
  /** Resolves when the gate of that name is open. */
  gate(name: string): Promise<void>;
  /** Called before the server itself breaks the connection. */
  onBreak(): void;
}

const DEFAULT_MALFORMED = '{"id":"chatcmpl-broken","choices":[{"index":0,"delta":{"content":"lo';

/** Plays one step on a connection. Resolves when the response is over as far as the server is concerned. */
export async function reply(step: Step, context: ReplyContext, connection: Connection): Promise<void> {
  const { fault, pace, gate } = step;
  const streamed = context.body.stream === true;
  // what is said is worked out while a model would think
  const events = streamed ? streamOf(step, context) : null;
  if (pace?.firstByteMs) await connection.pauseUntil(context.arrivedAt + pace.firstByteMs);
  if (gate && (!streamed || !gate.afterChunks)) await connection.until(context.gate(gate.name));
  if (connection.closed) return;
  if (fault?.kind === 'status' || fault?.kind === 'html') {
    const { status, headers, body } = fault.kind === 'html' ? htmlReply(fault.status, fault.title) : statusReply(fault, Date.now());
    connection.head(status, { ...headers, 'content-length': String(Buffer.byteLength(body)) });
    connection.add(body);
    return connection.end();
  }
  if (fault?.kind === 'drop') {
    context.onBreak();
    return connection.destroy();
  }
  return events ? replyStream(step, context, connection, events) : replyWhole(step, context, connection);
}

function errorObject(fault: StreamErrorFault): Record<string, unknown> {
  return { message: fault.message ?? 'The provider broke off unexpectedly.', code: fault.code ?? 502 };
}

async function replyWhole(step: Step, context: ReplyContext, connection: Connection): Promise<void> {
  const { fault } = step;
  const usage = usageOf(step, context.requestChars);
  const choice = { index: 0, message: messageOf(step, `call_${context.number}`), logprobs: null, finish_reason: finishReasonOf(step) };
  const whole = JSON.stringify(
    fault?.kind === 'stream-error'
      ? { error: errorObject(fault) }
      : { ...envelope(context, 'chat.completion'), choices: [choice], ...(usage ? { usage } : {}) },
  );
  const half = whole.slice(0, Math.ceil(whole.length / 2));
  const isShort = fault?.kind === 'malformed' || (fault?.kind === 'cut' && fault.how === 'end');
  const announced = isShort ? half : whole;
  connection.head(200, { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(announced)) });
  if (fault?.kind === 'hang') return connection.untilClosed();
  if (fault?.kind === 'cut' && !isShort) {
    context.onBreak();
    connection.add(half);
    return connection.destroy();
  }
  connection.add(announced);
  return connection.end();
}

/** The SSE body of a step, event by event; `pieces` of them carry the answer's pieces, the others close it. */
function eventsOf(step: Step, context: ReplyContext, eol: string): { events: string[]; pieces: number } {
  const wantsUsage = context.body.stream_options?.include_usage === true;
  const usage = wantsUsage ? usageOf(step, context.requestChars) : null;
  const base = JSON.stringify(envelope(context, 'chat.completion.chunk')).slice(0, -1);
  const tail = wantsUsage && usage ? ',"usage":null}' : '}';
  const chunk = (delta: unknown, finish: string | null): string =>
    `data: ${base},"choices":[{"index":0,"delta":${JSON.stringify(delta)},"logprobs":null,"finish_reason":${JSON.stringify(finish)}}]${tail}${eol}${eol}`;
  const events = deltasOf(step, `call_${context.number}`).map((delta) => chunk(delta, null));
  const pieces = events.length;
  events.push(chunk({}, finishReasonOf(step)));
  if (usage) events.push(`data: ${base},"choices":[],"usage":${JSON.stringify(usage)}}${eol}${eol}`);
  if (!step.wire?.omitDone) events.push(`data: [DONE]${eol}${eol}`);
  return { events, pieces };
}

/** The events that are sent, and how many pieces of the answer the step has. */
function streamOf(step: Step, context: ReplyContext): { events: string[]; pieces: number } {
  const eol = eolOf(step);
  const built = eventsOf(step, context, eol);
  return { events: withFault(built.events, built.pieces, step.fault, context, eol), pieces: built.pieces };
}

function eolOf({ wire }: Step): string {
  return wire?.crlf ? '\r\n' : '\n';
}

async function replyStream(step: Step, context: ReplyContext, connection: Connection, { events, pieces }: { events: string[]; pieces: number }): Promise<void> {
  const { fault, wire = {}, gate } = step;
  const eol = eolOf(step);
  const gateAt = gate?.afterChunks ? Math.min(gate.afterChunks, pieces) : -1;
  const between = step.pace?.betweenChunksMs ?? 0;
  const commentEvery = Math.max(1, wire.comment?.everyChunks ?? 4);
  const atOnce = between === 0 && gateAt === -1 && fault === undefined;
  connection.head(200, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-cache' }, !atOnce);
  for (const [at, event] of events.entries()) {
    if (at > 0 && between > 0) {
      await connection.flush(false);
      await connection.pause(between);
    }
    if (at === gateAt && gate) {
      await connection.flush(true);
      await connection.until(context.gate(gate.name));
    }
    if (connection.closed) return;
    if (wire.comment && at % commentEvery === 0) connection.add(`: ${wire.comment.text}${eol}${eol}`);
    connection.add(event);
  }
  if (fault?.kind === 'hang') {
    await connection.flush(true);
    return connection.untilClosed();
  }
  if (fault?.kind === 'cut' && fault.how !== 'end') {
    context.onBreak();
    return connection.destroy();
  }
  return connection.end();
}

function withFault(events: string[], pieces: number, fault: Fault | undefined, context: ReplyContext, eol: string): string[] {
  if (!fault || fault.kind === 'status' || fault.kind === 'html' || fault.kind === 'drop') return events;
  const kept = events.slice(0, Math.min(pieces, fault.afterChunks ?? (fault.kind === 'hang' ? 0 : 1)));
  if (fault.kind === 'malformed') {
    return [...kept, `data: ${fault.text ?? DEFAULT_MALFORMED}${eol}${eol}`, ...events.slice(kept.length)];
  }
  if (fault.kind === 'stream-error') {
    const choices = [{ index: 0, delta: { content: '' }, finish_reason: 'error' }];
    const data = JSON.stringify({ ...envelope(context, 'chat.completion.chunk'), error: errorObject(fault), choices });
    return [...kept, `data: ${data}${eol}${eol}`];
  }
  return kept;
}

function envelope(context: ReplyContext, object: string): Record<string, unknown> {
  return { id: `chatcmpl-${context.number}`, object, created: Math.floor(Date.now() / 1000), model: context.body.model };
}
