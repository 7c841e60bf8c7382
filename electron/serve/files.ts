import { createReadStream } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname, join, sep } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { answerText } from './headers.ts';

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
  '.txt': 'text/plain; charset=utf-8',
};

/** Where index.html says which host it runs in. */
const HOST_MARKER = '<!--talaria-host-->';

/**
 * Answers with a file of the built page; its screens are in the URL's hash, so no other path than "/" stands for one.
 * @param segments the decoded parts of the path
 */
export async function sendPage(response: ServerResponse, folder: string, segments: readonly string[], headers: Record<string, string>, styleNonce: string): Promise<void> {
  const isStart = segments.length === 0;
  const file = await fileInside(folder, isStart ? ['index.html'] : segments);
  if (file === null) {
    if (isStart) answerText(response, 503, 'The page is not built. Stop Talaria and run "npm start", which builds it.');
    else answerText(response, 404, 'Not found.');
    return;
  }
  const bytes = await readFile(file.path);
  const isHtml = extname(file.path) === '.html';
  // Names in assets/ change with their content.
  const isHashed = segments[0] === 'assets';
  response.writeHead(200, {
    ...headers,
    'content-type': TYPES[extname(file.path)] ?? 'application/octet-stream',
    'cache-control': isHashed ? 'private, max-age=31536000, immutable' : 'no-store',
  });
  response.end(isHtml ? asBrowserPage(bytes.toString('utf8'), styleNonce) : bytes);
}

function asBrowserPage(html: string, styleNonce: string): string {
  return html.replace(HOST_MARKER, `<meta name="talaria-host" content="browser"><meta name="talaria-style-nonce" content="${styleNonce}">`);
}

/** Sends a file of the exports folder to be saved, never shown. Streams at the pace of the receiver. */
export async function sendDownload(request: IncomingMessage, response: ServerResponse, folder: string, segments: readonly string[], headers: Record<string, string>): Promise<void> {
  const name = segments[0] ?? '';
  const file = segments.length === 1 ? await fileInside(folder, segments) : null;
  if (file === null) {
    answerText(response, 404, 'There is no such export.');
    return;
  }
  const ascii = name.replace(/[^\x20-\x7e]|["\\%]/g, '_');
  const encoded = encodeURIComponent(name).replace(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  response.writeHead(200, {
    ...headers,
    'content-type': 'application/octet-stream',
    'content-length': String(file.bytes),
    'content-disposition': `attachment; filename="${ascii}"; filename*=UTF-8''${encoded}`,
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': 'no-store',
  });
  if (request.method === 'HEAD' || file.bytes === 0) {
    response.end();
    return;
  }
  // Up to the announced length, also when the file is being written to.
  await pipeline(createReadStream(file.path, { end: file.bytes - 1 }), response);
}

/** A plain file in `folder`, or null when there is none that may be given out: hidden, outside, reached by a link, no file. */
async function fileInside(folder: string, segments: readonly string[]): Promise<{ path: string; bytes: number } | null> {
  // A leading dot covers ".." as well as files that nobody meant to give out; a colon, drives and streams on Windows.
  if (segments.length === 0 || segments.some((part) => part === '' || part.startsWith('.') || /[\0/\\:]/.test(part))) return null;
  try {
    const root = await realpath(folder);
    const wanted = join(root, ...segments);
    const real = await realpath(wanted);
    if (real !== wanted || !real.startsWith(root + sep)) return null;
    const found = await stat(real);
    return found.isFile() ? { path: real, bytes: found.size } : null;
  } catch {
    return null;
  }
}
