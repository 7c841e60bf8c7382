import { existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runSpecSchema, type RunSpecInput } from '#shared/contract/run-spec.ts';
import type { Message } from '#shared/trajectory.ts';
import { type FakeModel, startFakeModel } from '../../../../e2e/fakes/fake-model.ts';
import { createOpenAiChatModel } from '../../model/openai-chat.ts';
import type { RolloutActivity, RolloutHeader, RolloutResult, RolloutSink, RolloutTask } from '../queue/types.ts';
import type { WorkerDeps } from './deps.ts';
import { runRollout } from './run.ts';

/** A sink that keeps in memory what it is handed. */
export interface RecordingSink extends RolloutSink {
  headers: RolloutHeader[];
  messages: Message[];
  spent: Parameters<RolloutSink['spend']>[0][];
  activities: RolloutActivity[];
}

export interface WorkerBench {
  fake: FakeModel;
  dir: string;
  deps: WorkerDeps;
  errors: string[];
  task(more?: Partial<Omit<RolloutTask, 'spec'>>, spec?: Partial<RunSpecInput>): RolloutTask;
  sink(more?: Partial<RolloutSink>): RecordingSink;
  /** One rollout with a sink of its own. */
  run(more?: Partial<Omit<RolloutTask, 'spec'>>, spec?: Partial<RunSpecInput>, options?: { deps?: Partial<WorkerDeps>; sink?: RecordingSink; signal?: AbortSignal }): Promise<RolloutResult & { sink: RecordingSink }>;
  /** The body of the request with this number, from 0. */
  sent(at: number): Record<string, unknown> & { messages: { role: string; content: string }[]; tools?: { function: { name: string } }[] };
  /** Whether the workspace of a rollout is there. */
  hasWorkspace(index: number): boolean;
  close(): Promise<void>;
}

/** A worker with a scripted model server and real sandboxes, without any store. */
export async function openWorkerBench(): Promise<WorkerBench> {
  const fake = await startFakeModel();
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'worker-test-')));
  const errors: string[] = [];
  const workspaces = join(dir, 'runs', 'r');
  const bench: WorkerBench = {
    fake,
    dir,
    errors,
    deps: {
      model: createOpenAiChatModel({ provider: 'fake', baseUrl: fake.url, apiKey: 'k', model: 'fake/m' }, { sleep: () => Promise.resolve() }),
      contextLength: null,
      workspaces,
      redact: (text) => text,
      toolServices: {},
      now: Date.now,
      log: { info: () => undefined, error: (message) => void errors.push(message) },
    },
    task: (more = {}, spec = {}) => ({
      runId: 'run-id',
      runName: 'r',
      index: 0,
      promptIndex: 0,
      rollout: 0,
      prompt: 'Look around.',
      row: {},
      toolsets: null,
      attempt: 1,
      ...more,
      spec: runSpecSchema.parse({ datasetFile: '/d.jsonl', runName: 'r', distribution: 'terminal_only', seed: 1, ...spec }),
    }),
    sink(more = {}) {
      const sink: RecordingSink = {
        headers: [],
        messages: [],
        spent: [],
        activities: [],
        begin: (header) => {
          sink.headers.push(header);
          return Promise.resolve({ trajectoryId: 't' });
        },
        message: (message) => Promise.resolve(void sink.messages.push(message)),
        spend: (call) => Promise.resolve(void sink.spent.push(call)),
        activity: (activity) => void sink.activities.push(activity),
        overBudget: () => null,
        ...more,
      };
      return sink;
    },
    async run(more, spec, { deps = {}, sink = bench.sink(), signal = new AbortController().signal } = {}) {
      return { ...(await runRollout(bench.task(more, spec), sink, { ...bench.deps, ...deps }, signal)), sink };
    },
    sent: (at) => fake.chats.at(at)!.body as unknown as ReturnType<WorkerBench['sent']>,
    hasWorkspace: (index) => existsSync(join(workspaces, `task_${index}`)),
    async close() {
      await fake.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return bench;
}
