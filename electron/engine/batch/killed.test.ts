import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { agentScenario } from '../../../e2e/fakes/agent.ts';
import { type ModelRequest, startFakeModel } from '../../../e2e/fakes/fake-model.ts';
import { callTool, cutAfter, drop, fail, say, type Step, think, together } from '../../../e2e/fakes/steps.ts';
import { disagreements, testPaths } from '../../../e2e/fixtures/batch-ground.ts';
import { startRunChild } from '../../../e2e/fixtures/run-child.ts';
import type { RunSpecInput } from '#shared/contract/runs.ts';
import { sqlFor } from '../store/database.ts';
import { openStore } from '../store/store.ts';
import { RunStore } from './run-store.ts';

/** More of them by TALARIA_KILLS, e.g. 200. */
const KILLS = Number(process.env.TALARIA_KILLS ?? 12);
const SEED = Number(process.env.TALARIA_SEED ?? 7);
/** Calls of the model in one pass, and ms after the last of them, before it is killed. */
const MAX_CALLS = 30;
const MAX_LATER_MS = 20;

const dir = mkdtempSync(join(tmpdir(), 'killed-test-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Numbers in [0, 1), the same for one seed (mulberry32). */
function numbers(seed: number): () => number {
  let a = seed;
  return () => {
    a = (a + 0x6d2b79f5) | 0;
    let t = Math.imul(a ^ (a >>> 15), 1 | a);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const PROMPTS = [
  ...Array.from({ length: 14 }, (_, i) => `work ${i}`),
  'twin', 'twin', 'plain 1', 'plain 2', 'bad 1', 'bad 2', 'endless 1', 'endless 2',
];
const spec = (runName: string, datasetFile: string): RunSpecInput => ({ runName, datasetFile, model: 'fake-model', provider: 'custom', numWorkers: 4, batchSize: 3, maxTurns: 4, distribution: 'development', seed: 11 });

/** What the model says follows from the conversation alone; about every fifth call fails first, once or twice. */
function scripted(seed: number) {
  const random = numbers(seed);
  const faults = new Map<string, Step[]>();
  const kinds: (() => Step)[] = [() => fail(500), () => fail(429, { retryAfter: 0 }), () => drop(), () => together(think('half'), say('an answer'), cutAfter(2))];
  const agent = agentScenario({ calls: 2 });
  const answer = (r: ModelRequest): Step | Promise<Step> => {
    if (r.prompt.startsWith('plain')) return say('No thought.');
    if (r.prompt.startsWith('bad')) return fail(400, { message: 'no such thing' });
    if (r.prompt.startsWith('endless')) return together(think('again'), callTool(r.toolNames[0]!, { command: `echo ${r.turnsSinceUser}`, query: 'x', path: 'x', pattern: 'x' }));
    return agent(r);
  };
  return (r: ModelRequest): Step | Promise<Step> => {
    const place = `${r.prompt} ${r.turnsSinceUser}`;
    if (!faults.has(place)) faults.set(place, random() < 0.2 ? Array.from({ length: random() < 0.5 ? 1 : 2 }, () => kinds[Math.floor(random() * kinds.length)]!()) : []);
    return faults.get(place)!.shift() ?? answer(r);
  };
}

/** The files of a run without times and ids. */
function outputs(folder: string): Record<string, unknown> {
  const plain = (line: string): unknown => {
    const { metadata, ...row } = JSON.parse(line.replace(/call_\d+_\d+/g, 'call')) as { metadata: Record<string, unknown> };
    return { ...row, metadata: { ...metadata, timestamp: null, trajectory_id: null } };
  };
  return Object.fromEntries(
    readdirSync(folder).filter((name) => name.endsWith('.jsonl')).sort().map((name) => {
      const rows = readFileSync(join(folder, name), 'utf8').split('\n').slice(0, -1).map(plain) as { prompt_index: number }[];
      return [name, name === 'trajectories.jsonl' ? rows : rows.sort((a, b) => a.prompt_index - b.prompt_index)];
    }),
  );
}

function statistics(folder: string): unknown {
  const { outcomes, rows, reasoning_statistics, tool_statistics } = JSON.parse(readFileSync(join(folder, 'statistics.json'), 'utf8')) as Record<string, unknown>;
  return { outcomes, rows, reasoning_statistics, tool_statistics };
}

// Bug: answers lost, doubled, or paid for again after a crash at a bad moment; files that differ by where it fell
test(`kill -9 at ${KILLS} random moments: nothing lost, nothing twice, nothing paid again, the files of an undisturbed run`, async () => {
  const random = numbers(SEED);
  const datasetFile = join(dir, 'prompts.jsonl');
  writeFileSync(datasetFile, PROMPTS.map((prompt) => `${JSON.stringify({ prompt })}\n`).join(''));
  /** Prompts that have their disposition: they must not be asked again. */
  let settled = new Set<string>();
  const again: string[] = [];
  let reply = scripted(SEED);
  const fake = await startFakeModel({
    latencyMs: 4,
    keepRequests: 0,
    respond: (r) => {
      if (settled.has(r.prompt)) again.push(r.prompt);
      return reply(r);
    },
  });
  const home = join(dir, 'home');
  mkdirSync(home);
  const look = async (runName: string) => {
    const store = openStore(home, testPaths);
    try {
      const run = new RunStore(store.db, Date.now).findByName(runName);
      if (!run) return { done: new Set<string>(), wrong: [], sums: null };
      const rows = store.db.all(sqlFor.selectFrom('prompts').select(['idx', 'prompt', 'state', 'retryable']).where('run_id', '=', run.id));
      const open = new Set(rows.filter((r) => !['completed', 'partial', 'discarded'].includes(r.state) && !(r.state === 'failed' && r.retryable === 0)).map((r) => r.prompt));
      const done = new Set(rows.map((r) => r.prompt).filter((p) => !open.has(p)));
      const runs = new RunStore(store.db, Date.now);
      const ended = run.state === 'completed';
      return { done, wrong: ended ? disagreements(store, run) : [], sums: ended ? [runs.totals(run.id), runs.computeTotals(run.id)] : null };
    } finally {
      await store.close();
    }
  };
  try {
    const calm = startRunChild(home, fake.url, spec('calm', datasetFile));
    expect(await calm.ended).toBe('completed');
    const expected = outputs(join(home, 'data', 'calm'));
    expect(expected['trajectories.jsonl']).toHaveLength(18);
    let kills = 0;
    for (let n = 1; kills < KILLS; n += 1) {
      const runName = `killed-${n}`;
      reply = scripted(SEED + n);
      settled = new Set();
      for (;;) {
        const child = startRunChild(home, fake.url, spec(runName, datasetFile));
        if (kills < KILLS) {
          // by what it has done, so that a slow machine does not mean that it never does much; sometimes while it opens the store
          const [calls, ms, early] = [Math.floor(random() * MAX_CALLS), random() * MAX_LATER_MS, random() < 0.1];
          await Promise.race([early ? sleep(calls * 20) : fake.waitForChats(fake.counts.chats + calls), child.ended]);
          await Promise.race([sleep(ms), child.ended]);
          child.process.kill('SIGKILL');
        }
        const state = await child.ended;
        if (state === null) kills += 1;
        const { done, wrong, sums } = await look(runName);
        expect(again, `asked again after ${kills} kills`).toEqual([]);
        for (const prompt of settled) expect(done, `lost after ${kills} kills`).toContain(prompt);
        settled = done;
        if (state !== 'completed') continue;
        expect(wrong).toEqual([]);
        expect(sums![0]).toEqual(sums![1]);
        expect(outputs(join(home, 'data', runName))).toEqual(expected);
        expect(statistics(join(home, 'data', runName))).toEqual(statistics(join(home, 'data', 'calm')));
        break;
      }
    }
  } finally {
    await fake.close();
  }
}, 60_000 + KILLS * 10_000);
