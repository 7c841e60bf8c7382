import { EventEmitter } from 'node:events';

/** Thrown where the app uses something of Electron that this substitute does not model: a test must not pass by luck. */
export class NotModelledError extends Error {
  constructor(what: string) {
    super(`The substitute for Electron does not model ${what}. Model it in e2e/drivers/substitute, or do without it.`);
  }
}

/** Names that JavaScript itself looks up on any object. */
const LANGUAGE = new Set(['then', 'toJSON', 'constructor', 'prototype', 'valueOf', 'toString', 'nodeType', 'asymmetricMatch', '$$typeof']);

/** The same object, except that reading what it does not have throws. Writing stays possible: specs put in their own answers. */
export function strict<T extends object>(name: string, target: T): T {
  return new Proxy(target, {
    get(object, property) {
      if (typeof property === 'string' && !(property in object) && !LANGUAGE.has(property)) throw new NotModelledError(`${name}.${property}`);
      const value: unknown = Reflect.get(object, property, object);
      return value;
    },
  });
}

/** An emitter that refuses listeners for events that it would never emit and that nobody has allowed to stay silent. */
export class StrictEmitter extends EventEmitter {
  constructor(name: string, emitted: readonly string[], silent: readonly string[] = []) {
    super();
    const known = new Set([...emitted, ...silent]);
    super.on('newListener', (event: string | symbol) => {
      if (!known.has(String(event)) && event !== 'removeListener') throw new NotModelledError(`the event "${String(event)}" of ${name}`);
    });
  }
}
