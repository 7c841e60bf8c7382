import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ConfigFile } from '../../store/config.ts';
import { Redactor } from '../../store/redact.ts';
import { Secrets } from '../../store/secrets.ts';
import type { ResolveAll } from './addresses.ts';
import { pageToMarkdown } from './page.ts';
import type { SearchEndpoints } from './search.ts';
import { createWebService, type Web } from './service.ts';

/** A real web server on this machine and a web service on a home of its own, for tests. */
export interface WebBench {
  /** Address of the server, without a slash at the end. */
  origin: string;
  /** What was asked of the server, in order. */
  requests: { method: string; url: string; headers: IncomingMessage['headers']; body: string }[];
  on(path: string, handler: (request: IncomingMessage, response: ServerResponse) => void): void;
  page(path: string, html: string, contentType?: string): string;
  home: string;
  config: ConfigFile;
  secrets: Secrets;
  configure(yaml: string): void;
  web(options?: { resolve?: ResolveAll; endpoints?: SearchEndpoints }): Web;
  close(): Promise<void>;
}

export async function openWebBench(env: NodeJS.ProcessEnv = {}): Promise<WebBench> {
  const handlers = new Map<string, (request: IncomingMessage, response: ServerResponse) => void>();
  const requests: WebBench['requests'] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const url = request.url ?? '';
      requests.push({ method: request.method ?? '', url, headers: request.headers, body: Buffer.concat(chunks).toString() });
      const handler = handlers.get(url.split('?')[0]!);
      if (handler) handler(request, response);
      else response.writeHead(404).end('nothing here');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const home = mkdtempSync(join(tmpdir(), 'web-test-'));
  const file = join(home, 'config.yaml');
  writeFileSync(file, 'web:\n  allow_private: true\n');
  const config = new ConfigFile(file);
  const secrets = new Secrets({ paths: { env: join(home, '.env'), keys: join(home, 'keys.json') }, env, redactor: new Redactor(env), log: { info: () => undefined, error: () => undefined } });
  const bench: WebBench = {
    origin,
    requests,
    on: (path, handler) => handlers.set(path, handler),
    page(path, html, contentType = 'text/html; charset=utf-8') {
      handlers.set(path, (_, response) => response.writeHead(200, { 'content-type': contentType }).end(html));
      return origin + path;
    },
    home,
    config,
    secrets,
    configure: (yaml) => writeFileSync(file, yaml),
    web: (options = {}) => createWebService({ config, secrets, version: '0', toMarkdown: (page) => Promise.resolve(pageToMarkdown(page)), ...options }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(home, { recursive: true, force: true });
    },
  };
  return bench;
}
