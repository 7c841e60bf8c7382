import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import type { Ground } from './ground.ts';
import type { Row } from './table.ts';

const WORKERS = 64;

interface Result {
  completed: number;
  of: number;
  startMs: number;
  firstRate: number;
  lastRate: number;
  rssEarly: number;
  rssHalf: number;
  rssLate: number;
  clickP99: number;
  clickMax: number;
  loopP99: number;
  loopMax: number;
  pageMs: number;
  wholePage: number;
  resumeMs: number;
}

/** One run of very many prompts against a model that answers at once, and its resume with one in a hundred left. */
export async function benchFactory(ground: Ground, prompts: number): Promise<Row[]> {
  const home = ground.folder();
  const dataset = join(home, 'prompts.jsonl');
  const out = createWriteStream(dataset);
  for (let i = 0; i < prompts; i += 1) if (!out.write(`${JSON.stringify({ prompt: `Prompt ${i}: what is ${i} plus ${i}?`, answer: String(i + i) })}\n`)) await once(out, 'drain');
  out.end();
  await once(out, 'close');
  const url = await ground.serve('e2e/fakes/main.ts', ['--scenario', 'agent', '--calls', '0', '--latency', '0', '--quiet', '--port', '0'], /http:\/\/\S+\/v1/);
  const r = JSON.parse(await ground.run('scripts/bench/factory-child.ts', [join(home, 'home'), dataset, url, String(prompts), String(WORKERS)])) as Result;
  if (r.completed !== r.of) throw new Error(`Only ${r.completed} of ${r.of} prompts completed.`);
  return [
    { name: 'start: from the call to the first prompts', value: r.startMs, unit: 'ms' },
    { name: 'rate in the second tenth', value: r.firstRate, unit: 'prompts/s' },
    { name: 'rate in the last tenth', value: r.lastRate, unit: 'prompts/s' },
    { name: 'last tenth, part of the second', value: (r.lastRate / r.firstRate) * 100, unit: '%' },
    { name: 'memory after two tenths', value: r.rssEarly, unit: 'MiB' },
    { name: 'memory half way, just before the page is opened', value: r.rssHalf, unit: 'MiB' },
    { name: "memory near the end, with the page's reader", value: r.rssLate, unit: 'MiB' },
    { name: 'a question to the engine meanwhile (99th percentile)', value: r.clickP99, unit: 'ms' },
    { name: 'the same, slowest', value: r.clickMax, unit: 'ms' },
    { name: 'event loop delay (99th percentile)', value: r.loopP99, unit: 'ms' },
    { name: 'event loop delay, longest', value: r.loopMax, unit: 'ms' },
    { name: "the run's page: what it asks, half way", value: r.pageMs, unit: 'ms' },
    { name: "the run's page: what it asks, at the end", value: r.wholePage, unit: 'ms' },
    { name: 'resume with 1 % left: to the first prompts', value: r.resumeMs, unit: 'ms' },
  ];
}
