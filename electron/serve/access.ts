import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const TOKEN_BYTES = 32;
const MAX_TOKENS = 100;
const MAX_SESSIONS = 200;

/** Compares without telling by its duration how much was right. */
export function sameSecret(given: string, expected: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

interface Token {
  digest: Buffer;
  expires: number;
  ownUserOnly: boolean;
}

/** What came of a token: let in, let in only if the asker is the same user, or not. */
export type TokenState = 'valid' | 'own_user_only' | 'invalid';

/**
 * Who may use the page: one-time tokens that are exchanged for sessions. Both live in memory only and are kept as digests,
 * so that a look-up by comparison takes the same time for each.
 */
export class Access {
  readonly #now: () => number;
  #tokens: Token[] = [];
  #sessions: Buffer[] = [];

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /**
   * A new token of 256 bits, good once within `lifetimeMs`.
   * @param ownUserOnly for one that other users of this machine can see, as in the arguments of a program
   */
  issueToken(lifetimeMs: number, ownUserOnly = false): string {
    const token = randomBytes(TOKEN_BYTES).toString('base64url');
    this.#tokens.push({ digest: digestOf(token), expires: this.#now() + lifetimeMs, ownUserOnly });
    this.#tokens = this.#tokens.slice(-MAX_TOKENS);
    return token;
  }

  /** Looks at a token without using it up. */
  check(token: string): TokenState {
    const found = this.#find(token);
    if (!found) return 'invalid';
    return found.ownUserOnly ? 'own_user_only' : 'valid';
  }

  /** Uses a token up; the new session's secret, or null when the token is not, or no longer, good. */
  exchange(token: string): string | null {
    const found = this.#find(token);
    if (!found) return null;
    this.#tokens = this.#tokens.filter((one) => one !== found);
    const session = randomBytes(TOKEN_BYTES).toString('base64url');
    this.#sessions.push(digestOf(session));
    this.#sessions = this.#sessions.slice(-MAX_SESSIONS);
    return session;
  }

  isSession(secret: string | null): boolean {
    if (!secret) return false;
    const digest = digestOf(secret);
    let known = false;
    for (const session of this.#sessions) known = timingSafeEqual(session, digest) || known;
    return known;
  }

  #find(token: string): Token | undefined {
    const now = this.#now();
    this.#tokens = this.#tokens.filter(({ expires }) => expires > now);
    const digest = digestOf(token);
    let found: Token | undefined;
    for (const one of this.#tokens) {
      if (timingSafeEqual(one.digest, digest)) found = one;
    }
    return found;
  }
}

function digestOf(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** The value of a cookie in a Cookie header; null when it is not there. */
export function cookieValue(header: string | undefined, name: string): string | null {
  for (const part of (header ?? '').split(';')) {
    const [key, value] = part.trim().split('=', 2);
    if (key === name && value) return value;
  }
  return null;
}
