/**
 * The content security policy of the page, sent as a header with every answer of `app://`.
 * A model's text may be shown but must not load, run or send anything: nothing remote, no inline script, no eval.
 * @param styleNonce lets the page's own `<style>` elements in (editors write such); new for every answer
 */
export function contentSecurityPolicy(styleNonce: string): string {
  return [
    `default-src 'none'`,
    `script-src 'self'`,
    `style-src 'self' 'nonce-${styleNonce}'`,
    `img-src 'self' data: blob:`,
    `font-src 'self'`,
    `connect-src 'self'`,
    `worker-src 'self' blob:`,
    `frame-src 'none'`,
    `object-src 'none'`,
    `base-uri 'none'`,
    `form-action 'none'`,
    `frame-ancestors 'none'`,
  ].join('; ');
}
