import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { createORPCClient, isDefinedError, safe } from '@orpc/client';
import { RPCLink } from '@orpc/client/message-port';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Client } from '#shared/contract/index.ts';
import { runSpecSchema } from '#shared/contract/runs.ts';
import { servePort } from './api/transports.ts';
import { type Engine, openEngine } from './engine.ts';
import { COMMAND_MARK } from './sandbox/environment.ts';
import { HomeBusyError } from './store/instance.ts';
import { READER, RESOURCES } from './trajectories/testing.ts';

let home: string;
let engine: Engine;
let client: Client;
let channel: MessageChannel;
const open = () =>
  openEngine({ home, host: 'cli', paths: { resources: RESOURCES, reader: READER }, version: '1.2.3', env: {}, log: { info: () => {}, error: () => {} } });
const demoRun = async (name: string) =>
  client.runs.start(runSpecSchema.parse({ datasetFile: (await client.runs.options()).demoDataset, runName: name, maxSamples: 3, numWorkers: 3 }));

beforeEach(async () => {
  home = mkdtempSync(join(tmpdir(), 'talaria-engine-'));
  engine = await open();
  channel = new MessageChannel();
  servePort(engine, channel.port1);
  channel.port2.start();
  client = createORPCClient<Client>(new RPCLink({ port: channel.port2 }));
});
afterEach(async () => {
  channel.port1.close();
  await engine.close();
  rmSync(home, { recursive: true, force: true });
});

describe('over a real message port', () => {
  test('a run is started, watched to its end and found in the library, and counts agree', async () => {
    const { id } = await demoRun('demo');
    let last: { state: string; states: Partial<Record<string, number>> } | undefined;
    for await (const event of await client.runs.watch({ id })) {
      last = event.run;
      if (event.run.state !== 'running') break;
    }
    expect(last).toMatchObject({ state: 'completed', states: { completed: 3 } });
    const page = await client.trajectories.list({ filter: { runId: id }, limit: 10 });
    expect(page.items.map((t) => t.exitReason)).toEqual(['completed', 'completed', 'completed']);
    expect(page.items.every((t) => t.scripted)).toBe(true);
    expect((await client.trajectories.counts({ filter: { runId: id } })).matching).toBe(3);
    const { items } = await client.trajectories.messages({ id: page.items[0]!.id });
    expect(items.map((m) => m.seq)).toEqual(items.map((_, i) => i));
  });

  test('expected failures arrive with their code, words and field', async () => {
    const missing = await safe(client.trajectories.get({ id: 'nope' }));
    expect(missing.error).toSatisfy((e: Error) => isDefinedError(e as never));
    expect(missing.error).toMatchObject({ code: 'NOT_FOUND' });
    const bad = await safe(client.datasets.inspect({ path: '/no/such/file.jsonl' }));
    expect(bad.error).toMatchObject({ code: 'INVALID', data: { field: expect.any(String) as string } });
    await demoRun('twice');
    expect((await safe(demoRun('twice'))).error).toMatchObject({ code: 'CONFLICT', message: expect.stringContaining('twice') as string });
  });

  test('a watcher that leaves early is forgotten: the status still ticks for the others and closing does not hang', async () => {
    const leaving = await client.app.status();
    await leaving.next();
    await leaving.return?.(undefined);
    const staying = await client.app.status();
    await staying.next();
    const { id } = await demoRun('ticks');
    expect((await staying.next()).done).toBe(false);
    await client.runs.cancel({ id });
  });
});

test('a second engine on the same home is refused, and welcome after the first has closed', async () => {
  await expect(open()).rejects.toThrow(HomeBusyError);
  await engine.close();
  const second = await open();
  expect((await second.client.app.info()).version).toBe('1.2.3');
  await second.close();
});

test('a run that was going when the engine closed can be resumed and every prompt has one trajectory', async () => {
  const { id } = await demoRun('cut');
  await engine.close();
  engine = await open();
  const before = await engine.client.runs.get({ id });
  expect(before.state).not.toBe('running');
  await engine.client.runs.resume({ id });
  for await (const event of await engine.client.runs.watch({ id })) if (event.run.state !== 'running') break;
  const { items } = await engine.client.trajectories.list({ filter: { runId: id } });
  expect(items.map((t) => t.promptIndex).sort()).toEqual([0, 1, 2]);
});

// Bug: nobody calls what ends them, so background processes of a killed Talaria run for ever.
test.runIf(process.platform === 'linux')('a start ends what commands of a killed Talaria left running', async () => {
  const dead = spawn('true');
  await once(dead, 'exit');
  const left = spawn('sleep', ['60'], { env: { PATH: process.env.PATH, [COMMAND_MARK]: `${dead.pid}:x.1` }, detached: true });
  await once(left, 'spawn');
  const gone = once(left, 'exit');
  await engine.close();
  engine = await open();
  expect((await gone)[1]).toBe('SIGKILL');
});
