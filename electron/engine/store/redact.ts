import type { Logger } from './types.ts';

const MARK = '[secret]';
// Shorter values are words: replacing them everywhere would make logs unreadable and hide nothing.
const MIN_LENGTH = 8;
/** In data, where a wrong hit would falsify: shorter than any real key are only stand-ins such as "lm-studio". */
const MIN_LENGTH_IN_DATA = 16;
const SECRET_NAME = /(^|_)(API_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;
/** Keys that nobody told us of, by their looks: the prefixes of the large providers, and Authorization headers. */
const LOOKS_SECRET = [
  /\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\b(?:gh[pousr]_|hf_|gsk_|xai-|nvapi-|AIza)[A-Za-z0-9_-]{16,}/g,
  /(?<=\bBearer\s+)[A-Za-z0-9._~+/=-]{8,}/gi,
];

/** Replaces secrets in text that goes to logs, errors or the page. */
export class Redactor {
  readonly #values = new Set<string>();
  #pattern: RegExp | null = null;
  #dataPattern: RegExp | null = null;

  /** Knows from the start every value of `env` whose name says that it is a secret. */
  constructor(env: NodeJS.ProcessEnv = {}) {
    this.addVariables(Object.entries(env));
  }

  /** Makes the values known whose variable's name says that they are secret. */
  addVariables(variables: Iterable<readonly [name: string, value: string | undefined]>): void {
    for (const [name, value] of variables) {
      if (value && SECRET_NAME.test(name)) this.add(value);
    }
  }

  /** Makes a value known; it is never forgotten, since it may still be in some text on its way. */
  add(value: string): void {
    if (value.length < MIN_LENGTH || this.#values.has(value)) return;
    this.#values.add(value);
    this.#pattern = null;
    this.#dataPattern = null;
  }

  redact(text: string): string {
    let out = this.#values.size === 0 ? text : text.replace((this.#pattern ??= patternOf([...this.#values])), MARK);
    for (const look of LOOKS_SECRET) out = out.replace(look, MARK);
    return out;
  }

  /** Replaces known keys only, not what merely looks like one: for data that is to be kept as it is. */
  redactData(text: string): string {
    const long = [...this.#values].filter((value) => value.length >= MIN_LENGTH_IN_DATA);
    return long.length === 0 ? text : text.replace((this.#dataPattern ??= patternOf(long)), MARK);
  }

  /** How many characters at the end of `text` may be the beginning of what `redactData` replaces: for text that comes in pieces. */
  openEndOfData(text: string): number {
    let open = 0;
    for (const form of formsOf([...this.#values].filter((value) => value.length >= MIN_LENGTH_IN_DATA))) {
      for (let length = Math.min(form.length - 1, text.length); length > open; length--) if (text.endsWith(form.slice(0, length))) open = length;
    }
    return open;
  }
}

/** The values as they are, in URLs and in JSON; longest first. */
function formsOf(values: readonly string[]): string[] {
  const forms = values.flatMap((value) => [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1)]);
  return [...new Set(forms)].sort((a, b) => b.length - a.length);
}

function patternOf(values: readonly string[]): RegExp {
  const longestFirst = formsOf(values);
  return new RegExp(longestFirst.map((form) => form.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')).join('|'), 'g');
}

/** A logger that passes everything on to `log` with the secrets replaced, errors included. */
export function redactingLogger(log: Logger, redactor: Redactor): Logger {
  return {
    info: (message) => log.info(redactor.redact(message)),
    error: (message, error) => log.error(redactor.redact(error === undefined ? message : `${message}\n${describeError(error)}`)),
  };
}

/** An error with its stack and what caused it, as text. */
export function describeError(error: unknown): string {
  const parts: string[] = [];
  let current: unknown = error;
  for (let depth = 0; current !== undefined && current !== null && depth < 5; depth++) {
    parts.push(current instanceof Error ? (current.stack ?? `${current.name}: ${current.message}`) : String(current));
    current = current instanceof Error ? current.cause : undefined;
  }
  return parts.join('\ncaused by ');
}
