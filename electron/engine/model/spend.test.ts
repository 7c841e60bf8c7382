import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Usage } from '#shared/trajectory.ts';
import { ConfigFile } from '../store/config.ts';
import { sqlFor } from '../store/database.ts';
import { assistant, record, testStore, user } from '../trajectories/testing.ts';
import { costOf, findPrice } from './prices.ts';
import { SpendLedger } from './spend.ts';

let t: ReturnType<typeof testStore>;
let config: ConfigFile;
let clock: number;
let ledger: SpendLedger;
beforeEach(() => {
  t = testStore();
  config = new ConfigFile(join(t.home, 'config.yaml'));
  clock = new Date(2026, 5, 1, 12).getTime();
  ledger = new SpendLedger({ db: t.store.db, config, now: () => clock });
});
afterEach(() => t.close());

const usage = (promptTokens: number, completionTokens: number, cachedTokens = 0): Usage => ({ promptTokens, completionTokens, cachedTokens, reasoningTokens: 0 });
const session = (id: string): void => {
  t.store.db.run(sqlFor.insertInto('sessions').values({ id, provider: 'p', model: 'm', workspace: '/w', max_turns: 9, tip: null, reasoning_effort: null, pinned_at: null, archived_at: null, deleted_at: null, created_at: 1, updated_at: 1 }));
};

// cached tokens paid at full price, or twice
test('a call costs its tokens by the million, cached ones at their own price', () => {
  expect(costOf({ input: 2, cached: 0.5, output: 8 }, usage(1_000_000, 500_000, 400_000))).toBeCloseTo(1.2 + 0.2 + 4);
  expect(costOf({ input: 2, output: 8 }, usage(1_000_000, 0, 400_000))).toBeCloseTo(2);
});

// a short wildcard that wins over the exact model; a built-in price over the person's
test('the longest key that fits counts, and the own table before the built-in one', () => {
  const own = { 'acme/*': { input: 1, output: 1 }, 'acme/big': { input: 9, output: 9 }, 'gpt-*': { input: 7, output: 7 } };
  expect(findPrice(own, 'acme', 'big')?.input).toBe(9);
  expect(findPrice(own, 'acme', 'small')?.input).toBe(1);
  expect(findPrice(own, 'openai', 'gpt-4o')?.input).toBe(7);
  expect(findPrice({}, 'openai', 'gpt-4o')?.input).toBe(2.5);
  // OpenRouter's id of the same model
  expect(findPrice({}, 'openrouter', 'openai/gpt-4o')?.input).toBe(2.5);
  expect(findPrice({}, 'acme', 'big')).toBeNull();
});

// an unknown price taken for free: a cap would never hold and nobody would know why
test('calls without a price are counted as unpriced tokens and listed, and the provider’s own word goes first', () => {
  ledger.record({ purpose: 'chat', provider: 'acme', model: 'x', usage: usage(100, 20), costUsd: null });
  ledger.record({ purpose: 'chat', provider: 'openai', model: 'gpt-4o', usage: usage(1_000_000, 0), costUsd: 0.75 });
  const { today } = ledger.summary();
  expect(today).toEqual([{ purpose: 'chat', calls: 2, tokens: 1_000_120, costUsd: 0.75, unpricedTokens: 120 }]);
  expect(ledger.prices().unpriced).toEqual([{ provider: 'acme', model: 'x', tokens: 120 }]);
  ledger.setPrice('acme/x', { input: 1, output: 2 });
  expect(ledger.prices().unpriced).toEqual([]);
  ledger.record({ purpose: 'titles', provider: 'acme', model: 'x', usage: usage(1_000_000, 0), costUsd: null });
  expect(ledger.summary().today.find((l) => l.purpose === 'titles')?.costUsd).toBe(1);
});

// a price that a list gave is forgotten, or beats what the person entered
test('the price of the provider’s list counts only where no table has one', () => {
  ledger = new SpendLedger({ db: t.store.db, config, now: () => clock, listPrice: () => ({ input: 3, output: 3 }) });
  ledger.record({ purpose: 'chat', provider: 'acme', model: 'x', usage: usage(1_000_000, 0), costUsd: null });
  expect(ledger.todayUsd()).toBe(3);
  ledger.setPrice('x', { input: 1, output: 1 });
  ledger.record({ purpose: 'chat', provider: 'acme', model: 'x', usage: usage(1_000_000, 0), costUsd: null });
  expect(ledger.todayUsd()).toBe(4);
});

// the cost of a branch, or of titles, missing from the chat; another chat's money counted here
test('a chat’s spend is that of all its branches by purpose, and the trajectory knows its cost', () => {
  session('s');
  session('other');
  const [a, b, c] = ['s', 's', 'other'].map((sessionId) => {
    const r = record(t, [user('q'), assistant('a')]);
    t.store.db.run(sqlFor.updateTable('trajectories').set({ session_id: sessionId }).where('n', '=', r.n));
    return r;
  });
  const call = { provider: 'p', model: 'm', usage: usage(10, 5) };
  ledger.record({ ...call, purpose: 'chat', costUsd: 0.1, trajectoryN: a!.n });
  ledger.record({ ...call, purpose: 'chat', costUsd: 0.2, trajectoryN: b!.n });
  ledger.record({ ...call, purpose: 'titles', costUsd: 0.01, trajectoryN: b!.n });
  ledger.record({ ...call, purpose: 'chat', costUsd: 5, trajectoryN: c!.n });
  expect(ledger.ofSession('s').map((l) => [l.purpose, Number(l.costUsd.toFixed(4)), l.calls])).toEqual([['chat', 0.3, 2], ['titles', 0.01, 1]]);
  const costs = t.store.db.all(sqlFor.selectFrom('trajectories').select('cost_usd').orderBy('n')).map((r) => r.cost_usd);
  expect(costs.map((cost) => Number(cost?.toFixed(4)))).toEqual([0.1, 0.21, 5]);
});

// a cap that stops others too, is off by one call, or survives midnight
test('caps hold for their own chat, run and day, and say what to do', () => {
  session('s');
  const r = record(t, [user('q'), assistant('a')]);
  t.store.db.run(sqlFor.updateTable('trajectories').set({ session_id: 's' }).where('n', '=', r.n));
  t.store.db.run(sqlFor.insertInto('runs').values({ id: 'r', name: 'r', state: 'running', spec: '{}', scripted: 0, output_dir: '/x', dataset_sha256: '', total: 1, created_at: 1, message: null, totals: null, ended_at: null }));
  ledger.setCaps({ sessionUsd: 1, runUsd: 2, dayUsd: 3 });
  const call = { provider: 'p', model: 'm', usage: usage(1, 1), trajectoryN: r.n };
  ledger.record({ ...call, purpose: 'chat', costUsd: 0.99 });
  expect(ledger.overBudget({ sessionId: 's' })).toBeNull();
  ledger.record({ ...call, purpose: 'chat', costUsd: 0.01 });
  expect(ledger.overBudget({ sessionId: 's' })).toMatch(/this chat.*\$1\.00.*Settings/);
  expect(ledger.overBudget({ sessionId: 'other' })).toBeNull();
  ledger.record({ ...call, purpose: 'batch', costUsd: 2, runId: 'r' });
  expect(ledger.overBudget({ sessionId: 'other' })).toMatch(/today/);
  clock += 24 * 3600 * 1000;
  expect(ledger.overBudget({ sessionId: 'other' })).toBeNull();
  expect(ledger.overBudget({ runId: 'r' })).toMatch(/this run/);
  ledger.setCaps({ runUsd: null });
  expect(ledger.overBudget({ runId: 'r' })).toBeNull();
  expect(ledger.caps()).toEqual({ sessionUsd: 1, runUsd: null, dayUsd: 3 });
});

// a price table that people edit by hand loses its comments, or one wrong row takes the others with it
test('prices in config.yaml keep their comments, and a wrong one is told with its line', () => {
  writeFileSync(join(t.home, 'config.yaml'), 'prices:\n  # our box\n  acme/x: { input: 1, output: 2 }\n  bad: 7\n');
  expect(ledger.prices().rows.filter((row) => row.source === 'own').map((row) => row.model)).toEqual(['acme/x']);
  expect(config.read().problems).toEqual([expect.stringMatching(/line 4: prices\.bad/)]);
  ledger.setPrice('acme/y', { input: 0.5, output: 0.5, cached: 0.1 });
  expect(ledger.prices().rows.find((row) => row.model === 'acme/y')?.price).toEqual({ input: 0.5, output: 0.5, cached: 0.1 });
  ledger.setPrice('acme/x', null);
  expect(ledger.prices().rows.map((row) => row.model)).not.toContain('acme/x');
});
