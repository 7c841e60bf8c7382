import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { type EngineWork, type FromEngine, NO_WORK, type ToEngine } from './engine-messages.ts';
import { CLOSE_CAP_MS, superviseEngine } from './engine-process.ts';

/** Stands for Electron's utility process; what it does is up to the test. */
class Child extends EventEmitter {
  sent: ToEngine[] = [];
  ports: unknown[] = [];
  killed = false;

  postMessage(message: ToEngine, ports: unknown[] = []): void {
    this.sent.push(message);
    this.ports.push(...ports);
  }

  kill(): boolean {
    this.killed = true;
    return true;
  }

  say(message: FromEngine): void {
    this.emit('message', message);
  }
}

function setUp() {
  const children: Child[] = [];
  const notices: string[] = [];
  const busy: string[] = [];
  const works: EngineWork[] = [];
  const clock = { now: 1_000_000, timers: [] as { at: number; work(): void }[] };
  const engine = superviseEngine({
    fork() {
      const child = new Child();
      children.push(child);
      return child as never;
    },
    start: { home: '/home/t', version: '1', paths: { resources: '/r', reader: '/r.js' } },
    keychain: {
      check: () => Promise.resolve(),
      encrypt: (text) => Promise.resolve(`<${text}>`),
      decrypt: () => Promise.reject(new Error('No keyring is running.')),
    },
    notify: (notice) => notices.push(notice.state),
    worked: (work) => works.push(work),
    ended: () => undefined,
    busy: (message) => busy.push(message),
    log: { info: () => undefined, error: () => undefined },
    now: () => clock.now,
    after(ms, work) {
      const timer = { at: clock.now + ms, work };
      clock.timers.push(timer);
      return () => void (clock.timers = clock.timers.filter((other) => other !== timer));
    },
  });
  const pass = (ms: number): void => {
    clock.now += ms;
    const due = clock.timers.filter(({ at }) => at <= clock.now);
    clock.timers = clock.timers.filter((timer) => !due.includes(timer));
    for (const { work } of due) work();
  };
  const last = (): Child => children.at(-1) as Child;
  return { engine, children, notices, busy, works, pass, last, clock };
}

const PORT = {} as never;

describe('an engine that ends', () => {
  test('is started again, and the page hears of it only once it is back', () => {
    const { engine, children, notices, pass, last } = setUp();
    engine.start();
    last().say({ type: 'ready' });
    expect(notices).toEqual([]);
    last().emit('exit', 9);
    expect(engine.connect(PORT)).toBe(false);
    pass(100);
    expect(children).toHaveLength(2);
    expect(notices).toEqual(['down']);
    last().say({ type: 'ready' });
    expect(notices).toEqual(['down', 'up']);
    expect(engine.connect(PORT)).toBe(true);
  });

  test('three times within a minute is given up; a new request for a port starts it with a fresh budget', () => {
    const { engine, children, notices, pass, last } = setUp();
    engine.start();
    for (const delay of [100, 1_000]) {
      last().emit('exit', 1);
      pass(delay);
    }
    last().emit('exit', 1);
    pass(600_000);
    expect(children).toHaveLength(3);
    expect(notices.at(-1)).toBe('gave-up');
    expect(engine.connect(PORT)).toBe(true);
    expect(children).toHaveLength(4);
    last().emit('exit', 1);
    pass(100);
    expect(children).toHaveLength(5);
  });

  // A budget that never forgets would give up an app that runs for months.
  test('now and then is always started again', () => {
    const { engine, children, notices, pass, last } = setUp();
    engine.start();
    for (let ends = 0; ends < 10; ends++) {
      last().emit('exit', 1);
      pass(61_000);
    }
    expect(children).toHaveLength(11);
    expect(notices).not.toContain('gave-up');
  });

  test('the pause grows with the second end', () => {
    const { engine, children, pass, last } = setUp();
    engine.start();
    last().emit('exit', 1);
    pass(100);
    last().emit('exit', 1);
    pass(999);
    expect(children).toHaveLength(2);
    pass(1);
    expect(children).toHaveLength(3);
  });

  test('the words of a process that has been replaced count for nothing', () => {
    const { engine, children, notices, pass, last } = setUp();
    engine.start();
    const first = last();
    first.emit('exit', 1);
    pass(100);
    first.emit('exit', 1);
    first.say({ type: 'failed', message: 'late' });
    expect(children).toHaveLength(2);
    expect(notices).toEqual(['down']);
  });
});

describe('an engine that cannot open', () => {
  test('because the home is held: says so once, is ended and never started again', () => {
    const { engine, children, busy, pass, last } = setUp();
    engine.start();
    last().say({ type: 'busy', message: 'held by process 7' });
    last().emit('exit', 0);
    pass(600_000);
    expect(busy).toEqual(['held by process 7']);
    expect(children).toHaveLength(1);
    expect(children[0]?.killed).toBe(true);
  });

  test('for a reason that waiting does not mend: gives up at once with that reason', () => {
    const { engine, children, notices, pass, last } = setUp();
    engine.start();
    last().say({ type: 'failed', message: 'The database is of a newer version.' });
    last().emit('exit', 0);
    pass(600_000);
    expect(notices).toEqual(['gave-up']);
    expect(children).toHaveLength(1);
  });
});

describe('ports', () => {
  test('go to an engine that is still starting as well: it serves them when it is open', () => {
    const { engine, last } = setUp();
    engine.start();
    expect(engine.connect(PORT)).toBe(true);
    expect(last().sent.map(({ type }) => type)).toEqual(['start', 'port']);
    expect(last().ports).toEqual([PORT]);
  });
});

describe('the keychain', () => {
  test('answers the engine, also with why it refuses', async () => {
    const { engine, last } = setUp();
    engine.start();
    last().say({ type: 'keychain', id: 1, call: 'encrypt', text: 'sk' });
    last().say({ type: 'keychain', id: 2, call: 'decrypt', text: 'x' });
    await Promise.resolve().then(() => undefined);
    await Promise.resolve();
    expect(last().sent.slice(1)).toEqual([
      { type: 'keychain', id: 1, ok: true, value: '<sk>' },
      { type: 'keychain', id: 2, ok: false, message: 'No keyring is running.' },
    ]);
  });
});

describe('closing', () => {
  test('waits for the engine to say so, ends its process, and does not start it again', async () => {
    const { engine, children, pass, last } = setUp();
    engine.start();
    const closed = engine.close();
    expect(last().sent.at(-1)).toEqual({ type: 'close' });
    last().say({ type: 'closed' });
    expect(last().killed).toBe(true);
    last().emit('exit', 0);
    await closed;
    pass(600_000);
    expect(children).toHaveLength(1);
  });

  // An engine that hangs must not keep the app open for ever.
  test('does not wait longer than its cap', async () => {
    const { engine, pass, last } = setUp();
    engine.start();
    const closed = engine.close();
    pass(CLOSE_CAP_MS);
    await closed;
    expect(last().killed).toBe(true);
  });

  test('between two starts there is nothing to wait for, and the next start is called off', async () => {
    const { engine, children, pass, last } = setUp();
    engine.start();
    last().emit('exit', 1);
    await engine.close();
    pass(600_000);
    expect(children).toHaveLength(1);
  });
});

describe('restarting', () => {
  test('waits until the old one has given the home back', () => {
    const { engine, children, notices, last } = setUp();
    engine.start();
    last().say({ type: 'ready' });
    engine.restart();
    expect(children).toHaveLength(1);
    expect(engine.connect(PORT)).toBe(false);
    last().say({ type: 'closed' });
    last().emit('exit', 0);
    expect(children).toHaveLength(2);
    last().say({ type: 'ready' });
    expect(notices).toEqual(['down', 'up']);
  });

  test('ends one that does not close, and does not end its successor', () => {
    const { engine, children, pass, last } = setUp();
    engine.start();
    engine.restart();
    pass(CLOSE_CAP_MS);
    expect(children[0]?.killed).toBe(true);
    last().emit('exit', 0);
    pass(600_000);
    expect(children).toHaveLength(2);
    expect(children[1]?.killed).toBe(false);
  });
});

describe('what the engine works on', () => {
  const busy: EngineWork = { tasks: 1, agents: 2, keep: true };

  // Bug: closing a window waits for an engine that does not answer, or quits on what was said a while ago.
  test('is asked for anew; one that does not answer is taken at its last word', async () => {
    const { engine, last, pass, works } = setUp();
    engine.start();
    expect(await engine.work()).toEqual(NO_WORK);
    last().say({ type: 'ready' });
    const asked = engine.work();
    expect(last().sent.at(-1)).toEqual({ type: 'work' });
    last().say({ type: 'work', work: busy });
    expect(await asked).toEqual(busy);
    const unanswered = engine.work();
    pass(CLOSE_CAP_MS);
    expect(await unanswered).toEqual(busy);
    expect(works).toEqual([busy]);
  });

  test('is nothing once it has ended, also for one who waits for its answer', async () => {
    const { engine, last, works } = setUp();
    engine.start();
    last().say({ type: 'ready' });
    last().say({ type: 'work', work: busy });
    const asked = engine.work();
    last().emit('exit', 1);
    expect(await asked).toEqual(NO_WORK);
    expect(works.at(-1)).toEqual(NO_WORK);
  });
});
