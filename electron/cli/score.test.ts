import { join } from 'node:path';
import { expect, it } from 'vitest';
import { runSpecSchema } from '#shared/contract/runs.ts';
import { openEngine } from '#engine/engine.ts';
import { RunStore } from '#engine/batch/run-store.ts';
import { ensureHome } from '#engine/store/home.ts';
import { sqlFor } from '#engine/store/database.ts';
import { assistant, READER, record, RESOURCES, testStore, user } from '#engine/trajectories/testing.ts';
import { parseOptions } from './options.ts';
import { scoreCommand } from './score.ts';

// Bug: the command scores something else than it was told, does not keep the rules with the run, or ends well though nothing was scored.
it('scores a run or a selection again and says what came of it', async () => {
  const t = testStore();
  ensureHome(t.home);
  const runs = new RunStore(t.store.db, Date.now);
  const { id } = runs.create({ spec: runSpecSchema.parse({ datasetFile: '/x', runName: 'nightly' }), scripted: false, outputDir: join(t.home, 'out', 'nightly'), datasetSha256: '', total: 2 });
  ['42', '41'].forEach((answer, index) => {
    const trajectory = record(t, [user(`question ${index}`), assistant(`It is ${answer}, for ducks.`)], { kind: 'batch', runId: id, promptIndex: index });
    t.store.db.run(sqlFor.insertInto('prompts').values({ run_id: id, idx: index, prompt: `question ${index}`, row: '{"answer":"42"}', row_key: String(index), state: 'completed', trajectory_id: trajectory.id, updated_at: 1 }));
  });
  runs.setState(id, 'completed', null);
  await t.store.close();
  const quiet = { info: () => {}, error: () => {} };
  const engine = await openEngine({ home: t.home, host: 'cli', paths: { resources: RESOURCES, reader: READER }, version: '0', env: {}, log: quiet });
  const score = async (...args: string[]): Promise<{ code: number; out: string; err: string }> => {
    const said = { out: '', err: '' };
    const terminal = { out: (line: string) => void (said.out += `${line}\n`), err: (line: string) => void (said.err += line), columns: () => null, raw: () => {} };
    const values = parseOptions(scoreCommand.options, args);
    if (values === 'help') throw new Error('Nobody asked for help');
    const code = await scoreCommand.run(values, { terminal, cwd: '/', now: Date.now, open: () => Promise.resolve(engine), onInterrupt: () => () => {} }, []);
    return { code, ...said };
  };
  const first = await score('--run=nightly', '--scoring=numeric, regex:/ducks, or geese|ducks/*0.5');
  expect(first).toMatchObject({ code: 0, err: '' });
  expect(first.out).toContain('2 trajectories scored');
  expect(first.out).toContain('nightly: mean reward 1 over 2 rollouts.');
  expect((await score('--run=nightly')).out).toContain('0 rewards changed');
  expect(await score('--query=question')).toMatchObject({ code: 0, out: expect.stringContaining('2 trajectories scored') });
  expect(await score('--query=geese')).toMatchObject({ code: 1, out: expect.stringContaining('0 trajectories scored') });
  await expect(score('--run=nightly', '--scoring=numbers')).rejects.toThrow('“numbers” is no rule');
  await expect(score('--run=daily')).rejects.toThrow('There are: nightly.');
  await expect(score()).rejects.toThrow('--run=NAME or --query=TEXT');
  await engine.close();
  await t.close();
});
