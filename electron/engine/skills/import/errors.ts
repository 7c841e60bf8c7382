/** An import or export that cannot be done; `message` says what to do. */
export class SkillImportError extends Error {
  override name = 'SkillImportError';
  readonly code: 'not_found' | 'invalid' | 'conflict' | 'unavailable';
  readonly field: string | undefined;

  constructor(code: SkillImportError['code'], message: string, more: { field?: string; cause?: unknown } = {}) {
    super(message, { cause: more.cause });
    this.code = code;
    this.field = more.field;
  }
}
