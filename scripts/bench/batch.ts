import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Ground } from './ground.ts';
import type { Row } from './table.ts';

const LATENCY_MS = 50;

interface Result {
  prompts: number;
  of: number;
  state: string;
  message: string | null;
  seconds: number;
  cpu: number;
  peakMb: number;
}

/**
 * A batch of `prompts` prompts against the fake model (50 ms latency, 4 model calls and 3 tool calls per prompt), once for each number
 * of workers, engine and fake each in a process of its own.
 */
export async function benchBatch(ground: Ground, prompts: number, workers: readonly number[]): Promise<Row[]> {
  const home = ground.folder();
  const dataset = join(home, 'prompts.jsonl');
  writeFileSync(dataset, Array.from({ length: prompts }, (_, i) => JSON.stringify({ prompt: `Prompt ${i}: look at the workspace and report.` })).join('\n'));
  const url = await ground.serve('e2e/fakes/main.ts', ['--scenario', 'agent', '--calls', '3', '--latency', String(LATENCY_MS), '--quiet', '--port', '0'], /http:\/\/\S+\/v1/);
  const rows: Row[] = [];
  for (const n of workers) {
    const r = JSON.parse(await ground.run('scripts/bench/batch-child.ts', [join(home, `home-${n}`), dataset, url, String(n)])) as Result;
    if (r.prompts !== r.of) throw new Error(`Only ${r.prompts} of ${r.of} prompts completed with ${n} workers: ${r.state} ${r.message ?? ''}`);
    rows.push(
      { name: `${n} workers: rate`, value: r.prompts / r.seconds, unit: 'prompts/s' },
      { name: `${n} workers: CPU per prompt, tools included`, value: (r.cpu / r.prompts) * 1000, unit: 'ms' },
      { name: `${n} workers: peak memory of the engine`, value: r.peakMb, unit: 'MiB' },
    );
  }
  return rows;
}
