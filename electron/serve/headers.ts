import type { ServerResponse } from 'node:http';

/**
 * The headers of every answer. The policy is the desktop's: a model's text may be shown but must not load, run or send
 * anything. `'self'` does not cover the WebSocket in every browser, so it is named.
 * @param host the Host header, already checked to be the server's own
 * @param styleNonce lets the page's own `<style>` elements in; new for every answer
 */
export function securityHeaders(host: string, styleNonce: string): Record<string, string> {
  return {
    'content-security-policy': [
      `default-src 'none'`,
      `script-src 'self'`,
      `style-src 'self' 'nonce-${styleNonce}'`,
      `img-src 'self' data: blob:`,
      `font-src 'self'`,
      `connect-src 'self' ws://${host} wss://${host}`,
      `worker-src 'self' blob:`,
      `frame-src 'none'`,
      `object-src 'none'`,
      `base-uri 'none'`,
      `form-action 'none'`,
      `frame-ancestors 'none'`,
    ].join('; '),
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), usb=(), serial=(), hid=(), payment=()',
  };
}

/** Answers with a line of plain text; not for text that a program reads. */
export function answerText(response: ServerResponse, status: number, text: string, more: Record<string, string> = {}): void {
  response.writeHead(status, {
    'content-type': 'text/plain; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    ...more,
  });
  response.end(`${text}\n`);
}
