import type { StatusFault } from './steps.ts';

interface Reply {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** What OpenAI-compatible providers send with each status: type, code, a sentence. */
const KNOWN: Record<number, { type: string; code: string | null; message: string }> = {
  400: { type: 'invalid_request_error', code: null, message: 'The request is not valid.' },
  401: { type: 'invalid_request_error', code: 'invalid_api_key', message: 'Incorrect API key provided.' },
  402: { type: 'insufficient_quota', code: 'insufficient_credits', message: 'This account has no credits left.' },
  403: { type: 'permission_error', code: 'permission_denied', message: 'This key may not use this model.' },
  404: { type: 'invalid_request_error', code: 'model_not_found', message: 'The model does not exist or is not open to you.' },
  429: { type: 'rate_limit_error', code: 'rate_limit_exceeded', message: 'Too many requests. Slow down.' },
  500: { type: 'server_error', code: null, message: 'The server had an error while answering.' },
  502: { type: 'server_error', code: null, message: 'Bad gateway.' },
  503: { type: 'server_error', code: null, message: 'The service is not available now.' },
  529: { type: 'overloaded_error', code: null, message: 'Overloaded.' },
};

/** An error reply in OpenAI's shape: `{ error: { message, type, param, code } }`. `now` in milliseconds, for HTTP dates. */
export function statusReply(fault: StatusFault, now: number): Reply {
  const known = KNOWN[fault.status] ?? { type: fault.status < 500 ? 'invalid_request_error' : 'server_error', code: null, message: `Status ${fault.status}.` };
  const headers: Record<string, string> = { 'content-type': 'application/json' };
  if (fault.retryAfter !== undefined) headers['retry-after'] = String(fault.retryAfter);
  if (fault.retryAfterDate !== undefined) headers['retry-after'] = new Date(Math.ceil(now / 1000 + fault.retryAfterDate) * 1000).toUTCString();
  if (fault.retryAfterMs !== undefined) headers['retry-after-ms'] = String(fault.retryAfterMs);
  const error = {
    message: fault.message ?? known.message,
    type: fault.type ?? known.type,
    param: null,
    code: fault.code === undefined ? known.code : fault.code,
  };
  return { status: fault.status, headers: { ...headers, ...fault.headers }, body: JSON.stringify({ error }) };
}

/** The kind of page that a proxy in front of a provider sends. */
export function htmlReply(status: number, title = `${status} Error`): Reply {
  const body = `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n<hr><center>proxy</center>\r\n</body>\r\n</html>\r\n`;
  return { status, headers: { 'content-type': 'text/html' }, body };
}
