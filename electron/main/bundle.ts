import { randomBytes } from 'node:crypto';
import { readFile, realpath, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { contentSecurityPolicy } from './csp.ts';
import { isOwnUrl } from './origin.ts';

const MIME: Record<string, string> = {
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

/** Where index.html says which host it runs in; each host puts its own name there. */
const HOST_MARKER = '<!--talaria-host-->';

/**
 * Answers one request of the page for `app://bundle/…` from the folder of the built page.
 * What is not there, or lies outside the folder (also by a symbolic link), is a 404. The screens of the page are in the
 * URL's hash, so no path stands for one.
 * @param root absolute folder of the built page
 */
export async function serveBundle(root: string, request: { url: string; method: string }): Promise<Response> {
  if (request.method !== 'GET' && request.method !== 'HEAD') return answer(405, 'Method not allowed', MIME['.txt']);
  const file = await bundleFile(root, request.url);
  if (file === undefined) return answer(404, 'Not found', MIME['.txt']);
  const nonce = randomBytes(16).toString('base64');
  const type = MIME[extname(file)] ?? 'application/octet-stream';
  const bytes = await readFile(file);
  const body = extname(file) === '.html' ? withHost(bytes.toString('utf8'), nonce) : bytes;
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
  if (path.includes('\0') || path.includes('\\')) return undefined;
  const segments = path.split('/').filter((part) => part !== '');
  // A leading dot covers `..` as well as files that nobody meant to ship.
  if (segments.some((part) => part.startsWith('.') || part.includes(':'))) return undefined;
  try {
    const folder = await realpath(root);
    const wanted = segments.length === 0 ? join(folder, 'index.html') : join(folder, ...segments);
    const real = await realpath(wanted);
    if (real !== wanted || !real.startsWith(folder + sep)) return undefined;
    return (await stat(real)).isFile() ? real : undefined;
  } catch {
    return undefined;
  }
}

function withHost(html: string, nonce: string): string {
  return html.replace(
    HOST_MARKER,
    `<meta name="talaria-host" content="desktop"><meta name="talaria-style-nonce" content="${nonce}">`,
  );
}

function answer(status: number, body: string | Uint8Array<ArrayBuffer> | null, type: string | undefined, nonce = ''): Response {
  return new Response(body, {
    status,
    headers: {
      'content-type': type ?? 'text/plain',
      'content-security-policy': contentSecurityPolicy(nonce || randomBytes(16).toString('base64')),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-cache',
    },
  });
}
