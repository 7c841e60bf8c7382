export type MemoryErrorCode = 'invalid' | 'conflict' | 'not_found' | 'unavailable';

/** Something about the memory that was to be expected; the message says what to do. */
export class MemoryError extends Error {
  readonly code: MemoryErrorCode;
  /** More for a model to go on with, put beside the sentence. */
  readonly details: Record<string, unknown>;

  constructor(code: MemoryErrorCode, message: string, details: Record<string, unknown> = {}) {
    super(message);
    this.name = 'MemoryError';
    this.code = code;
    this.details = details;
  }
}
