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

/** What SQLite says of the disk or the file, not of the statement. */
const STORE_CODES = /^SQLITE_(?:FULL|IOERR|READONLY|CANTOPEN|BUSY|LOCKED|CORRUPT|NOTADB|NOMEM|PERM|PROTOCOL)/;

/** Whether the store itself failed: then no rollout can be kept. */
export function isStoreFailure(error: unknown): boolean {
  return STORE_CODES.test(systemCode(error)) || (error instanceof TypeError && error.message === 'The database connection is not open');
}

/** What a person can do about a store or disk that failed, in a sentence. */
export function storeSentence(error: unknown): string {
  if (error instanceof BatchError) return error.message;
  const code = systemCode(error);
  if (code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT') return 'There is no space left on the disk that holds the store. Free some space, then resume the run: nothing is lost.';
  const what = code.startsWith('SQLITE') ? 'The store could not be written' : 'Something unexpected happened';
  return `${what}: ${error instanceof Error ? error.message : String(error)}. Resume the run when that is mended.`;
}
