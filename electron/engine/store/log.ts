import { closeSync, fstatSync, mkdirSync, openSync, renameSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { describeError, type Redactor } from './redact.ts';
import type { Logger } from './types.ts';

export interface FileLogger extends Logger {
  readonly file: string;
  close(): void;
}

export interface LogOptions {
  redactor: Redactor;
  /** Size at which the file is put aside, in bytes. */
  maxBytes?: number;
  /** How many files put aside are kept: talaria.1.log is the newest. */
  keep?: number;
  now?: () => Date;
}

const MAX_BYTES = 5 * 1024 * 1024;
const KEEP = 3;
const MAX_ENTRY_CHARS = 64 * 1024;

/**
 * Writes to `talaria.log` in `folder` (made when missing), one entry per call, at once: what was logged is there after a
 * crash. Secrets are replaced on the way in. Logging never throws: with a full disk or a lost folder, entries are dropped.
 */
export function openLog(folder: string, options: LogOptions): FileLogger {
  const { redactor, maxBytes = MAX_BYTES, keep = KEEP, now = () => new Date() } = options;
  const file = join(folder, 'talaria.log');
  const aside = (index: number): string => join(folder, `talaria.${index}.log`);
  let handle: number | null = null;
  let closed = false;

  const rotate = (): void => {
    if (handle !== null) closeSync(handle);
    handle = null;
    rmSync(aside(keep), { force: true });
    for (let index = keep - 1; index >= 1; index--) {
      try {
        renameSync(aside(index), aside(index + 1));
      } catch {
        // not that many yet
      }
    }
    if (keep > 0) renameSync(file, aside(1));
    else rmSync(file, { force: true });
  };
  const open = (): number => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return openSync(file, 'a', 0o600);
  };
  const write = (level: string, text: string): void => {
    if (closed) return;
    try {
      const line = Buffer.from(`${now().toISOString()} ${level} ${asEntry(redactor.redact(text))}\n`);
      handle ??= open();
      if (fstatSync(handle).size + line.length > maxBytes && fstatSync(handle).size > 0) rotate();
      handle ??= open();
      writeSync(handle, line);
    } catch {
      // Nowhere left to say it.
    }
  };

  return {
    file,
    info: (message) => write('info ', message),
    error: (message, error) => write('error', error === undefined ? message : `${message}\n${describeError(error)}`),
    close() {
      closed = true;
      if (handle !== null) closeSync(handle);
      handle = null;
    },
  };
}

/** Hostile text must not forge entries or steer the terminal of who reads the file. */
function asEntry(text: string): string {
  const short = text.length > MAX_ENTRY_CHARS ? `${text.slice(0, MAX_ENTRY_CHARS)}… (${text.length} characters)` : text;
  return short
    .trimEnd()
    .replace(/\r\n?/g, '\n')
    .replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replaceAll('\n', '\n    ');
}
