import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { connect } from './link.ts';
import { PortTable, SubstituteMessageChannel } from './ports.ts';
import { NotModelledError, strict, StrictEmitter } from './strict.ts';
import { fromWire, toAppUrl, toBrowserUrl, toWire } from './wire.ts';

describe('strict', () => {
  // The substitute is worth nothing if an API that it lacks is quietly undefined.
  test('reading what is not there throws with its name; writing an own answer works', () => {
    const shell = strict('shell', { openExternal: () => 'ours' }) as { openExternal(): string; beep?(): string };
    expect(() => shell.beep?.()).toThrow(/shell\.beep/);
    shell.openExternal = () => 'theirs';
    expect(shell.openExternal()).toBe('theirs');
  });

  test('listening to an event that would never come throws', () => {
    const emitter = new StrictEmitter('app', ['ready'], ['activate']);
    emitter.on('ready', () => undefined).once('activate', () => undefined);
    expect(() => emitter.on('gpu-info-update', () => undefined)).toThrow(NotModelledError);
  });
});

describe('ports', () => {
  const next = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test('messages wait for start, come in order and as copies', async () => {
    const { port1, port2 } = new SubstituteMessageChannel();
    const got: unknown[] = [];
    const value = { n: 1 };
    port2.on('message', ({ data }) => got.push(data));
    port1.postMessage(value);
    value.n = 2;
    port1.postMessage('b');
    await next();
    expect(got).toEqual([]);
    port2.start();
    port1.postMessage('c');
    await next();
    expect(got).toEqual([{ n: 1 }, 'b', 'c']);
  });

  test('what cannot be cloned is refused, as in Electron', () => {
    expect(() => new SubstituteMessageChannel().port1.postMessage(() => 1)).toThrow(/could not be cloned/);
  });

  test('a port handed over takes along what waited for it, and its end closes this end', async () => {
    const { port1, port2 } = new SubstituteMessageChannel();
    const table = new PortTable();
    const there: unknown[] = [];
    let closed = false;
    port1.on('close', () => (closed = true));
    port1.postMessage('early');
    const [id = 0] = table.handOver([port2 as never], () => ({ message: (data) => there.push(data), close: () => there.push('closed') }));
    port1.postMessage('late');
    const here: unknown[] = [];
    port1.on('message', ({ data }) => here.push(data));
    port1.start();
    table.message(id, 'answer');
    table.closeAll();
    await next();
    expect({ there, here, closed }).toEqual({ there: ['early', 'late'], here: ['answer'], closed: true });
  });
});

describe('wire', () => {
  test.each([[undefined], ['text'], [{ a: [1, null, { b: true }] }], [new Uint8Array([0, 255])]])('%j survives', (value) => {
    expect(fromWire(JSON.parse(JSON.stringify(toWire(value))) as never)).toEqual(value);
  });

  // Electron would carry them; here they would silently become something else.
  test.each([[new Map()], [{ when: new Date() }], [[new Set()]]])('%o is refused', (value) => {
    expect(() => toWire(value)).toThrow(TypeError);
  });

  test('addresses of the app go to Chromium and back', () => {
    expect(toBrowserUrl('app://bundle/a?b')).toBe('https://bundle.app.test/a?b');
    expect(toAppUrl(toBrowserUrl('app://bundle/a?b'))).toBe('app://bundle/a?b');
    expect(toAppUrl('https://example.com/bundle.app.test')).toBe('https://example.com/bundle.app.test');
  });
});

describe('link', () => {
  function pair(theirs: object) {
    const wire = new EventEmitter();
    connect({ send: (message) => wire.emit('b', message), onMessage: (listener) => wire.on('a', listener) }, theirs);
    return connect<{ add(a: number, b: number): number; missing(): void }>(
      { send: (message) => wire.emit('a', message), onMessage: (listener) => wire.on('b', listener) },
      {},
    );
  }

  test('calls are answered, and failures keep their words', async () => {
    const { remote } = pair({ add: (a: number, b: number) => a + b });
    expect(await remote.add(1, 2)).toBe(3);
    await expect(remote.missing()).rejects.toThrow('no call "missing"');
  });

  test('calls that nobody will answer any more fail instead of hanging', async () => {
    const { remote, drop } = pair({ add: () => new Promise(() => undefined) });
    const call = remote.add(1, 2);
    drop('The app has ended');
    await expect(call).rejects.toThrow('The app has ended');
    await expect(remote.add(1, 2)).rejects.toThrow('The app has ended');
  });
});
