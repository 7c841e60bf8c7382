import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callTool, say, think, together } from '../../../../e2e/fakes/steps.ts';
import { bubblewrapMissing } from '../../sandbox/bubblewrap.ts';
import { LeaseLostError } from '../queue/types.ts';
import { Clearing } from './clearing.ts';
import { openWorkerBench, type WorkerBench } from './testing.ts';

let bench: WorkerBench;
beforeEach(async () => {
  bench = await openWorkerBench();
});
afterEach(() => bench.close());

const wall = await bubblewrapMissing();
if (wall !== null) process.stdout.write(`bubblewrap is not tested here: ${wall}\n`);
const workspace = (index = 0): string => join(bench.dir, 'runs', 'r', `task_${index}`);
function running(text: string): number {
  return execFileSync('ps', ['-eo', 'stat,args'], { encoding: 'utf8' }).split('\n').filter((line) => line.includes(text) && !line.startsWith('Z')).length;
}

describe('one rollout', () => {
  test('hands everything to the sink in order, and leaves nothing behind', async () => {
    bench.fake.script(together(think('Let me see.'), callTool('terminal', { command: 'echo made > a.txt; cat a.txt' })), say('It says made.'));
    const { sink, ...result } = await bench.run();
    expect(result).toMatchObject({ exitReason: 'completed', error: null, defect: null, modelError: null, overBudget: null, finalAnswer: 'It says made.', apiCalls: 2, scores: [] });
    expect(result.usage.promptTokens).toBeGreaterThan(0);
    expect(sink.headers).toMatchObject([{ model: 'fake/m', provider: 'fake', scripted: false, toolsets: ['terminal', 'file'] }]);
    expect(sink.messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool', 'assistant']);
    expect(sink.messages[0]!.content).toBe(sink.headers[0]!.systemPrompt);
    expect(JSON.parse(sink.messages[3]!.content)).toMatchObject({ output: 'made\n' });
    expect(sink.spent).toHaveLength(2);
    // Bug: people who watch saw nothing of reasoning, tools or their output.
    const kinds = new Set(sink.activities.map((a) => (a.type === 'delta' ? `delta ${a.channel}` : a.type)));
    expect([...kinds]).toEqual(expect.arrayContaining(['turn', 'delta reasoning', 'delta content', 'tool_start', 'tool_output', 'activity']));
    expect(bench.hasWorkspace(0)).toBe(false);
    // what crosses the border is plain data
    expect(JSON.parse(JSON.stringify(result))).toEqual(result);
  });

  test('starts in an empty workspace, whatever an attempt before left there, also a file in its place', async () => {
    mkdirSync(workspace(), { recursive: true });
    writeFileSync(join(workspace(), 'old.txt'), 'of a killed engine');
    bench.fake.script(callTool('terminal', { command: 'ls -A | wc -l' }), say('ok'), callTool('terminal', { command: 'ls -A | wc -l' }), say('ok'));
    const first = await bench.run();
    expect(first.sink.messages[3]!.content).toContain('"0\\n"');
    mkdirSync(join(bench.dir, 'runs', 'r'), { recursive: true });
    writeFileSync(workspace(), 'a file');
    expect((await bench.run()).sink.messages[3]!.content).toContain('"0\\n"');
  });

  test('keeps the workspace when the run wants that, and ends what runs in it', async () => {
    bench.fake.script(callTool('terminal', { command: 'echo kept > a.txt; sleep 7301 & setsid sleep 7302 & sleep 0.1' }), callTool('terminal', { command: 'sleep 7303', background: true }), say('ok'));
    await bench.run({ index: 3 }, { keepWorkspaces: true });
    expect(readFileSync(join(workspace(3), 'a.txt'), 'utf8')).toBe('kept\n');
    expect(running('sleep 730')).toBe(0);
  });

  // Bug: what is cleared behind the workers is still there when the same rollout is tried again, when all is said to be cleared, or when the run has stopped.
  test('is cleared behind the worker, before the next attempt at it; at once when the run stops', async () => {
    const deps = { clearing: new Clearing(2) };
    const leave = callTool('terminal', { command: 'echo left > left.txt; setsid sleep 7304 & sleep 0.1' });
    bench.fake.script(leave, say('ok'), callTool('terminal', { command: 'ls -A | wc -l' }), say('ok'), leave, say('ok'));
    await bench.run({ index: 5 }, { keepWorkspaces: true }, { deps });
    expect((await bench.run({ index: 5 }, {}, { deps })).sink.messages[3]!.content).toContain('"0\\n"');
    await bench.run({ index: 6 }, {}, { deps });
    await deps.clearing.done();
    expect([bench.hasWorkspace(5), bench.hasWorkspace(6), running('sleep 7304')]).toEqual([false, false, 0]);

    const stop = new AbortController();
    bench.fake.respond(({ turnsSinceUser }) => {
      if (turnsSinceUser > 0) stop.abort();
      return leave;
    });
    expect(await bench.run({ index: 7 }, {}, { deps, signal: stop.signal })).toMatchObject({ exitReason: 'interrupted' });
    expect([bench.hasWorkspace(7), running('sleep 7304')]).toEqual([false, 0]);
  });

  test('says the options of the run to the model, and stores nothing of what is for its ears only', async () => {
    bench.fake.script(say('ok'));
    const prefill = [{ role: 'user' as const, content: 'EXAMPLE', createdAt: 0 }, { role: 'assistant' as const, content: 'LIKE THIS', createdAt: 0 }];
    const { sink } = await bench.run({}, { temperature: 0, topP: 0.5, maxTokens: 77, reasoningEffort: 'high', ephemeralSystemPrompt: 'BE QUIET' }, { deps: { prefill } });
    // Bug: temperature 0 was left out as if it were not given.
    expect(bench.sent(0)).toMatchObject({ temperature: 0, top_p: 0.5 });
    expect(Object.values(bench.sent(0))).toContain(77);
    expect(JSON.stringify(bench.sent(0))).toContain('high');
    const [system, ...rest] = bench.sent(0).messages.map((m) => m.content);
    expect(system!.startsWith(sink.headers[0]!.systemPrompt)).toBe(true);
    expect(system).toMatch(/BE QUIET$/);
    expect(rest).toEqual(['EXAMPLE', 'LIKE THIS', 'Look around.']);
    expect(JSON.stringify([sink.headers, sink.messages])).not.toMatch(/BE QUIET|EXAMPLE|LIKE THIS/);
    bench.fake.script(say('ok'));
    await bench.run({}, { reasoningDisabled: true, reasoningEffort: 'high' });
    expect(JSON.stringify(bench.sent(1))).not.toContain('high');
  });

  test('is redacted as everything else', async () => {
    bench.fake.script(callTool('terminal', { command: 'echo key-1 23' }), say('ok'));
    const { sink } = await bench.run({}, {}, { deps: { redact: (text) => text.replaceAll('key-1 23', '[key]') } });
    expect(JSON.stringify([sink.messages[3], sink.activities.filter((a) => a.type === 'tool_output')])).not.toContain('key-1 23');
  });

  test.runIf(wall === null)('runs behind the wall when the run says so, where the home of the program is not there', async () => {
    const home = join(bench.dir, 'home');
    mkdirSync(home);
    writeFileSync(join(home, 'keys.json'), 'sk-key');
    bench.fake.script(callTool('terminal', { command: `cat ${home}/keys.json; grep -c : /proc/net/dev; touch in && ls` }), say('ok'));
    const { sink } = await bench.run({}, { sandbox: 'bubblewrap', network: false }, { deps: { hidden: [home] } });
    const { output } = JSON.parse(sink.messages[3]!.content) as { output: string };
    expect(output).toMatch(/No such file.*\n1\nin\n$/);
  });
});

describe('several turns of a row', () => {
  test('are one conversation in one sandbox, the prompt first', async () => {
    bench.fake.script(callTool('terminal', { command: 'echo 1 > n; cd /; export V=7' }), say('first'), callTool('terminal', { command: 'pwd; echo $V' }), say('second'), say('third'));
    const { sink, ...result } = await bench.run({ prompt: 'one', row: { prompts: ['two', 'three'] } });
    expect(sink.messages.filter((m) => m.role === 'user').map((m) => m.content)).toEqual(['one', 'two', 'three']);
    expect(sink.messages.filter((m) => m.role === 'system')).toHaveLength(1);
    expect(sink.headers).toHaveLength(1);
    expect(JSON.parse(sink.messages[7]!.content)).toMatchObject({ output: '/\n7\n' });
    // Bug: only the last turn was counted, or its answer was that of the first.
    expect(result).toMatchObject({ exitReason: 'completed', finalAnswer: 'third', apiCalls: 5 });
    expect(result.usage.completionTokens).toBe(sink.spent.reduce((sum, call) => sum + call.usage.completionTokens, 0));
    expect(bench.sent(4).messages).toHaveLength(10);
  });

  test('end with the turn that does not end well', async () => {
    bench.fake.script(callTool('terminal', { command: 'true' }), say('I got this far.'));
    const { sink, ...result } = await bench.run({ row: { prompts: ['more'] } }, { maxTurns: 1 });
    expect(result.exitReason).toBe('max_turns');
    expect(sink.messages.filter((m) => m.role === 'user' && !m.synthetic)).toHaveLength(1);
  });
});

describe('what a row says', () => {
  test('is part of the stored system prompt, and where commands start', async () => {
    bench.fake.script(callTool('terminal', { command: 'pwd; ls -A ..' }), say('ok'));
    const { sink } = await bench.run({ row: { system: 'Speak like a pirate.', cwd: 'src/app' } });
    expect(sink.headers[0]!.systemPrompt).toMatch(/capable agent[^]*Speak like a pirate\.$/);
    expect(JSON.parse(sink.messages[3]!.content)).toMatchObject({ output: `${workspace()}/src/app\napp\n` });
  });

  test('chooses its tools in place of the draw', async () => {
    bench.fake.script(say('ok'), say('ok'), say('ok'));
    const names = (at: number): string[] => (bench.sent(at).tools ?? []).map((t) => t.function.name);
    await bench.run({ row: { tools: ['read_file', { type: 'function', function: { name: 'terminal' } }] }, toolsets: ['file'] });
    expect(names(0)).toEqual(['terminal', 'read_file']);
    const two = await bench.run({ row: { toolsets: 'todo, terminal' } });
    expect(two.sink.headers[0]!.toolsets).toEqual(['terminal', 'todo']);
    await bench.run({ row: { tools: [] } });
    expect(names(2)).toEqual([]);
  });

  test.each([
    [{ tools: ['terminal', 'launch_rocket'] }, 'unknown_tool', false, /"launch_rocket".*read_file/],
    [{ toolsets: ['terminal', 'rockets'] }, 'unknown_tool', false, /rockets/],
    [{ toolsets: ['browser'] }, 'unknown_tool', false, /"browser" is not part of this version/],
    [{ toolsets: ['web'] }, 'tool_unavailable', true, /web/],
    [{ tools: ['clarify'] }, 'tool_unavailable', true, /clarify/],
    [{ tools: { name: 'terminal' } }, 'bad_row', false, /"tools"/],
    [{ prompts: [1] }, 'bad_row', false, /"prompts"/],
    [{ system: { text: 'x' } }, 'bad_row', false, /"system"/],
    [{ cwd: '/testbed' }, 'bad_row', false, /no image/],
    [{ cwd: '../elsewhere' }, 'bad_row', false, /"cwd"/],
    [{ image: '--privileged' }, 'bad_row', false, /container image/],
    [{ image: 'a:1', cwd: '/etc' }, 'bad_row', false, /system of the image/],
  ])('%j fails this rollout before anything is paid (%s)', async (row, cause, retryable, sentence) => {
    const result = await bench.run({ row });
    expect(result.defect).toEqual({ cause, reason: expect.stringMatching(sentence), retryable });
    expect(result).toMatchObject({ exitReason: null, apiCalls: 0 });
    expect(bench.fake.chats).toHaveLength(0);
    expect(result.sink.headers).toHaveLength(0);
    expect(bench.hasWorkspace(0)).toBe(false);
  });
});

describe('toolsets', () => {
  test('are drawn by seed and place, kept for the next attempt, and skip what is not set up', async () => {
    bench.fake.script(...Array.from({ length: 14 }, () => say('ok')));
    const drawn = async (index: number, more = {}): Promise<string> => (await bench.run({ index, promptIndex: index >> 1, rollout: index & 1, ...more }, { distribution: 'balanced', seed: 5 })).sink.headers[0]!.toolsets.join();
    const first = await Promise.all([0, 1, 2, 3, 4, 5].map((i) => drawn(i)));
    const again = [];
    for (const i of [5, 4, 3, 2, 1, 0]) again.push(await drawn(i));
    expect(again.reverse()).toEqual(first);
    expect(new Set(first).size).toBeGreaterThan(1);
    for (const toolsets of first) expect(toolsets).toMatch(/^(terminal|file|terminal,file)$/);
    const kept = await bench.run({ toolsets: ['file'] }, { distribution: 'gone since' });
    expect(kept.sink.headers[0]!.toolsets).toEqual(['file']);
    const gone = await bench.run({}, { distribution: 'gone since' });
    expect(gone.defect).toMatchObject({ cause: 'distribution', retryable: true, reason: expect.stringContaining('gone since') });
  });

  test('of web and pictures are there when their services are, and looking at a picture is paid by the run', async () => {
    const picture = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+M8AAAMBAQDJ/pLvAAAAAElFTkSuQmCC', 'base64');
    bench.fake.script(
      callTool('terminal', { command: `echo ${picture.toString('base64')} | base64 -d > p.png` }),
      callTool('vision_analyze', { image_url: 'p.png', question: 'What is it?' }),
      say('A dot.'),
      say('ok'),
    );
    const web = { searchMissing: null, search: () => Promise.resolve([]), extract: () => Promise.reject(new Error('no')), download: () => Promise.reject(new Error('no')) };
    const { sink } = await bench.run({}, { distribution: 'default' }, { deps: { visionModel: bench.deps.model, toolServices: { web } } });
    expect(sink.headers[0]!.toolsets).toEqual(['web', 'vision', 'terminal', 'file']);
    expect(sink.messages[5]!.content).toContain('A dot.');
    expect(JSON.stringify(bench.sent(2))).toContain('image_url');
    expect(sink.spent.map((call) => call.purpose)).toEqual([null, null, 'vision', null]);
  });
});

describe('the end of an attempt', () => {
  test('by its time limit keeps what there is, and the command does not go on', async () => {
    bench.fake.script(callTool('terminal', { command: 'echo begun; sleep 7311' }));
    const { sink, ...result } = await bench.run({}, { timeoutPerPrompt: 1 });
    expect(result).toMatchObject({ exitReason: 'timeout', defect: null, error: expect.stringContaining('1 s') });
    // Bug: the call of the stopped command had no result, and the trajectory could not be used.
    expect(sink.messages.map((m) => m.role)).toEqual(['system', 'user', 'assistant', 'tool']);
    expect(running('sleep 7311')).toBe(0);
    expect(bench.hasWorkspace(0)).toBe(false);
  });

  test('by the run, before and while it goes on, is an interruption and not a timeout', async () => {
    const stop = new AbortController();
    bench.fake.script(callTool('terminal', { command: 'echo begun; sleep 7312' }));
    const sink = bench.sink({ activity: (a) => void (a.type === 'tool_output' && stop.abort()) });
    expect(await bench.run({}, { timeoutPerPrompt: 3_600 }, { sink, signal: stop.signal })).toMatchObject({ exitReason: 'interrupted', scores: [] });
    expect(running('sleep 7312')).toBe(0);
    const before = await bench.run({}, {}, { signal: AbortSignal.abort() });
    expect(before).toMatchObject({ exitReason: 'interrupted', defect: null });
    expect(bench.hasWorkspace(0)).toBe(false);
  });

  test('by a spend cap says which', async () => {
    const result = await bench.run({}, {}, { sink: bench.sink({ overBudget: () => 'The cap of 1 USD is reached.' }) });
    expect(result).toMatchObject({ exitReason: 'budget_exceeded', overBudget: 'The cap of 1 USD is reached.' });
    expect(bench.fake.chats).toHaveLength(0);
  });

  test('by the provider is plain data', async () => {
    bench.fake.script({ fault: { kind: 'status', status: 401, message: 'no such key' } });
    const { sink: _, ...result } = await bench.run();
    expect(result.modelError).toEqual({ code: 'auth', message: expect.any(String), providerMessage: 'no such key', stopsRun: true });
  });

  test.each([new LeaseLostError(), new Error('SQLITE_FULL')])('by a sink that fails is the sink’s error, and the agent goes no further (%s)', async (lost) => {
    bench.fake.script(callTool('terminal', { command: 'sleep 7313', background: true }), say('never asked'));
    const sink = bench.sink({ message: (m) => (m.role === 'tool' ? Promise.reject(lost) : Promise.resolve()) });
    await expect(bench.run({}, {}, { sink })).rejects.toBe(lost);
    expect(bench.fake.unused).toBe(1);
    expect(running('sleep 7313')).toBe(0);
    expect(bench.hasWorkspace(0)).toBe(false);
    expect(bench.errors).toEqual([]);
  });

  test('by a defect is this rollout’s alone, with the stack', async () => {
    bench.fake.script(say('ok'));
    const sink = bench.sink({ activity: () => { throw new TypeError('a fault of ours'); } });
    const result = await bench.run({}, {}, { sink });
    expect(result).toMatchObject({ exitReason: null, defect: { cause: 'defect', retryable: true, reason: expect.stringMatching(/a fault of ours\n\s+at /) } });
    expect(bench.hasWorkspace(0)).toBe(false);
    expect(bench.errors).toHaveLength(1);
  });

  test('by a workspace that cannot be made says so', async () => {
    writeFileSync(join(bench.dir, 'file'), '');
    const result = await bench.run({}, {}, { deps: { workspaces: join(bench.dir, 'file', 'r') } });
    expect(result.defect).toMatchObject({ cause: 'sandbox', retryable: true });
  });
});

describe('scores', () => {
  test('are asked for while the sandbox stands', async () => {
    bench.fake.script(callTool('terminal', { command: 'echo 42 > answer' }), say('done'));
    const { scores } = await bench.run({}, {}, {
      deps: {
        score: async ({ task, sandbox, finalAnswer, messages, signal }) => {
          const { output } = await sandbox.run('cat answer', { timeoutMs: 20_000, signal });
          return [{ name: 'x', rule: 'x', value: Number(output), weight: 1, detail: { finalAnswer, prompt: task.prompt, messages: messages.length } }];
        },
      },
    });
    expect(scores).toEqual([{ name: 'x', rule: 'x', value: 42, weight: 1, detail: { finalAnswer: 'done', prompt: 'Look around.', messages: 5 } }]);
    expect(existsSync(workspace())).toBe(false);
  });

  test('that fail are null with the reason, and the rollout stands', async () => {
    bench.fake.script(say('done'), say('done'));
    const score = () => Promise.reject(new Error('boom'));
    const one = await bench.run({}, { scoring: ['exact', 'style=regex:/a/*0.5'] }, { deps: { score } });
    expect(one).toMatchObject({ exitReason: 'completed', defect: null });
    expect(one.scores.map(({ name, value, weight, detail }) => [name, value, weight, JSON.stringify(detail)])).toEqual([
      ['exact', null, 1, expect.stringContaining('boom')],
      ['style', null, 0.5, expect.stringContaining('boom')],
    ]);
    expect((await bench.run({ row: { scoring: ['numeric'] } }, { scoring: ['exact'] }, { deps: { score } })).scores.map((s) => s.name)).toEqual(['numeric']);
  });

  test('are not asked of what failed', async () => {
    bench.fake.script({ fault: { kind: 'status', status: 400, message: 'bad' } });
    const result = await bench.run({}, { scoring: ['exact'] }, { deps: { score: () => Promise.reject(new Error('asked')) } });
    expect(result).toMatchObject({ exitReason: 'provider_error', scores: [] });
  });
});
