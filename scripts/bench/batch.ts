import { execFile, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import type { Row } from './table.ts';

const ROOT = resolve(import.meta.dirname, '../..');
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
export async function benchBatch(prompts: number, workers: readonly number[]): Promise<Row[]> {
  const home = mkdtempSync(join(tmpdir(), 'talaria-bench-'));
  const dataset = join(home, 'prompts.jsonl');
  writeFileSync(dataset, Array.from({ length: prompts }, (_, i) => JSON.stringify({ prompt: `Prompt ${i}: look at the workspace and report.` })).join('\n'));
  const fake = await startFake();
  try {
    const rows: Row[] = [];
    for (const n of workers) {
      const { stdout } = await promisify(execFile)(process.execPath, [join(import.meta.dirname, 'batch-child.ts'), join(home, `home-${n}`), dataset, fake.url, String(n)]);
      const r = JSON.parse(stdout) as Result;
      if (r.prompts !== r.of) throw new Error(`Only ${r.prompts} of ${r.of} prompts completed with ${n} workers: ${r.state} ${r.message ?? ''}`);
      rows.push(
        { name: `${n} workers: rate`, value: r.prompts / r.seconds, unit: 'prompts/s' },
        { name: `${n} workers: CPU per prompt, tools included`, value: (r.cpu / r.prompts) * 1000, unit: 'ms' },
        { name: `${n} workers: peak memory of the engine`, value: r.peakMb, unit: 'MiB' },
      );
    }
    return rows;
  } finally {
    fake.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

function startFake(): Promise<{ url: string; stop(): void }> {
  const child = spawn(process.execPath, [join(ROOT, 'e2e/fakes/main.ts'), '--scenario', 'agent', '--calls', '3', '--latency', String(LATENCY_MS), '--port', '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return new Promise((done, fail) => {
    let text = '';
    child.stdout.on('data', (data: Buffer) => {
      text += data.toString();
      const url = /http:\/\/\S+\/v1/.exec(text)?.[0];
      if (url) done({ url, stop: () => void child.kill() });
    });
    child.once('exit', (code) => fail(new Error(`The fake model ended with ${code}`)));
  });
}
