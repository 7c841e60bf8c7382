import { expect, test, vi } from 'vitest';
import type { RunEvent } from '#shared/contract/runs.ts';
import { say, think, together } from '../../../e2e/fakes/steps.ts';
import { withBatch } from '../../../e2e/fixtures/batch-ground.ts';

/** From now on intervals of watchers pass when the answer is called; all other time goes on. */
function holdIntervals(): () => void {
  const held: (() => void)[] = [];
  const start = globalThis.setTimeout;
  const hold = (run: () => void, ms?: number): NodeJS.Timeout => {
    if (ms !== 250) return start(run, ms);
    held.push(run);
    return start(() => undefined);
  };
  vi.spyOn(globalThis, 'setTimeout').mockImplementation(hold as typeof setTimeout);
  return () => held.splice(0).forEach((run) => run());
}

test('a new state of the run is told at once, progress of its prompts waits for the interval', () =>
  // Bug: a run that was paused, or that has ended, looks as if it went on; or, the other way, every activity of an agent crosses at once.
  withBatch(async ({ service, dataset, spec, fake }) => {
    let chats = 0;
    fake.respond(() => ({ ...together(think('hm'), say('ok')), gate: { name: `${chats++}` } }));
    const { id } = await service.start(spec({ datasetFile: dataset(['a', 'b', 'c']), numWorkers: 1 }));
    await fake.waitForChats(1);
    const passInterval = holdIntervals();
    const watcher = service.watch(id);
    const next = async () => (await watcher.next()).value!;
    expect(await next()).toMatchObject({ type: 'snapshot', codes: 'r..', run: { state: 'running' } });

    service.pause(id);
    expect(await next()).toMatchObject({ run: { state: 'pausing' } });
    await service.resume(id);
    expect(await next()).toMatchObject({ run: { state: 'running' } });

    let progress: RunEvent | null = null;
    const coming = next().then((event) => (progress = event));
    fake.release('0');
    await fake.waitForChats(2);
    expect(progress).toBeNull();
    passInterval();
    expect(await coming).toMatchObject({ type: 'progress', run: { state: 'running', states: { completed: 1 } }, changed: [{ index: 0, state: 'completed' }, { index: 1, state: 'running' }] });

    service.pause(id);
    expect(await next()).toMatchObject({ run: { state: 'pausing' } });
    fake.release('1');
    expect(await next()).toMatchObject({ run: { state: 'paused' }, changed: [{ index: 1, state: 'completed' }], active: [] });
    await service.resume(id);
    expect(await next()).toMatchObject({ run: { state: 'running' } });
    await service.cancel(id);
    expect(await next()).toMatchObject({ run: { state: 'cancelled' } });
    await watcher.return(undefined);
  }));
