const EVENT_ITERATOR = 3;
const ABORT_SIGNAL = 4;

/**
 * Whether a WebSocket frame is a message of an oRPC client (the JSON that `@orpc/standard-server-peer` 1.16 writes: `i` id, `t` type,
 * `p` payload with `u` path, `h` headers). Binary frames are not: our pages send none.
 */
export function isRequestFrame(data: unknown): boolean {
  if (typeof data !== 'string') return false;
  const message = parsed(data);
  if (!isObject(message) || typeof message['i'] !== 'string') return false;
  const { t: type, p: payload } = message;
  if (type === ABORT_SIGNAL) return true;
  if (type !== undefined && type !== 1 && type !== EVENT_ITERATOR) return false;
  if (!isObject(payload)) return false;
  return type === EVENT_ITERATOR || isRequest(payload);
}

function isRequest({ u: url, h: headers, m: method }: Record<string, unknown>): boolean {
  if (typeof url !== 'string' || !url.startsWith('/') || !URL.canParse(url, 'http://page')) return false;
  if (method !== undefined && typeof method !== 'string') return false;
  if (headers === undefined) return true;
  // a body of its own type would be read from a binary part, which is not there
  return isObject(headers) && Object.entries(headers).every(([name, value]) => typeof value === 'string' && !/^content-/i.test(name));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
