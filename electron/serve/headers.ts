import type { ServerResponse } from 'node:http';
import { contentSecurityPolicy } from '#shared/page.ts';

/**
 * The headers of every answer. The policy is the desktop's, with the WebSocket named: `'self'` does not
 * cover it in every browser.
 * @param host the Host header, already checked to be the server's own
 * @param styleNonce lets the page's own `<style>` elements in; new for every answer
 */
export function securityHeaders(host: string, styleNonce: string): Record<string, string> {
  return {
    'content-security-policy': contentSecurityPolicy(styleNonce, [`ws://${host}`, `wss://${host}`]),
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
