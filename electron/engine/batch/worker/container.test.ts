import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fakeDocker, type FakeDocker } from '../../../../e2e/fakes/docker.ts';
import { callTool, say } from '../../../../e2e/fakes/steps.ts';
import { openWorkerBench, type WorkerBench } from './testing.ts';

let bench: WorkerBench;
let docker: FakeDocker;
beforeEach(async () => {
  bench = await openWorkerBench();
  docker = fakeDocker();
  docker.image('swe/one:latest', { files: { '/testbed/app.py': 'x = 1\n' } });
});
afterEach(async () => {
  docker.close();
  await bench.close();
});

test('a row with an image is run in a container of it, scored there, and nothing is left', async () => {
  bench.fake.script(
    // Bug: rules that keep commands off this machine kept them off the container too.
    callTool('terminal', { command: 'pwd; cat app.py; echo $FROM_IMAGE; rm -rf /opt/of-the-image' }),
    callTool('patch', { path: 'app.py', old_string: 'x = 1', new_string: 'x = 2' }),
    say('done'),
  );
  const { sink, ...result } = await bench.run({ row: { image: 'swe/one:latest', cwd: '/testbed' } }, { network: false }, {
    deps: {
      score: async ({ sandbox, signal }) => {
        const { output } = await sandbox.run('cat app.py', { timeoutMs: 20_000, signal, pristine: true, workdir: '.' });
        return [{ name: 'tests', rule: 'tests', value: output === 'x = 2\n' ? 1 : 0, weight: 1, detail: {} }];
      },
    },
  });
  expect(result).toMatchObject({ exitReason: 'completed', scores: [{ value: 1 }] });
  expect(JSON.parse(sink.messages[3]!.content)).toEqual({ output: '/testbed\nx = 1\nyes\n', exit_code: 0, error: null });
  expect(docker.calls().some((call) => call.includes('--network none'))).toBe(true);
  expect(docker.containers()).toEqual([]);
  expect(bench.hasWorkspace(0)).toBe(false);
});

test('its workspace can be kept', async () => {
  bench.fake.script(callTool('terminal', { command: 'echo made > /workspace/a' }), say('ok'));
  await bench.run({ row: { docker_image: 'swe/one:latest' } }, { keepWorkspaces: true });
  expect(readFileSync(join(bench.dir, 'runs', 'r', 'task_0', 'a'), 'utf8')).toBe('made\n');
  expect(docker.containers()).toEqual([]);
});

test('a time limit ends it with its container; what there is stays', async () => {
  bench.fake.script(callTool('terminal', { command: 'echo begun; sleep 7401' }));
  const { sink, ...result } = await bench.run({ row: { image: 'swe/one:latest' } }, { timeoutPerPrompt: 1 });
  expect(result.exitReason).toBe('timeout');
  expect(sink.messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool']);
  expect(docker.containers()).toEqual([]);
});

test.each([
  ['far/away:3', 'image_pull', true, /far\/away:3.*could not be pulled/],
  ['swe/broken', 'container', false, /no shell/],
])('%s fails its rollout before anything is paid: %s', async (image, cause, retryable, sentence) => {
  docker.image('swe/broken', { broken: true });
  const result = await bench.run({ row: { image } });
  expect(result.defect).toEqual({ cause, retryable, reason: expect.stringMatching(sentence) });
  expect(bench.fake.chats).toHaveLength(0);
  expect(result.sink.headers).toHaveLength(0);
  expect(existsSync(join(bench.dir, 'runs', 'r', 'task_0'))).toBe(false);
});

test('without a docker that answers it fails and is not tried again by itself; rows without an image run', async () => {
  docker.stop();
  expect((await bench.run({ row: { image: 'swe/one:latest' } })).defect).toMatchObject({ cause: 'docker_missing', retryable: false });
  bench.fake.script(say('ok'));
  expect((await bench.run()).exitReason).toBe('completed');
});

test('a rollout that is stopped while its image is pulled is interrupted', async () => {
  docker.image('far/slow', { pullable: true });
  docker.holdPull('far/slow');
  const stop = new AbortController();
  const run = bench.run({ row: { image: 'far/slow' } }, {}, { signal: stop.signal });
  await expect.poll(() => docker.calls().some((call) => call.startsWith('pull '))).toBe(true);
  stop.abort();
  expect(await run).toMatchObject({ exitReason: 'interrupted', defect: null });
  expect(readdirSync(bench.dir)).toEqual([]);
});
