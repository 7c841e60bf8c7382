import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Connection } from './connection.ts';
import { statusReply } from './faults.ts';
import { reply } from './reply.ts';
import { conversationError, parseChatBody, readRequest } from './requests.ts';
import type { ChatBody, ModelRequest, RecordedChat, RecordedRequest } from './requests.ts';
import { fail, say, type Step } from './steps.ts';

export type { ChatBody, ChatMessage, ChatTool, ModelRequest, RecordedChat, RecordedRequest } from './requests.ts';

/** Decides the step for one request. What it throws is answered as a 500 that carries the message. */
export type Responder = (request: ModelRequest) => Step | Promise<Step>;

export interface FakeModelOptions {
  /** Default 0: any free port. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** With a key, requests without `Authorization: Bearer <key>` get a 401. */
  apiKey?: string;
  /** For `GET /v1/models`: ids, or what the list says of a model; default `fake-model`. A chat request may name any model. */
  models?: (string | { id: string; [field: string]: unknown })[];
  /** Milliseconds from the request to the first byte of every answer whose step gives none itself. */
  latencyMs?: number;
  /** Refuse conversations that OpenAI would refuse (see `conversationError`) with a 400. Default true. */
  strict?: boolean;
  /** How many of the latest requests are kept; default all. Long runs give a number, to keep memory flat. */
  keepRequests?: number;
  respond?: Responder;
  onDone?: (request: RecordedRequest) => void;
}

export interface FakeModel {
  /** Base URL for clients; ends in `/v1`. */
  url: string;
  port: number;
  /** Every request that was kept, in order of arrival. */
  requests: RecordedRequest[];
  /** The kept chat requests with a valid body. */
  readonly chats: RecordedChat[];
  /** Valid chat requests: all so far, open now, and most open at once. */
  readonly counts: { chats: number; open: number; mostOpen: number };
  /** Queues steps; each valid chat request takes the next one. The queue goes before the responder. */
  script(...steps: Step[]): void;
  /** Steps still in the queue: a test that ends with some has not asked as often as it believed. */
  readonly unused: number;
  /** Answers whatever the queue does not; null returns to the plain answer. */
  respond(responder: Responder | null): void;
  /** Opens a gate, for all that wait and all that come. */
  release(gate: string): void;
  /** Resolves once so many valid chat requests have arrived in all. */
  waitForChats(count: number): Promise<void>;
  /** Stops listening and ends open sockets. May be called again. */
  close(): Promise<void>;
}

interface Gate {
  promise: Promise<void>;
  open: () => void;
}

/** Starts a scripted OpenAI-compatible server: `POST /v1/chat/completions`, streamed or not, and `GET /v1/models`. */
export async function startFakeModel(options: FakeModelOptions = {}): Promise<FakeModel> {
  const { port = 0, host = '127.0.0.1', apiKey, models = ['fake-model'], latencyMs = 0, strict = true, keepRequests = Infinity } = options;
  const queue: Step[] = [];
  const requests: RecordedRequest[] = [];
  const gates = new Map<string, Gate>();
  const counts = { chats: 0, open: 0, mostOpen: 0 };
  let waiting: { count: number; resolve: () => void }[] = [];
  let responder = options.respond ?? null;
  let arrived = 0;
  let closing: Promise<void> | undefined;

  const gateNamed = (name: string): Gate => {
    let gate = gates.get(name);
    if (!gate) {
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = { promise, open: resolve };
      gates.set(name, gate);
    }
    return gate;
  };

  const nextStep = async (body: ChatBody, request: IncomingMessage): Promise<Step> => {
    const queued = queue.shift();
    if (queued) return queued;
    const seen = readRequest(body, request.headers);
    if (!responder) return plainAnswer(seen);
    try {
      return await responder(seen);
    } catch (error) {
      return fail(500, { message: `The responder threw: ${error instanceof Error ? error.message : String(error)}` });
    }
  };

  const serveChat = async (record: RecordedRequest, body: ChatBody, requestChars: number, request: IncomingMessage, response: ServerResponse, arrivedAt: number, onBreak: () => void) => {
    record.body = body;
    counts.chats += 1;
    counts.open += 1;
    counts.mostOpen = Math.max(counts.mostOpen, counts.open);
    response.once('close', () => (counts.open -= 1));
    waiting = waiting.filter(({ count, resolve }) => {
      if (counts.chats >= count) resolve();
      return counts.chats < count;
    });
    const decided = await nextStep(body, request);
    const step = latencyMs > 0 && decided.pace?.firstByteMs === undefined ? { ...decided, pace: { ...decided.pace, firstByteMs: latencyMs } } : decided;
    const connection = new Connection(response, step.wire);
    await reply(step, { body, requestChars, arrivedAt, number: record.number, gate: (name) => gateNamed(name).promise, onBreak }, connection);
  };

  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { promise: done, resolve } = Promise.withResolvers<void>();
    const arrivedAt = performance.now();
    const { method = '', url = '', headers } = request;
    const record: RecordedRequest = {
      number: ++arrived,
      method,
      path: url.split('?', 1)[0] ?? url,
      headers,
      authorization: headers.authorization,
      body: null,
      arrivedAt: Date.now(),
      clientLeft: false,
      done,
    };
    let brokeOff = false;
    if (keepRequests > 0) requests.push(record);
    if (requests.length > keepRequests) requests.shift();
    response.once('close', () => {
      record.endedAt = Date.now();
      if (response.headersSent) record.status = response.statusCode;
      record.clientLeft = !response.writableFinished && !brokeOff && closing === undefined;
      resolve();
      options.onDone?.(record);
    });
    const refuse = (status: number, message?: string): void => sendError(response, status, message);

    const text = await readText(request);
    if (text === null) return;
    if (apiKey !== undefined && record.authorization !== `Bearer ${apiKey}`) return refuse(401);
    if (method === 'GET' && record.path === '/v1/models') {
      const data = models.map((model) => ({ object: 'model', created: 0, owned_by: 'fake', ...(typeof model === 'string' ? { id: model } : model) }));
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ object: 'list', data }));
      return;
    }
    if (method !== 'POST' || record.path !== '/v1/chat/completions') return refuse(404, `There is no ${method} ${record.path} here.`);
    const body = parseChatBody(text);
    if (typeof body === 'string') return refuse(400, body);
    const wrong = strict ? conversationError(body) : null;
    if (wrong !== null) return refuse(400, wrong);
    await serveChat(record, body, text.length, request, response, arrivedAt, () => (brokeOff = true));
  };

  const server = createServer({ keepAliveTimeout: 60_000, requestTimeout: 0, noDelay: true }, (request, response) => {
    serve(request, response).catch((error: unknown) => {
      // A step that cannot be played is the script's fault: say so instead of leaving the client to wait.
      if (!response.headersSent) sendError(response, 500, `The step cannot be played: ${String(error)}`);
      else response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, 1024, resolve);
  });
  const address = server.address() as AddressInfo;

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}/v1`,
    port: address.port,
    requests,
    counts,
    get chats() {
      return requests.filter((record): record is RecordedChat => record.body !== null);
    },
    get unused() {
      return queue.length;
    },
    script: (...steps) => void queue.push(...steps),
    respond: (next) => {
      responder = next;
    },
    release: (name) => gateNamed(name).open(),
    waitForChats: (count) => (counts.chats >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve }))),
    close: () => {
      closing ??= new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      });
      return closing;
    },
  };
}

function plainAnswer({ lastUser }: ModelRequest): Step {
  const topic = lastUser.trim().split('\n', 1)[0]?.slice(0, 80) ?? '';
  return say(topic === '' ? 'Hello. What shall we do?' : `You said: “${topic}”. This is a plain answer of the fake model.`);
}

function sendError(response: ServerResponse, status: number, message?: string): void {
  const { headers, body } = statusReply({ kind: 'status', status, ...(message === undefined ? {} : { message }) }, Date.now());
  response.writeHead(status, headers).end(body);
}

/** The request's body, or null when the client went away while sending it. */
async function readText(request: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = [];
  try {
    for await (const part of request) parts.push(part as Buffer);
  } catch {
    return null;
  }
  return Buffer.concat(parts).toString('utf8');
}
