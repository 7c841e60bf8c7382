import { request as httpRequest } from 'node:http';
import { startFakeModel, type FakeModel, type FakeModelOptions } from './fake-model.ts';

type Json = Record<string, unknown>;

/** Runs `test` with a server of its own and closes it in every case. */
export async function withFake(test: (fake: FakeModel) => Promise<void>, options: FakeModelOptions = {}): Promise<void> {
  const fake = await startFakeModel(options);
  try {
    await test(fake);
  } finally {
    await fake.close();
  }
}

/** A chat request by plain fetch, streamed unless said otherwise. */
export function post(fake: FakeModel, body: Json = {}, init: RequestInit = {}): Promise<Response> {
  const whole = { model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }], ...body };
  return fetch(`${fake.url}/chat/completions`, {
    method: 'POST',
    body: JSON.stringify(whole),
    ...init,
    headers: { 'content-type': 'application/json', ...init.headers },
  });
}

/** The pieces of a streamed body as the server wrote them: node:http gives each HTTP chunk alone, while fetch may join some. */
export async function writtenPieces(fake: FakeModel): Promise<Buffer[]> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(`${fake.url}/chat/completions`, { method: 'POST' }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.once('end', () => resolve(pieces));
      response.once('error', reject);
    });
    request.once('error', reject);
    request.end(JSON.stringify({ model: 'm', stream: true, messages: [{ role: 'user', content: 'hi' }] }));
  });
}

/** The text of a body as far as it came, and the error that ended them, if any. */
export async function readBody(response: Response): Promise<{ pieces: Buffer[]; text: string; error: unknown }> {
  const pieces: Buffer[] = [];
  let error: unknown = null;
  try {
    for await (const piece of response.body ?? []) pieces.push(Buffer.from(piece as Uint8Array));
  } catch (caught) {
    error = caught;
  }
  return { pieces, text: Buffer.concat(pieces).toString('utf8'), error };
}

/** The `data:` payloads of an SSE text, as texts. */
export function dataOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.startsWith('data: ')).map((line) => line.slice('data: '.length));
}

interface Chunk {
  choices: { delta: Json & { content?: string | null; tool_calls?: DeltaCall[] }; finish_reason: string | null }[];
  usage?: Json | null;
  error?: Json;
}

export interface DeltaCall {
  index?: number;
  id?: string;
  function: { name?: string; arguments: string };
}

/** The chunks of an SSE text that are JSON. */
export function chunksOf(text: string): Chunk[] {
  return dataOf(text).flatMap((data) => {
    try {
      return [JSON.parse(data) as Chunk];
    } catch {
      return [];
    }
  });
}

export async function chunks(response: Response): Promise<Chunk[]> {
  return chunksOf((await readBody(response)).text);
}

export function contentOf(list: Chunk[]): string {
  return list.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('');
}

export function callsOf(list: Chunk[]): DeltaCall[] {
  return list.flatMap((chunk) => chunk.choices[0]?.delta.tool_calls ?? []);
}
