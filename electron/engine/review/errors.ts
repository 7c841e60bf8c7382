export type ReviewErrorCode = 'not_found' | 'conflict' | 'invalid' | 'unavailable';

/** An expected failure of reviews: a code for programs, a sentence for people, and the field that is at fault. */
export class ReviewError extends Error {
  readonly code: ReviewErrorCode;
  readonly field: string | undefined;

  constructor(code: ReviewErrorCode, message: string, more: { field?: string; cause?: unknown } = {}) {
    super(message, { cause: more.cause });
    this.name = 'ReviewError';
    this.code = code;
    this.field = more.field;
  }
}
