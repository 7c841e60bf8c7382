export type ChatErrorCode = 'not_found' | 'conflict' | 'invalid' | 'unavailable';

/** An expected failure of the chat service: a code for programs, a sentence for people, and the field that is at fault. */
export class ChatError extends Error {
  readonly code: ChatErrorCode;
  readonly field: string | undefined;

  constructor(code: ChatErrorCode, message: string, more: { field?: string; cause?: unknown } = {}) {
    super(message, { cause: more.cause });
    this.name = 'ChatError';
    this.code = code;
    this.field = more.field;
  }
}
