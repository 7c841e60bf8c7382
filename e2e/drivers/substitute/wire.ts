/** How values cross to the preload world, where only JSON text can go: plain JSON, bytes, or nothing. */
export type WireValue = ['u'] | ['b', string] | ['j', unknown];

/** @throws TypeError for values that would silently change on the way (Map, Date, class instances) */
export function toWire(value: unknown): WireValue {
  if (value === undefined) return ['u'];
  if (value instanceof ArrayBuffer) return ['b', Buffer.from(value).toString('base64')];
  if (ArrayBuffer.isView(value)) return ['b', Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64')];
  requirePlain(value);
  return ['j', value];
}

export function fromWire(value: WireValue): unknown {
  if (value[0] === 'u') return undefined;
  return value[0] === 'b' ? new Uint8Array(Buffer.from(value[1], 'base64')) : value[1];
}

function requirePlain(value: unknown): void {
  if (value === null || typeof value !== 'object') return;
  if (!Array.isArray(value) && Object.getPrototypeOf(value) !== Object.prototype) {
    throw new TypeError('The substitute for Electron carries only strings, bytes and plain JSON values');
  }
  Object.values(value).forEach(requirePlain);
}

/** Chromium refuses unknown schemes, so `app://bundle` is shown to it under an https address. */
export function toBrowserUrl(url: string): string {
  return url.replace(/^app:\/\/([^/]+)/, 'https://$1.app.test');
}

/** The way back: what main and the specs see. */
export function toAppUrl(url: string): string {
  return url.replace(/^https:\/\/([^/.]+)\.app\.test/, 'app://$1');
}
