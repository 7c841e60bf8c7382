export type BatchErrorCode = 'not_found' | 'conflict' | 'invalid' | 'unavailable';

/** An expected failure of the batch service: a code for programs, a sentence for people, and the field that is at fault. */
export class BatchError extends Error {
  readonly code: BatchErrorCode;
  readonly field: string | undefined;

  constructor(code: BatchErrorCode, message: string, more: { field?: string; cause?: unknown } = {}) {
    super(message, { cause: more.cause });
    this.name = 'BatchError';
    this.code = code;
    this.field = more.field;
  }
}

/** The code of a system error (ENOENT, ENOSPC…), or the empty text. */
export function systemCode(error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code;
  return typeof code === 'string' ? code : '';
}
