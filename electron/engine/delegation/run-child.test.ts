import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { callTool, fail, say, together } from '../../../e2e/fakes/steps.ts';
import { type AgentBench, ask, openAgentBench, toolNamed, toolsOf } from '../agent/testing.ts';
import { SpendLedger } from '../model/spend.ts';
import { ConfigFile } from '../store/config.ts';
import { sqlFor } from '../store/database.ts';
import { openStore, type Store } from '../store/store.ts';
import { LiveHub } from '../trajectories/live.ts';
import { getDetail, getMessages } from '../trajectories/query.ts';
import { READER, RESOURCES } from '../trajectories/testing.ts';
import { type ChildAgent, type Progress, type RunDeps, runChild } from './run-child.ts';

let bench: AgentBench;
let home: string;
let store: Store;
let deps: RunDeps;
const never = new AbortController().signal;
beforeEach(async () => {
  bench = await openAgentBench();
  home = mkdtempSync(join(tmpdir(), 'talaria-run-child-'));
  store = openStore(home, { resources: RESOURCES, reader: READER });
  deps = { db: store.db, hub: new LiveHub(), now: Date.now, spend: new SpendLedger({ db: store.db, config: new ConfigFile(join(home, 'config.yaml')), now: Date.now }) };
});
afterEach(async () => {
  await store.close();
  await bench.close();
  rmSync(home, { recursive: true, force: true });
});

const agent = (more: Partial<ChildAgent> = {}): ChildAgent => ({
  kind: 'review',
  purpose: 'review',
  prompt: 'Look at it\nclosely',
  toolsets: [],
  spec: { systemPrompt: 'SYSTEM', maxTurns: 5 },
  input: [ask('Look at it')],
  agent: { model: bench.model, tools: toolsOf(), sandbox: bench.sandbox },
  ...more,
});

test('a tool that never ends and hears nothing is left behind when the time is up; its call has a result, the trajectory an end', async () => {
  // Bug (#51294, #113222): a hanging tool keeps its agent, and all who wait for it, for ever.
  bench.fake.script(together(say('trying'), callTool('hang', {})));
  const tools = toolsOf(toolNamed('hang', () => new Promise(() => undefined)));
  const { result, cause, messages, trajectoryId } = await runChild(agent({ agent: { model: bench.model, tools, sandbox: bench.sandbox }, timeoutMs: 2_000 }), deps, never);
  expect({ exitReason: result.exitReason, cause }).toEqual({ exitReason: 'timeout', cause: 'timeout' });
  expect(messages.map((m) => [m.role, m.synthetic ?? false])).toEqual([['system', false], ['user', false], ['assistant', false], ['tool', true]]);
  const detail = getDetail(store.db, trajectoryId)!;
  expect(detail).toMatchObject({ kind: 'review', title: 'Look at it', sessionId: null, state: 'ended', exitReason: 'timeout', apiCalls: 1, messageCount: 4 });
  expect(getMessages(store.db, detail.n, -1, 10).map((m) => m.role)).toEqual(messages.map((m) => m.role));
});

test('everything is counted: calls, tokens, cost under its purpose, progress on the way; what fails is the result', async () => {
  // Bug: calls of agents outside of chats cost nothing in the books.
  bench.fake.script({ ...callTool('look', {}), usage: { prompt: 100, completion: 10 } }, fail(401));
  const seen: Progress[] = [];
  const tools = toolsOf(toolNamed('look', () => Promise.reject(new Error('broken'))));
  const { result, trajectoryId } = await runChild(agent({ agent: { model: bench.model, tools, sandbox: bench.sandbox }, progress: (progress) => seen.push(progress) }), deps, never);
  expect(result).toMatchObject({ exitReason: 'provider_error', apiCalls: 1 });
  expect(seen.at(-1)).toMatchObject({ turns: 1, toolCalls: 1, tokens: 110 });
  expect(seen.map((p) => p.activity)).toContain('look');
  expect(store.db.all(sqlFor.selectFrom('trajectory_spend').select(['purpose', 'calls', 'prompt_tokens']))).toEqual([{ purpose: 'review', calls: 1, prompt_tokens: 100 }]);
  expect(getDetail(store.db, trajectoryId)).toMatchObject({ toolErrors: 1, exitReason: 'provider_error' });
});

test('its beginning and its end are stored together with what belongs to them, or not at all', async () => {
  // Bug: a trajectory that belongs to nobody, or a child that has ended while its trajectory runs.
  await expect(runChild(agent({ begun: () => { throw new Error('no place for it'); } }), deps, never)).rejects.toThrow('no place for it');
  expect(store.db.all(sqlFor.selectFrom('trajectories').select('id'))).toEqual([]);
  bench.fake.script(say('done'));
  let states: string[] = [];
  await runChild(agent({ ended: () => (states = store.db.all(sqlFor.selectFrom('trajectories').select('state')).map((row) => row.state)) }), deps, never);
  expect(states).toEqual(['ended']);
});

test('stopped before it began, it ends at once without a call', async () => {
  // Bug: what was stopped while it waited is begun all the same.
  const { result, cause } = await runChild(agent(), deps, AbortSignal.abort());
  expect({ exitReason: result.exitReason, cause }).toEqual({ exitReason: 'interrupted', cause: 'stopped' });
  expect(bench.fake.counts.chats).toBe(0);
});
