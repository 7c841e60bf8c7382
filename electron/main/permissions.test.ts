import { expect, test } from 'vitest';
import { allowsPermission, installPermissions, PERMISSIONS } from './permissions.ts';

test('of all permissions only writing to the clipboard is allowed, and only to our own page', () => {
  const allowed = Object.keys(PERMISSIONS).filter((name) => allowsPermission(name, 'app://bundle/'));
  expect(allowed).toEqual(['clipboard-sanitized-write']);
  expect(Object.keys(PERMISSIONS).filter((name) => allowsPermission(name, 'https://example.com/'))).toEqual([]);
});

// A name of a newer Electron, and the names that every object has.
test.each(['brand-new', 'constructor', '__proto__', ''])('the unknown permission %j is denied', (name) => {
  expect(allowsPermission(name, 'app://bundle/')).toBe(false);
});

test('every kind of question gets its handler, since Electron grants what is not handled', () => {
  const set: Record<string, (...args: never[]) => unknown> = {};
  installPermissions(
    new Proxy({}, { get: (_target, name) => (handler: () => unknown) => void (set[String(name)] = handler) }) as never,
  );
  expect(Object.keys(set).sort()).toEqual([
    'setBluetoothPairingHandler', 'setDevicePermissionHandler', 'setDisplayMediaRequestHandler', 'setPermissionCheckHandler', 'setPermissionRequestHandler',
  ]);
  const answers: unknown[] = [];
  const reply = (answer: unknown): void => void answers.push(answer);
  const ask = set['setPermissionRequestHandler'] as (...args: unknown[]) => void;
  ask(null, 'clipboard-sanitized-write', reply, { isMainFrame: true, requestingUrl: 'app://bundle/' });
  ask(null, 'clipboard-sanitized-write', reply, { isMainFrame: false, requestingUrl: 'app://bundle/' });
  ask(null, 'clipboard-sanitized-write', reply, { isMainFrame: true, requestingUrl: 'https://example.com/' });
  ask(null, 'media', reply, { isMainFrame: true, requestingUrl: 'app://bundle/' });
  (set['setDisplayMediaRequestHandler'] as (...args: unknown[]) => void)({}, reply);
  expect(answers).toEqual([true, false, false, false, null]);
  expect((set['setDevicePermissionHandler'] as () => boolean)()).toBe(false);
});
