/** A trial that cannot be done; `message` says what to do. */
export class TrialError extends Error {
  override name = 'TrialError';
  readonly code: 'not_found' | 'invalid' | 'conflict' | 'unavailable';
  readonly field: string | undefined;

  constructor(code: TrialError['code'], message: string, more: { field?: string; cause?: unknown } = {}) {
    super(message, { cause: more.cause });
    this.code = code;
    this.field = more.field;
  }
}
