import type { MemoryOperation, MemoryTarget } from '#shared/contract/memory.ts';
import { MemoryError } from './errors.ts';
import { preview } from './text.ts';

/** What a model asked for with one call of the memory tool. `target` null: both files, which only reading can mean. */
export type MemoryCall = { kind: 'read'; target: MemoryTarget | null } | { kind: 'change'; target: MemoryTarget; operations: MemoryOperation[]; many: boolean };

type Action = MemoryOperation['op'] | 'read';

const ACTION_KEYS = ['action', 'op', 'operation', 'command', 'method', 'type', 'mode'];
const TARGET_KEYS = ['target', 'store', 'file', 'scope', 'section', 'memory_type', 'which', 'memory'];
const OLD_KEYS = ['old_text', 'old', 'old_string', 'old_content', 'old_entry', 'old_value', 'previous', 'find', 'match', 'search', 'substring', 'query', 'target_text'];
const TEXT_KEYS = ['content', 'text', 'new_text', 'new', 'new_string', 'new_content', 'new_entry', 'new_value', 'replacement', 'entry', 'value', 'note', 'fact', 'memory'];
const LIST_KEYS = ['operations', 'ops', 'changes', 'edits', 'batch', 'actions'];

const ACTIONS: Readonly<Record<Action, readonly string[]>> = {
  add: ['add', 'create', 'append', 'insert', 'save', 'store', 'remember', 'write', 'new'],
  replace: ['replace', 'update', 'edit', 'modify', 'change'],
  remove: ['remove', 'delete', 'forget', 'erase', 'drop'],
  read: ['read', 'view', 'list', 'get', 'show'],
};
const TARGETS: Readonly<Record<MemoryTarget, readonly string[]>> = {
  memory: ['memory', 'memory.md', 'memories', 'notes', 'agent', 'self'],
  user: ['user', 'user.md', 'user_profile', 'profile', 'person', 'human'],
};

const MAX_OPERATIONS = 100;
const EXAMPLE = 'For example {"action": "replace", "target": "memory", "old_text": "part of the entry", "content": "the new entry"}, or {"target": "memory", "operations": [{"action": "remove", "old_text": "…"}, {"action": "add", "content": "…"}]}.';

/**
 * Understands a call as models write it: names of arguments as other harnesses and editors call them, one operation or a list. Throws
 * MemoryError invalid that names the arguments that came.
 */
export function understandCall(input: Readonly<Record<string, unknown>>): MemoryCall {
  const given = new Arguments(input);
  const list = given.list();
  const target = given.target();
  if (list !== null) return { kind: 'change', many: true, ...listed(list, target, given) };
  const action = given.action() ?? given.guessed();
  if (action === 'read') return { kind: 'read', target };
  return { kind: 'change', target: target ?? 'memory', operations: [operationOf(action, given)], many: false };
}

function listed(list: readonly unknown[], target: MemoryTarget | null, given: Arguments): { target: MemoryTarget; operations: MemoryOperation[] } {
  if (list.length === 0 || list.length > MAX_OPERATIONS) throw given.error(`operations must hold 1 to ${MAX_OPERATIONS} entries`);
  if (given.has(TEXT_KEYS) || given.has(OLD_KEYS)) throw given.error('a call is either one operation or a list of operations, not both');
  const items = list.map((item, index) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item)) throw given.error(`operations[${index}] must be an object`);
    const own = new Arguments(item as Record<string, unknown>, `operations[${index}]`);
    const action = own.action() ?? own.guessed();
    if (action === 'read') throw own.error('reading is a call of its own');
    return { target: own.target(), operation: operationOf(action, own) };
  });
  const targets = new Set(items.map((item) => item.target ?? target ?? 'memory'));
  if (targets.size > 1) throw given.error('the operations of one call must have the same target; make two calls');
  return { target: [...targets][0]!, operations: items.map((item) => item.operation) };
}

function operationOf(op: Exclude<Action, 'read'>, given: Arguments): MemoryOperation {
  const text = given.text(TEXT_KEYS);
  const old = given.text(OLD_KEYS);
  if (op === 'add') {
    if (text === null) throw given.error('add needs content, the text to remember');
    return { op, text };
  }
  if (op === 'remove') {
    const which = old ?? text;
    if (which === null) throw given.error('remove needs old_text, a part of the entry to remove');
    return { op, old: which };
  }
  if (old === null) throw given.error('replace needs old_text, a part of the entry to replace');
  if (text === null) throw given.error('replace needs content, the new text of the entry');
  return { op, old, text };
}

class Arguments {
  readonly #values = new Map<string, unknown>();
  readonly #received: string[];
  readonly #place: string;

  constructor(input: Readonly<Record<string, unknown>>, place = '') {
    this.#received = Object.keys(input);
    this.#place = place;
    for (const [key, value] of Object.entries(input)) if (value !== null && value !== undefined) this.#values.set(snake(key), value);
  }

  has(keys: readonly string[]): boolean {
    return this.#first(keys) !== undefined;
  }

  text(keys: readonly string[]): string | null {
    const value = this.#first(keys);
    if (value === undefined) return null;
    if (typeof value === 'string') return value;
    if (typeof value === 'number' || typeof value === 'boolean') return String(value);
    throw this.error(`${this.#nameOf(keys)} must be text`);
  }

  action(): Action | null {
    for (const key of ACTION_KEYS) {
      const value = this.#values.get(key);
      if (typeof value !== 'string') continue;
      const word = value.trim().toLowerCase();
      const action = (Object.keys(ACTIONS) as Action[]).find((name) => ACTIONS[name].includes(word));
      if (action) return action;
      if (key === 'action') throw this.error(`action must be one of add, replace, remove, read, not "${preview(value, 40)}"`);
    }
    return null;
  }

  /** What a call without an action means by what it gives. */
  guessed(): Action {
    const old = this.has(OLD_KEYS);
    const text = this.has(TEXT_KEYS);
    if (old && text) return 'replace';
    if (text) return 'add';
    throw this.error('say which action: add, replace, remove or read');
  }

  target(): MemoryTarget | null {
    for (const key of TARGET_KEYS) {
      const value = this.#values.get(key);
      if (typeof value !== 'string') continue;
      const word = value.trim().toLowerCase();
      const target = (Object.keys(TARGETS) as MemoryTarget[]).find((name) => TARGETS[name].includes(word));
      if (target) {
        // so that it is not taken for the text
        this.#values.delete(key);
        return target;
      }
      if (key === 'target') throw this.error(`target must be "memory" (your notes) or "user" (what is known of the person), not "${preview(value, 40)}"`);
    }
    return null;
  }

  list(): unknown[] | null {
    let value = this.#first(LIST_KEYS);
    if (typeof value === 'string' && value.trim().startsWith('[')) {
      try {
        value = JSON.parse(value);
      } catch {
        throw this.error('operations must be a list; what came is no valid JSON');
      }
    }
    if (value === undefined) return null;
    if (!Array.isArray(value)) throw this.error('operations must be a list');
    return value;
  }

  error(what: string): MemoryError {
    const names = this.#received.slice(0, 12).map((key) => preview(key, 40));
    const sent = names.length === 0 ? 'nothing' : names.join(', ') + (this.#received.length > names.length ? ', …' : '');
    return new MemoryError('invalid', `memory: ${this.#place === '' ? '' : `${this.#place}: `}${what}. You sent: ${sent}. ${EXAMPLE} Nothing was changed.`, { received: names });
  }

  #first(keys: readonly string[]): unknown {
    for (const key of keys) if (this.#values.has(key)) return this.#values.get(key);
    return undefined;
  }

  #nameOf(keys: readonly string[]): string {
    return keys.find((key) => this.#values.has(key)) ?? keys[0]!;
  }
}

/** "oldText", "old-text" and "Old Text" are "old_text". */
function snake(key: string): string {
  return key.trim().replace(/([a-z])([A-Z])/g, '$1_$2').replace(/[\s-]+/g, '_').toLowerCase();
}
