import { readdirSync, readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { join, resolve } from 'node:path';
import { openEngine } from '#engine/engine.ts';
import { runSpecSchema } from '#shared/contract/runs.ts';

/** Child of the batch benchmark: one run in a process of its own, so that its CPU and memory are its own. Prints one line of JSON. */
const [home, dataset, baseUrl, workers] = process.argv.slice(2) as [string, string, string, string];
const root = resolve(import.meta.dirname, '../..');
const quiet = { info: () => {}, error: (message: string, error?: unknown) => console.error(message, error) };
const paths = { resources: join(root, 'resources'), reader: join(root, 'electron/engine/store/reader.ts') };
const engine = await openEngine({ home, host: 'cli', paths, version: 'bench', env: {}, log: quiet });
const cpuBefore = cpuSeconds();
const started = performance.now();
const { id } = await engine.client.runs.start(
  runSpecSchema.parse({
    datasetFile: dataset,
    runName: `bench-${workers}`,
    provider: 'custom',
    baseUrl,
    model: 'fake/agent',
    numWorkers: Number(workers),
    batchSize: 50,
    distribution: 'terminal_tasks',
  }),
);
for await (const event of await engine.client.runs.watch({ id })) {
  if (event.run.state !== 'running') break;
}
const seconds = (performance.now() - started) / 1000;
const run = await engine.client.runs.get({ id });
const cpu = cpuSeconds() - cpuBefore;
await engine.close();
console.log(JSON.stringify({ prompts: run.states.completed ?? 0, of: run.total, state: run.state, message: run.message, seconds, cpu, peakMb: process.resourceUsage().maxRSS / 1024 }));

/** User and system time of this process and, on Linux, of the processes it started, those that live included. */
function cpuSeconds(): number {
  const own = process.cpuUsage();
  let children = 0;
  if (process.platform === 'linux') {
    const tasks = readdirSync('/proc/self/task').flatMap((task) => readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim().split(' '));
    const living = tasks.filter((pid) => pid !== '').map((pid) => timesOf(pid).reduce((sum, one) => sum + one, 0));
    children = timesOf('self').slice(2).concat(living).reduce((sum, one) => sum + one, 0);
  }
  return (own.user + own.system) / 1e6 + children;
}

/** Seconds of a process: its own as a user and in the system, and the same of the children that it has collected. */
function timesOf(pid: string): number[] {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ').slice(11, 15).map((ticks) => Number(ticks) / 100);
  } catch {
    return [];
  }
}
