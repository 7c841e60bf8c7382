import type { Reply } from './connection.ts';
import { createEventReader, type ServerEvent } from './events.ts';
import { type FaultContext, notAnApi, statusFault, streamedFault } from './faults.ts';
import { isRecord, parseJson } from './json.ts';
import { placeOf } from './place.ts';
import { ModelError } from './types.ts';

const HEAD_CHARS = 200;
const DONE = /^\s*\[DONE\]/;

/** What an answer looked like on the wire, beyond its chunks. */
export interface WireView {
  /** First characters of the body. */
  head: string;
  /** The stream said `[DONE]`; nothing behind it is read. */
  sawDone: boolean;
}

/**
 * The chunks of a response, as many at once as came together: of its event stream, or the one completion of a server that does not stream.
 * @throws ModelError for what is no answer, SyntaxError for an event that is no JSON, or what broke the connection.
 */
export async function* chunksOf(reply: Reply, view: WireView, context: FaultContext): AsyncGenerator<unknown[]> {
  const { status, headers } = reply;
  if (status < 200 || status > 299) throw statusFault(status, errorOf(await wholeText(reply).catch(() => '')), headers, context);
  const type = headers.get('content-type')?.toLowerCase() ?? '';
  if (type.includes('text/html')) throw notAnApi(context.endpoint.baseUrl, status);
  if (type.includes('application/json')) {
    yield [completionOf(await wholeText(reply), status, context)];
    return;
  }
  const events = createEventReader();
  for (let bytes = await reply.next(); ; bytes = await reply.next()) {
    if (bytes !== null && view.head.length < HEAD_CHARS) view.head = (view.head + bytes.toString('latin1', 0, HEAD_CHARS)).slice(0, HEAD_CHARS);
    const chunks: unknown[] = [];
    for (const event of bytes === null ? events.end() : events.push(bytes)) {
      if (DONE.test(event.data)) {
        view.sawDone = true;
        break;
      }
      if (event.data.trim() === '') continue;
      let chunk: unknown;
      try {
        chunk = chunkOf(event, context);
      } catch (error) {
        // what came before it has come
        if (chunks.length > 0) yield chunks;
        throw error;
      }
      chunks.push(chunk);
    }
    if (chunks.length > 0) yield chunks;
    if (bytes === null || view.sawDone) return;
  }
}

function chunkOf({ event, data }: ServerEvent, context: FaultContext): unknown {
  const chunk: unknown = JSON.parse(data);
  const error = isRecord(chunk) ? chunk.error : undefined;
  if (event === 'error') throw streamedFault(error ?? chunk, context);
  if (error) throw streamedFault(error, context);
  return chunk;
}

function completionOf(text: string, status: number, context: FaultContext): unknown {
  const value = parseJson(text);
  if (!isRecord(value)) {
    throw new ModelError('bad_response', `${placeOf(context.endpoint.baseUrl)} sent an answer that is not valid JSON.`, { status });
  }
  if (value.error !== undefined && value.error !== null) throw streamedFault(value.error, context);
  if (!Array.isArray(value.choices)) throw statusFault(404, '', undefined, context);
  return value;
}

/** The body of an error: what servers put under `error`, all of it where they do not, or the text that is no JSON. */
function errorOf(text: string): unknown {
  const value = parseJson(text);
  return isRecord(value) ? (value.error ?? value) : text;
}

async function wholeText(reply: Reply): Promise<string> {
  const pieces: Buffer[] = [];
  for (let bytes = await reply.next(); bytes !== null; bytes = await reply.next()) pieces.push(bytes);
  return Buffer.concat(pieces).toString('utf8');
}
