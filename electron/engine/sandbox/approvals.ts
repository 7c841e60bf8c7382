import { sep } from 'node:path';
import type { APPROVALS } from '#shared/contract/chats.ts';
import type { Allowed } from '#shared/contract/tools.ts';
import type { ConfigFile } from '../store/config.ts';
import type { ApprovalRequest, ApproveHook } from '../tools/types.ts';
import { isInside } from './confine.ts';
import { scopeOfRule } from './dangerous.ts';

const KEY = /^(command|read|write|skill|skill_delete):(.+)$/s;

/** What allows every command of one rule of `dangerous.ts`. */
export function commandKey(rule: string): string {
  return `command:${rule}`;
}

/** What allows reading, or reading and writing, everything in a folder (absolute and real). */
export function pathKey(access: 'read' | 'write', folder: string): string {
  return `${access}:${folder}`;
}

/** A key in words, e.g. "Read files in /home/me/notes". */
export function scopeOf(key: string): string {
  const [, kind, rest = ''] = KEY.exec(key) ?? [];
  if (kind === 'command') return scopeOfRule(rest);
  if (kind === 'skill' || kind === 'skill_delete') return `${kind === 'skill' ? 'Change' : 'Delete'} the skill "${rest}"`;
  return kind === undefined ? key : `${kind === 'read' ? 'Read files' : 'Read and write files'} in ${rest}`;
}

/**
 * What the person allowed for good: `approvals.allow` in config.yaml, a list of keys that people can read and edit
 * (`command:delete_outside`, `read:/home/me/notes`, `write:/home/me/notes`).
 */
export class Approvals {
  readonly #config: ConfigFile;

  constructor({ config }: { config: ConfigFile }) {
    this.#config = config;
  }

  /** Whether `key` needs no question: allowed itself or by a wider key, or a command while `approvals.mode` is off. */
  isAllowed(key: string): boolean {
    const { mode, allow } = this.#config.read().approvals;
    return (mode === 'off' && key.startsWith('command:')) || covers(allow, key);
  }

  /** Throws ConfigError or HomeError when config.yaml cannot be written. */
  allow(key: string): void {
    const { allow } = this.#config.read().approvals;
    if (!covers(allow, key)) this.#config.change([[['approvals', 'allow'], [...allow, key]]]);
  }

  /** Takes a key back; one that is not there is no error. Throws as `allow`. */
  revoke(key: string): void {
    const { allow } = this.#config.read().approvals;
    const rest = allow.filter((other) => other !== key);
    if (rest.length < allow.length) this.#config.change([[['approvals', 'allow'], rest.length > 0 ? rest : undefined]]);
  }

  list(): Allowed[] {
    return [...new Set(this.#config.read().approvals.allow)].map((key) => ({ key, what: key.startsWith('command:') ? 'command' : 'path', description: scopeOf(key) }));
  }
}

/** Whether one of `allowed` is `key` or wider: a folder above, or writing where reading is asked. */
function covers(allowed: Iterable<string>, key: string): boolean {
  const [, kind, path = ''] = KEY.exec(key) ?? [];
  for (const other of allowed) {
    if (other === key) return true;
    const [, otherKind, folder = ''] = KEY.exec(other) ?? [];
    if (kind === undefined || kind === 'command' || kind.startsWith('skill') || otherKind === undefined || otherKind === 'command') continue;
    if ((otherKind === kind || otherKind === 'write') && folder.startsWith(sep) && isInside(folder, path)) return true;
  }
  return false;
}

/**
 * The hook that tools ask by: what was allowed for good or for the session is answered at once, everything else by `ask`, one
 * question after the other, so that two calls that need the same thing ask once.
 * @param options.session keys allowed for this session; kept by the caller, added to here.
 * @param options.ask rejects with the signal's reason when the run is interrupted.
 */
export function createApprover(options: {
  approvals: Approvals;
  session: Set<string>;
  ask: (request: ApprovalRequest, callId: string, signal: AbortSignal) => Promise<(typeof APPROVALS)[number]>;
}): ApproveHook {
  const { approvals, session, ask } = options;
  let last: Promise<unknown> = Promise.resolve();
  const decide = async (request: ApprovalRequest, callId: string, signal: AbortSignal): Promise<boolean> => {
    signal.throwIfAborted();
    if (approvals.isAllowed(request.key) || covers(session, request.key)) return true;
    const choice = await ask(request, callId, signal);
    if (choice === 'session' || choice === 'always') session.add(request.key);
    if (choice === 'always') approvals.allow(request.key);
    return choice !== 'deny';
  };
  return (request, callId, signal) => {
    const answer = last.then(() => decide(request, callId, signal));
    last = answer.catch(() => undefined);
    return answer;
  };
}
