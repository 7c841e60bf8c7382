export type DelegationErrorCode = 'not_found' | 'conflict' | 'invalid' | 'unavailable';

/** An expected failure of the delegation service: a code for programs, a sentence for people. */
export class DelegationError extends Error {
  readonly code: DelegationErrorCode;

  constructor(code: DelegationErrorCode, message: string) {
    super(message);
    this.name = 'DelegationError';
    this.code = code;
  }
}
