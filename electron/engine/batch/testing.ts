import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RunSpec, RunSpecInput, RunSummary } from '#shared/contract/runs.ts';
import { runSpecSchema } from '#shared/contract/runs.ts';
import { type FakeModel, type FakeModelOptions, startFakeModel } from '../../../e2e/fakes/fake-model.ts';
import { createOpenAiChatModel } from '../model/openai-chat.ts';
import type { ChatModel } from '../model/types.ts';
import { sqlFor } from '../store/database.ts';
import { ensureHome } from '../store/home.ts';
import { openStore, type Store } from '../store/store.ts';
import { LiveHub } from '../trajectories/live.ts';
import { BatchService } from './service.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
export const testPaths = { resources: join(root, 'resources'), reader: join(root, 'electron/engine/store/reader.ts') };

export interface BatchGround {
  fake: FakeModel;
  service: BatchService;
  store: Store;
  dir: string;
  /** Folder of run folders. */
  out: string;
  /** What the model was told to wait, ms. Nobody really waits. */
  waits: number[];
  errors: string[];
  /** A dataset file of these prompts. */
  dataset(prompts: readonly unknown[]): string;
  spec(more: Partial<RunSpecInput> & { datasetFile: string }): RunSpec;
  /** Starts and waits for the end. */
  run(more: Partial<RunSpecInput> & { datasetFile: string }): Promise<RunSummary>;
  /** Waits until the run is not running. */
  settled(id: string): Promise<RunSummary>;
  resumed(id: string): Promise<RunSummary>;
}

/** A real store, service and model client against the fake server, in folders that are gone afterwards. */
export async function withBatch(test: (ground: BatchGround) => Promise<void>, options: FakeModelOptions & { key?: string; model?: (spec: RunSpec) => ChatModel } = {}): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'batch-test-'));
  const home = ensureHome(join(dir, 'home'));
  const store = openStore(home.root, testPaths);
  const fake = await startFakeModel(options);
  const waits: number[] = [];
  const errors: string[] = [];
  const out = join(dir, 'out');
  mkdirSync(out);
  const service = new BatchService({
    db: store.db,
    hub: new LiveHub(),
    now: Date.now,
    log: { info: () => {}, error: (message) => void errors.push(message) },
    home: home.root,
    resources: testPaths.resources,
    defaultOutputDir: out,
    createModel: (spec, key) =>
      Promise.resolve(
        options.model?.(spec) ??
          createOpenAiChatModel(
            { provider: 'custom', baseUrl: spec.baseUrl ?? fake.url, apiKey: key?.apiKey ?? options.key ?? null, model: spec.model },
            { sleep: (ms) => Promise.resolve(void waits.push(ms)) },
          ),
      ),
  });
  let files = 0;
  const ground: BatchGround = {
    fake,
    service,
    store,
    dir,
    out,
    waits,
    errors,
    dataset(prompts) {
      const path = join(dir, `prompts-${++files}.jsonl`);
      writeFileSync(path, prompts.map((p) => `${JSON.stringify(typeof p === 'string' ? { prompt: p } : p)}\n`).join(''));
      return path;
    },
    spec: (more) => runSpecSchema.parse({ runName: 'r', provider: 'custom', model: 'fake-model', numWorkers: 2, batchSize: 3, ...more }),
    async run(more) {
      const { id } = await service.start(ground.spec(more));
      return ground.settled(id);
    },
    async settled(id) {
      for await (const { run } of service.watch(id)) if (run.state !== 'running' && run.state !== 'pausing') return run;
      throw new Error('The run was removed');
    },
    async resumed(id) {
      await service.resume(id);
      return ground.settled(id);
    },
  };
  try {
    await test(ground);
  } finally {
    await service.close();
    await store.close();
    await fake.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

export interface BatchRow {
  prompt_index: number;
  conversations: { from: string; value: string }[];
  metadata: { batch_num: number; timestamp: string; model: string; scripted: boolean; trajectory_id: string };
  completed: boolean;
  partial: boolean;
}

export function readRows(path: string): BatchRow[] {
  const text = readFileSync(path, 'utf8');
  if (text !== '' && !text.endsWith('\n')) throw new Error(`${path} has a torn last line`);
  return text.split('\n').slice(0, -1).map((line) => JSON.parse(line) as BatchRow);
}

/** Where the files of a run and the store disagree, as sentences; empty when all is well. `db` is any open store of the home. */
export function disagreements(store: Pick<Store, 'db'>, run: Pick<RunSummary, 'id' | 'outputDir' | 'spec' | 'total'>): string[] {
  const wrong: string[] = [];
  const prompts = store.db.all(sqlFor.selectFrom('prompts').selectAll().where('run_id', '=', run.id).orderBy('idx'));
  const trajectories = store.db.all(sqlFor.selectFrom('trajectories').select(['id', 'prompt_index', 'state']).where('run_id', '=', run.id));
  if (prompts.length !== run.total) wrong.push(`${prompts.length} prompts stored, total ${run.total}`);
  for (const p of prompts) {
    const own = trajectories.filter((t) => t.prompt_index === p.idx);
    const tried = p.attempts > 0;
    if (own.length !== (tried ? 1 : 0)) wrong.push(`prompt ${p.idx} (${p.state}) has ${own.length} trajectories`);
    if (tried && own[0]?.id !== p.trajectory_id) wrong.push(`prompt ${p.idx} points to another trajectory`);
    if (own[0]?.state === 'running') wrong.push(`the trajectory of prompt ${p.idx} is still running`);
  }
  const kept = prompts.filter((p) => p.state === 'completed' || p.state === 'partial');
  const expected = kept.map((p) => `${p.idx}:${p.trajectory_id}`);
  const name = (r: BatchRow) => `${r.prompt_index}:${r.metadata.trajectory_id}`;
  const files = readdirSync(run.outputDir).sort();
  const batches = files.filter((f) => /^batch_\d+\.jsonl$/.test(f));
  const rows = batches.flatMap((f) => {
    const n = Number(f.slice(6, -6));
    return readRows(join(run.outputDir, f)).map((r) => {
      if (r.metadata.batch_num !== n || Math.floor(r.prompt_index / run.spec.batchSize) !== n) wrong.push(`row ${r.prompt_index} is in ${f}`);
      return r;
    });
  });
  const same = (a: readonly string[], b: readonly string[], what: string) => {
    if (JSON.stringify(a) !== JSON.stringify(b)) wrong.push(`${what}: ${JSON.stringify(a)} instead of ${JSON.stringify(b)}`);
  };
  same(rows.toSorted((a, b) => a.prompt_index - b.prompt_index).map(name), expected, 'batch files');
  same(readRows(join(run.outputDir, 'trajectories.jsonl')).map(name), expected, 'trajectories.jsonl');
  const checkpoint = JSON.parse(readFileSync(join(run.outputDir, 'checkpoint.json'), 'utf8')) as { completed_prompts: number[] };
  const done = prompts.filter((p) => ['completed', 'partial', 'discarded'].includes(p.state)).map((p) => String(p.idx));
  same(checkpoint.completed_prompts.map(String), done, 'checkpoint');
  const statistics = JSON.parse(readFileSync(join(run.outputDir, 'statistics.json'), 'utf8')) as { outcomes: Record<string, number>; rows: { written: number } };
  const count = (state: string) => prompts.filter((p) => p.state === state).length;
  same(
    ['completed', 'partial', 'failed', 'discarded', 'cancelled', 'not_run'].map((k) => `${k} ${statistics.outcomes[k]}`),
    [...['completed', 'partial', 'failed', 'discarded', 'cancelled'].map((k) => `${k} ${count(k)}`), `not_run ${count('pending')}`],
    'statistics',
  );
  same([String(statistics.rows.written)], [String(kept.length)], 'rows in statistics');
  const strangers = files.filter((f) => !/^(batch_\d+\.jsonl|trajectories\.jsonl|checkpoint\.json|statistics\.json)$/.test(f));
  if (strangers.length > 0) wrong.push(`left over: ${strangers.join(', ')}`);
  return wrong;
}
