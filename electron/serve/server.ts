import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';
import { Access, cookieValue, sameSecret } from './access.ts';
import { CONTROL_PATH, type Links } from './control.ts';
import { sendDownload, sendPage } from './files.ts';
import { answerText, securityHeaders } from './headers.ts';
import { isOwnHost, isOwnOrigin, isWildcard, outsideAddress, urlHost } from './hosts.ts';
import { USUAL_PORT } from './options.ts';
import { isSameMachine, isSameUser } from './peer.ts';
import { Sockets } from './sockets.ts';
import { enteringPage, noEntryPage } from './way-in.ts';

export interface ServerOptions {
  host: string;
  /** 0 = any free port; null = the usual one, or any free port when that is taken. */
  port: number | null;
  /** Other machines are meant to reach it. */
  allowRemote: boolean;
  /** Folder of the built page. */
  pageFolder: string;
  /** Told of failures that are nobody's fault; never given secrets. */
  onError: (message: string, error: unknown) => void;
  now?: () => number;
}

/** What the server serves once the engine is open. Until then it answers 503. */
export interface Backend {
  exportsFolder: string;
  /** Lets a second start of the same home ask for a link. */
  controlSecret: string;
  serveSocket: (socket: WebSocket) => void;
}

/** The link a person opens is good for an hour, the one handed to a browser at once for two minutes. */
const LINK_LIFETIME_MS = 60 * 60_000;
const OPENED_LINK_LIFETIME_MS = 2 * 60_000;
const MAX_CONNECTIONS = 512;

/** The HTTP and WebSocket server of browser mode. */
export class PageServer {
  readonly #options: ServerOptions;
  readonly #access: Access;
  readonly #sockets = new Sockets();
  readonly #http: Server;
  #backend: Backend | null = null;

  private constructor(options: ServerOptions) {
    this.#options = options;
    this.#access = new Access(options.now);
    this.#http = createServer({ maxHeaderSize: 16 * 1024, requestTimeout: 30_000 }, (request, response) => {
      this.#answer(request, response).catch((error: unknown) => {
        // The receiver has gone in the middle of an answer, or the disk failed.
        if (!response.headersSent) answerText(response, 500, 'This could not be answered; the log says why.');
        else response.destroy();
        if (!request.destroyed) options.onError('A request could not be answered', error);
      });
    });
    this.#http.maxConnections = MAX_CONNECTIONS;
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  /** Starts listening. Throws the error of the socket (EADDRINUSE, EACCES, EADDRNOTAVAIL …). */
  static async listen(options: ServerOptions): Promise<PageServer> {
    const server = new PageServer(options);
    if (options.port !== null) await listenOn(server.#http, options.host, options.port);
    else {
      await listenOn(server.#http, options.host, USUAL_PORT).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error;
        return listenOn(server.#http, options.host, 0);
      });
    }
    return server;
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  /** Where this machine reaches the page, without a token. */
  get address(): string {
    const { host } = this.#options;
    const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
    return `http://${urlHost(own)}:${this.port}/`;
  }

  open(backend: Backend): void {
    this.#backend = backend;
  }

  /** A new one-time link to print. */
  newLink(address: string = this.address): string {
    return `${address}?token=${this.#access.issueToken(LINK_LIFETIME_MS)}`;
  }

  /** A one-time link to hand to a program: other users may see it there, so it is good for this user only. */
  newLinkToOpen(): string {
    return `${this.address}?token=${this.#access.issueToken(OPENED_LINK_LIFETIME_MS, true)}`;
  }

  /** A link for other machines; null when only this one can reach the page. */
  newLinkFromOutside(): string | null {
    const outside = isWildcard(this.#options.host) ? outsideAddress() : null;
    return outside === null ? null : this.newLink(`http://${urlHost(outside)}:${this.port}/`);
  }

  /** Lets all pages know, ends their connections and stops listening. */
  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    await this.#sockets.close('Talaria was stopped.');
    this.#http.closeAllConnections();
    await closed;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // Nothing here takes a body.
    request.resume();
    if (!this.#isForUs(request)) return answerText(response, 403, 'This is not an address of Talaria. Open the link that it printed.');
    // Put together, not resolved: "//name" is a path here and not another host.
    const url = request.url?.startsWith('/') ? URL.parse(`http://talaria.invalid${request.url}`) : null;
    const segments = url && pathSegments(url.pathname);
    if (!url || !segments) return answerText(response, 400, 'This address cannot be read.');

    if (url.pathname === CONTROL_PATH) return this.#control(request, response);
    if (request.method !== 'GET' && request.method !== 'HEAD') return answerText(response, 405, 'Only GET and HEAD are answered.', { allow: 'GET, HEAD' });
    if (this.#backend === null) return answerText(response, 503, 'Talaria is starting. Try again in a moment.', { 'retry-after': '1' });

    const nonce = randomBytes(16).toString('base64');
    const headers = securityHeaders(request.headers.host ?? '', nonce);
    const token = url.pathname === '/' ? url.searchParams.get('token') : null;
    if (token !== null) return this.#enter(request, response, token, headers, nonce);
    if (!this.#hasSession(request)) return this.#refuse(request, response, 'no_session', headers, nonce);
    if (segments[0] === 'exports') return sendDownload(request, response, this.#backend.exportsFolder, segments.slice(1), headers);
    return sendPage(response, this.#options.pageFolder, segments, headers, nonce);
  }

  /** Exchanges the link's token for a session. HEAD and prefetching, as by previews of links, leave the token unused. */
  async #enter(request: IncomingMessage, response: ServerResponse, token: string, headers: Record<string, string>, nonce: string): Promise<void> {
    const looksOnly = request.method === 'HEAD' || /prefetch/.test(String(request.headers['sec-purpose'] ?? request.headers.purpose ?? ''));
    if (looksOnly) return void response.writeHead(204, { 'cache-control': 'no-store' }).end();
    const state = this.#access.check(token);
    const mayEnter = state === 'valid' || (state === 'own_user_only' && (await isSameUser(request.socket)));
    // Not touched by who may not use it; and only one of two at once gets a session.
    const session = mayEnter ? this.#access.exchange(token) : null;
    if (session === null && !this.#hasSession(request)) return this.#refuse(request, response, 'used_up', headers, nonce);

    const cookie = session === null ? {} : { 'set-cookie': `${this.#cookieName}=${session}; HttpOnly; SameSite=Strict; Path=/` };
    if (request.headers['sec-fetch-site'] !== 'cross-site') {
      response.writeHead(303, { ...headers, ...cookie, location: '/', 'cache-control': 'no-store' }).end();
      return;
    }
    response.writeHead(200, { ...headers, ...cookie, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
    response.end(enteringPage(request.headers['accept-language']));
  }

  #refuse(request: IncomingMessage, response: ServerResponse, reason: 'no_session' | 'used_up', headers: Record<string, string>, nonce: string): void {
    if (!/text\/html/.test(request.headers.accept ?? '')) {
      answerText(response, 401, 'Not let in. Open the link that Talaria printed, or run "npm start" again for a new one.');
      return;
    }
    response.writeHead(401, { ...headers, 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' });
    response.end(noEntryPage(reason, request.headers['accept-language'], nonce));
  }

  /** Gives a new link to a program on this machine that can read the home; never to a browser, which always tells an origin. */
  #control(request: IncomingMessage, response: ServerResponse): void {
    if (request.method !== 'POST') return answerText(response, 405, 'Only POST is answered.', { allow: 'POST' });
    if (request.headers.origin !== undefined || !isSameMachine(request.socket)) return answerText(response, 403, 'Not for browsers and other machines.');
    if (this.#backend === null) return answerText(response, 503, 'Talaria is starting. Try again in a moment.');
    const secret = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (!sameSecret(secret, this.#backend.controlSecret)) return answerText(response, 401, 'Wrong secret.');
    response.writeHead(200, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    const links: Links = { link: this.newLink(), open: this.newLinkToOpen() };
    response.end(JSON.stringify(links));
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    socket.on('error', () => socket.destroy());
    const backend = this.#backend;
    const refuse = (status: string): void => void socket.end(`HTTP/1.1 ${status}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    if (!this.#isForUs(request) || !isOwnOrigin(request.headers.origin, request.headers.host)) return refuse('403 Forbidden');
    if (!this.#hasSession(request)) return refuse('401 Unauthorized');
    if (request.url !== '/rpc') return refuse('404 Not Found');
    if (backend === null) return refuse('503 Service Unavailable');
    this.#sockets.accept(request, socket, head, backend.serveSocket);
  }

  #isForUs(request: IncomingMessage): boolean {
    return isOwnHost(request.headers.host, this.#options.host, this.#options.allowRemote);
  }

  #hasSession(request: IncomingMessage): boolean {
    return this.#access.isSession(cookieValue(request.headers.cookie, this.#cookieName));
  }

  /** Browsers send the cookies of one port to all ports of a host: two instances must not take each other's. */
  get #cookieName(): string {
    return `talaria-${this.port}`;
  }
}

/** The decoded parts of a path; null when they cannot be decoded or hold what no file name has. */
function pathSegments(pathname: string): string[] | null {
  try {
    const parts = pathname.split('/').filter((part) => part !== '').map(decodeURIComponent);
    return parts.some((part) => part.includes('\0')) ? null : parts;
  } catch {
    return null;
  }
}

function listenOn(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

