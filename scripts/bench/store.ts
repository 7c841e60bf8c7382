import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { ListPlace } from '#shared/contract/trajectories.ts';
import { openStore } from '#engine/store/store.ts';
import { countTrajectories, getMessages, listTrajectories } from '#engine/trajectories/query.ts';
import { type Ground, ROOT } from './ground.ts';
import { seed } from './seed.ts';
import type { Row } from './table.ts';

/** The store's answers over `count` trajectories, each the median of several runs, in ms. */
export async function benchStore(ground: Ground, count: number): Promise<Row[]> {
  const store = openStore(ground.folder(), { resources: join(ROOT, 'resources'), reader: join(ROOT, 'electron/engine/store/reader.ts') });
  ground.defer(() => store.close());
  const started = performance.now();
  await seed(store, count);
  const seeded = performance.now() - started;
  store.db.runSql('UPDATE trajectories SET reward = (n * 7919 % 101) / 100.0 WHERE n % 5 > 0', []);
  await store.readers.run('counts', { filter: {} });
  const search = (query: string) => () => store.readers.run('list', { filter: { query }, limit: 100 });
  const deep = () => {
    for (let after: ListPlace | undefined; ; ) {
      const page = listTrajectories(store.db, {}, { after, limit: 100 });
      if (!page.more) return;
      after = page.items.at(-1);
    }
  };
  return [
    { name: `write and index one trajectory (of ${count})`, value: seeded / count, unit: 'ms' },
    { name: 'first page of the list', value: await median(() => listTrajectories(store.db, {}, { limit: 100 })), unit: 'ms' },
    { name: 'first page by reward', value: await median(() => listTrajectories(store.db, {}, { sort: 'reward_low', limit: 100 })), unit: 'ms' },
    { name: `all ${Math.ceil(count / 100)} pages in turn`, value: await median(deep, 3), unit: 'ms' },
    { name: 'totals and facets', value: await median(() => store.readers.run('counts', { filter: {} })), unit: 'ms' },
    { name: 'search: a word in nearly every trajectory', value: await median(search('staging')), unit: 'ms' },
    { name: 'search: two words', value: await median(search('tokenizer ledger')), unit: 'ms' },
    { name: 'search: two Chinese characters', value: await median(search('日志')), unit: 'ms' },
    { name: 'search: nothing found', value: await median(search('zebra')), unit: 'ms' },
    { name: 'facets of a search', value: await median(() => store.readers.run('counts', { filter: { query: 'staging' } })), unit: 'ms' },
    { name: 'facets in the writer, for comparison', value: await median(() => countTrajectories(store.db, {})), unit: 'ms' },
    { name: 'messages of one trajectory', value: await median(() => getMessages(store.db, Math.floor(count / 2), -1, 200)), unit: 'ms' },
  ];
}

async function median(work: () => unknown, runs = 15): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < runs; i++) {
    const started = performance.now();
    await work();
    times.push(performance.now() - started);
  }
  return times.sort((a, b) => a - b)[Math.floor(runs / 2)]!;
}
