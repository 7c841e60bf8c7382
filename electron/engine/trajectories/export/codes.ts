/** Codes of failures that a person can mend are put in front of the message, since only text crosses the thread border. */
export const FILE_EXISTS = 'FILE_EXISTS';
export const SYSTEM_FAILURE = 'SYSTEM_FAILURE';
const BAD_OPTION = 'BAD_OPTION';

/** An option of the request that cannot be; `field` is its name. */
export function badOption(field: string, sentence: string): Error {
  return new Error(`${BAD_OPTION} ${field}: ${sentence}`);
}

/** What `badOption` has put into a message; null when it is of another kind. */
export function readBadOption(message: string): { field: string; sentence: string } | null {
  const [, field, sentence] = new RegExp(`^${BAD_OPTION} (\\w+): (.*)$`, 's').exec(message) ?? [];
  return field !== undefined && sentence !== undefined ? { field, sentence } : null;
}
