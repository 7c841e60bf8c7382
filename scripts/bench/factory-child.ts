import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { join, resolve } from 'node:path';
import { openEngine } from '#engine/engine.ts';
import { runSpecSchema } from '#shared/contract/runs.ts';

/**
 * Child of the benchmark of a very large run. First pass: all but one in a hundred of the prompts, with what a person's clicks would ask
 * of the engine meanwhile. Then the engine is opened anew, as after a night, and the run resumed. Prints one line of JSON.
 */
const [home, dataset, baseUrl, prompts, workers] = process.argv.slice(2) as [string, string, string, string, string];
const root = resolve(import.meta.dirname, '../..');
const quiet = { info: () => {}, error: (message: string, error?: unknown) => console.error(message, error) };
const open = () => openEngine({ home, host: 'cli', paths: { resources: join(root, 'resources'), reader: join(root, 'electron/engine/store/reader.ts') }, version: 'bench', env: {}, log: quiet });
const total = Number(prompts);
const rss = () => process.memoryUsage.rss() / 2 ** 20;

const first = await open();
const startCalled = performance.now();
const spec = runSpecSchema.parse({ datasetFile: dataset, runName: 'large', provider: 'custom', baseUrl, model: 'fake/agent', numWorkers: Number(workers), batchSize: 10, distribution: 'terminal_tasks' });
const { id } = await first.client.runs.start(spec);
const startMs = performance.now() - startCalled;
const loop = monitorEventLoopDelay({ resolution: 10 });
loop.enable();
const clicks: number[] = [];
const clicking = setInterval(() => {
  const from = performance.now();
  void first.client.runs.get({ id }).then(() => clicks.push(performance.now() - from));
}, 500);
const marks: { ended: number; at: number; rss: number }[] = [];
let pages: number | null = null;
for await (const { run } of await first.client.runs.watch({ id })) {
  const { completed = 0, partial = 0, failed = 0, discarded = 0 } = run.states;
  const ended = completed + partial + failed + discarded;
  if (ended >= ((marks.length + 1) * total) / 10 - total / 100) marks.push({ ended, at: performance.now(), rss: rss() });
  if (ended > total / 2 && pages === null) pages = await openPage(id);
  if (ended >= total * 0.99) break;
  if (run.state !== 'running') throw new Error(`The run is ${run.state}: ${run.message}`);
}
clearInterval(clicking);
loop.disable();
await first.client.runs.cancel({ id });
await first.close();

const second = await open();
const resumeCalled = performance.now();
const watching = second.client.runs.watch({ id });
await second.client.runs.resume({ id });
let resumeMs = 0;
for await (const { run } of await watching) {
  if (run.state === 'running' && run.states.running > 0 && resumeMs === 0) resumeMs = performance.now() - resumeCalled;
  if (run.state === 'completed') break;
}
const run = await second.client.runs.get({ id });
const wholePage = await openPage(id, second);
await second.close();
const rate = (from: number, to: number) => ((marks[to]!.ended - marks[from]!.ended) / (marks[to]!.at - marks[from]!.at)) * 1000;
clicks.sort((a, b) => a - b);
console.log(
  JSON.stringify({
    completed: run.states.completed, of: run.total, startMs, firstRate: rate(0, 1), lastRate: rate(8, 9), rssEarly: marks[1]!.rss, rssHalf: marks[4]!.rss, rssLate: marks[9]!.rss,
    clickP99: clicks[Math.floor(clicks.length * 0.99)], clickMax: clicks.at(-1), loopP99: loop.percentile(99) / 1e6, loopMax: loop.max / 1e6, pageMs: pages, wholePage, resumeMs,
  }),
);

/** What the screen of a run asks when it is opened. */
async function openPage(runId: string, engine = first): Promise<number> {
  const from = performance.now();
  const events = await engine.client.runs.watch({ id: runId });
  await Promise.all([events.next(), engine.client.runs.prompts({ id: runId, limit: 100 }), engine.client.dashboards.get({ runId })]);
  const ms = performance.now() - from;
  await events.return(undefined);
  return ms;
}
