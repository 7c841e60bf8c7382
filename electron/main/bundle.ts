import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { plainFileInside } from '#engine/store/plain-file.ts';
import { contentSecurityPolicy, contentTypeOf, pageForHost } from '#shared/page.ts';
import { isOwnUrl } from './origin.ts';

/**
 * Answers one request of the page for `app://bundle/…` from the folder of the built page.
 * What is not there, or lies outside the folder (also by a symbolic link), is a 404. The screens of the page are in the
 * URL's hash, so no path stands for one.
 * @param root absolute folder of the built page
 */
export async function serveBundle(root: string, request: { url: string; method: string }): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return answer(405, 'Method not allowed', contentTypeOf('.txt'));
  const file = await bundleFile(root, request.url);
  if (file === undefined) return answer(404, 'Not found', contentTypeOf('.txt'));
  const nonce = randomBytes(16).toString('base64');
  const type = contentTypeOf(extname(file));
  const bytes = await readFile(file);
  const body = extname(file) === '.html' ? pageForHost(bytes.toString('utf8'), 'desktop', nonce) : bytes;
  return answer(200, request.method === 'HEAD' ? null : body, type, nonce);
}

/** The file that a URL of the page names, or undefined when there is none that may be given out. */
async function bundleFile(root: string, url: string): Promise<string | undefined> {
  if (!isOwnUrl(url)) return undefined;
  let path: string;
  try {
    path = decodeURIComponent(new URL(url).pathname);
  } catch {
    return undefined;
  }
  if (path.includes('\\')) return undefined;
  const segments = path.split('/').filter((part) => part !== '');
  return (await plainFileInside(root, segments.length === 0 ? ['index.html'] : segments))?.path;
}

function answer(status: number, body: string | Uint8Array<ArrayBuffer> | null, type: string, nonce = ''): Response {
  return new Response(body, {
    status,
    headers: {
      'content-type': type,
      'content-security-policy': contentSecurityPolicy(nonce || randomBytes(16).toString('base64')),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    },
  });
}
