/** What every host that serves the built page does alike. */

/** Content types by file ending, of all that the page's bundle may hold. */
const CONTENT_TYPES: Record<string, string> = {
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

/** The content type for a file ending such as ".js". */
export function contentTypeOf(ending: string): string {
  return CONTENT_TYPES[ending] ?? 'application/octet-stream';
}

/**
 * The content security policy of the page, sent as a header with every answer.
 * A model's text may be shown but must not load, run or send anything: nothing remote, no inline script, no eval.
 * @param styleNonce lets the page's own `<style>` elements in (editors write such); new for every answer
 * @param connect further sources that the page may connect to, for sockets that `'self'` does not cover in every browser
 */
export function contentSecurityPolicy(styleNonce: string, connect: readonly string[] = []): string {
  return [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self' 'nonce-${styleNonce}'`,
    `img-src 'self' data: blob:`,
    `font-src 'self'`,
    `connect-src ${["'self'", ...connect].join(' ')}`,
    `worker-src 'self' blob:`,
    `frame-src 'none'`,
    `object-src 'none'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ');
}

/** Where index.html says which host it runs in. */
const HOST_MARKER = '<!--talaria-host-->';

/** index.html as one host serves it: it tells the page how to reach the engine. */
export function pageForHost(html: string, host: 'desktop' | 'browser', styleNonce: string): string {
  return html.replace(HOST_MARKER, `<meta name="talaria-host" content="${host}"><meta name="talaria-style-nonce" content="${styleNonce}">`);
}
