export type SkillErrorCode = 'not_found' | 'conflict' | 'invalid' | 'unavailable';

/** An expected failure about skills: a code for programs, a sentence that says what to do, and more for a model to go on with. */
export class SkillError extends Error {
  readonly code: SkillErrorCode;
  readonly field: string | undefined;
  /** Put beside `error` in what a tool answers. */
  readonly details: Record<string, unknown>;

  constructor(code: SkillErrorCode, message: string, more: { field?: string; details?: Record<string, unknown>; cause?: unknown } = {}) {
    super(message, { cause: more.cause });
    this.name = 'SkillError';
    this.code = code;
    this.field = more.field;
    this.details = more.details ?? {};
  }
}
