import { implement, ORPCError } from '@orpc/server';
import { RPCHandler } from '@orpc/server/message-port';
import { RPCLink } from '@orpc/client/message-port';
import { afterEach, expect, test } from 'vitest';
import { contract } from '#shared/contract/index.ts';
import { createEngine, EngineGoneError, type Engine } from './client.ts';
import { follow, keepFollowing } from './stream.ts';
import type { TransportEvents } from './transports.ts';

/** A host of the engine whose line can be cut and laid again: real oRPC over a real MessageChannel. */
function host(
  handlers: {
    list: () => Promise<{ items: [] }>;
    remove?: () => Promise<{ removed: number }>;
    changes?: (line: number) => AsyncGenerator<{ total: number; newest: number }>;
  },
  { patienceMs, refused = false }: { patienceMs?: number; refused?: boolean } = {},
) {
  let line = 0;
  let cut: (() => void) | null = null;
  let events: TransportEvents | null = null;
  const os = implement(contract);

  function lay(): void {
    line += 1;
    const { port1, port2 } = new MessageChannel();
    const mine = line;
    const router = {
      runs: {
        list: os.runs.list.handler(handlers.list),
        remove: os.runs.remove.handler(handlers.remove ?? (async () => ({ removed: 0 }))),
      },
      trajectories: { changes: os.trajectories.changes.handler(() => (handlers.changes ?? async function* () {})(mine)) },
    };
    new RPCHandler(router).upgrade(port1);
    port1.start();
    const link = new RPCLink({ port: port2 });
    port2.start();
    cut = () => {
      port1.close();
      port2.close();
      port2.dispatchEvent(new Event('close'));
      events?.closed('cut');
    };
    events?.opened(link);
  }

  const engine: Engine = createEngine((given) => {
    events = given;
    return {
      connect() {
        if (!refused) queueMicrotask(lay);
      },
      dispose() {
        cut?.();
      },
    };
  }, patienceMs);
  engines.push(engine);
  return { engine, cut: () => cut?.() };
}

const engines: Engine[] = [];
afterEach(() => {
  for (const engine of engines.splice(0)) engine.dispose();
});

test('a call made before the line is up waits for it', async () => {
  const { engine } = host({ list: async () => ({ items: [] }) });
  await expect(engine.client.runs.list()).resolves.toEqual({ items: [] });
});

// Bug: a read that was under way when the engine crashed fails, though the engine is back a moment later.
test('a read that loses its line is asked again on the next one', async () => {
  let calls = 0;
  const { engine, cut } = host({
    list: () => {
      calls += 1;
      if (calls > 1) return Promise.resolve({ items: [] });
      queueMicrotask(() => setTimeout(cut, 0));
      return new Promise(() => {});
    },
  });
  await expect(engine.client.runs.list()).resolves.toEqual({ items: [] });
  expect(calls).toBe(2);
});

// Bug: a change that may have been made is made a second time.
test('a change that loses its line is not repeated; the error says that its fate is unknown', async () => {
  let calls = 0;
  const { engine, cut } = host({
    list: async () => ({ items: [] }),
    remove: () => {
      calls += 1;
      setTimeout(cut, 0);
      return new Promise(() => {});
    },
  });
  const error: unknown = await engine.client.runs.remove({ id: 'x' }).catch((e: unknown) => e);
  expect(error).toBeInstanceOf(EngineGoneError);
  expect(error).toMatchObject({ code: 'lost' });
  await engine.client.runs.list();
  expect(calls).toBe(1);
});

// Bug: with the engine gone for good, a button spins for ever.
test('a call fails with a clear error when the engine stays away', async () => {
  const { engine } = host({ list: async () => ({ items: [] }) }, { patienceMs: 20, refused: true });
  await expect(engine.client.runs.list()).rejects.toMatchObject({ name: 'EngineGoneError', code: 'offline' });
});

test("the engine's own errors come through as they are", async () => {
  const { engine } = host({ list: () => Promise.reject(new ORPCError('UNAVAILABLE', { message: 'The disk is full.' })) });
  await expect(engine.client.runs.list()).rejects.toMatchObject({ code: 'UNAVAILABLE', message: 'The disk is full.' });
});

// Bug: after a restart of the engine the screen stands still.
test('a followed stream is opened again on the next line, and ends when it ends', async () => {
  const seen: number[] = [];
  const { engine, cut } = host({
    list: async () => ({ items: [] }),
    changes: async function* (line) {
      yield { total: line, newest: line };
      if (line === 1) await new Promise(() => {});
    },
  });
  await follow({
    connection: engine.connection,
    open: (signal) => engine.client.trajectories.changes(undefined, { signal }),
    onEvent: (event) => {
      seen.push(event.total);
      if (event.total === 1) cut();
    },
    signal: new AbortController().signal,
  });
  expect(seen).toEqual([1, 2]);
});

// Bug: an engine that was stopped in order and started again leaves the status line standing still.
test('a stream that ended in order is opened again on the next line', async () => {
  const seen: number[] = [];
  const abort = new AbortController();
  const { engine, cut } = host({
    list: async () => ({ items: [] }),
    changes: async function* (line) {
      yield { total: line, newest: line };
      if (line === 1) setTimeout(cut, 0);
    },
  });
  await keepFollowing({
    connection: engine.connection,
    open: (signal) => engine.client.trajectories.changes(undefined, { signal }),
    onEvent: (event) => {
      seen.push(event.total);
      if (event.total === 2) abort.abort();
    },
    onError: (error) => seen.push(String(error).length),
    signal: abort.signal,
  });
  expect(seen).toEqual([1, 2]);
});
