import { expect, test } from 'vitest';
import { callTool, say, think, together } from '../../../e2e/fakes/steps.ts';
import { withBatch } from '../../../e2e/fixtures/batch-ground.ts';

const answer = together(think('Thinking.'), say('done'));
const price = { input: 1000, output: 1000 };

// a run whose cap is reached loses the prompts in flight, marks them failed, or goes on paying
test('a run that reaches its cap pauses, says so, and goes on where it stopped when the cap is raised', () =>
  withBatch(async ({ fake, service, spend, dataset, spec, settled, resumed }) => {
    spend.setPrice('fake-model', price);
    spend.setCaps({ runUsd: 0.000001 });
    fake.script(answer);
    const { id } = await service.start(spec({ datasetFile: dataset(['a', 'b', 'c', 'd']), numWorkers: 1 }));
    const paused = await settled(id);
    expect(paused).toMatchObject({ state: 'paused', message: expect.stringMatching(/cap of this run.*Settings/) as string });
    expect(paused.states).toMatchObject({ completed: 1, pending: 3, failed: 0, partial: 0 });
    expect(paused.costUsd).toBeGreaterThan(0);

    spend.setCaps({ runUsd: null });
    fake.script(answer, answer, answer);
    const done = await resumed(id);
    expect(done).toMatchObject({ state: 'completed', states: { completed: 4 } });
    expect(done.costUsd).toBeCloseTo(paused.costUsd * 4);
    // nothing that was answered was asked again
    expect(fake.chats).toHaveLength(4);
  }));

// money that was spent before the cap is forgotten when the prompt is run again
test('a prompt that the cap stopped in the middle is run again, and both attempts are counted', () =>
  withBatch(async ({ fake, service, spend, dataset, spec, settled, resumed, store }) => {
    spend.setPrice('fake-model', price);
    spend.setCaps({ dayUsd: 0.000001 });
    fake.script(together(think('First.'), callTool('terminal', { command: 'echo hi' })));
    const { id } = await service.start(spec({ datasetFile: dataset(['only']), numWorkers: 1, distribution: 'terminal_only' }));
    const paused = await settled(id);
    expect(paused).toMatchObject({ state: 'paused', states: { pending: 1, completed: 0 } });
    const before = spend.todayUsd();
    expect(before).toBeGreaterThan(0);

    spend.setCaps({ dayUsd: null });
    fake.script(answer);
    const done = await resumed(id);
    expect(done.states).toMatchObject({ completed: 1, pending: 0 });
    expect(done.costUsd).toBeCloseTo(spend.todayUsd());
    expect(done.costUsd).toBeGreaterThan(before);
    expect(store.db.connection.prepare('SELECT count(*) FROM trajectories').pluck().get()).toBe(1);
  }));
