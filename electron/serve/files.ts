import { createReadStream } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { plainFileInside } from '#engine/store/plain-file.ts';
import { contentTypeOf, pageForHost } from '#shared/page.ts';
import { answerText } from './headers.ts';

/**
 * Answers with a file of the built page; its screens are in the URL's hash, so no other path than "/" stands for one.
 * @param segments the decoded parts of the path
 */
export async function sendPage(response: ServerResponse, folder: string, segments: readonly string[], headers: Record<string, string>, styleNonce: string): Promise<void> {
  const isStart = segments.length === 0;
  const file = await plainFileInside(folder, isStart ? ['index.html'] : segments);
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
    'content-type': contentTypeOf(extname(file.path)),
    'cache-control': isHashed ? 'private, max-age=31536000, immutable' : 'no-store',
  });
  response.end(isHtml ? pageForHost(bytes.toString('utf8'), 'browser', styleNonce) : bytes);
}

/** Sends a file of the exports folder to be saved, never shown. Streams at the pace of the receiver. */
export async function sendDownload(request: IncomingMessage, response: ServerResponse, folder: string, segments: readonly string[], headers: Record<string, string>): Promise<void> {
  const name = segments[0] ?? '';
  const file = segments.length === 1 ? await plainFileInside(folder, segments) : null;
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
