import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { callTool, say, think, together } from '../../../e2e/fakes/steps.ts';
import { disagreements, withBatch } from '../../../e2e/fixtures/batch-ground.ts';
import { inspectDataset } from './dataset.ts';

const good = together(think('I know that.'), say('An answer.'));

// the run stayed "running" for ever, and the command line ended without a word
test('a store that takes nothing any more stops the run with its reason; resume goes on when it is mended', () =>
  withBatch(async ({ service, dataset, spec, fake, store, settled, resumed }) => {
    fake.respond(() => {
      store.db.connection.pragma('query_only = ON');
      return good;
    });
    const { id } = await service.start(spec({ datasetFile: dataset(['a', 'b', 'c']) }));
    const stopped = await settled(id);
    expect(stopped).toMatchObject({ state: 'paused', message: expect.stringMatching(/store could not be written.*Resume/) as string });
    expect(service.list()).toEqual([stopped]);
    store.db.connection.pragma('query_only = OFF');
    fake.respond(() => good);
    const ended = await resumed(id);
    expect(ended).toMatchObject({ state: 'completed', message: null, states: { completed: 3 } });
    expect(disagreements(store, ended)).toEqual([]);
  }));

// parsing takes any depth, writing does not: one such row made the whole file useless
test('a row that is nested too deeply is refused alone', () =>
  withBatch(async ({ dir }) => {
    const path = join(dir, 'deep.jsonl');
    writeFileSync(path, `{"prompt":"a","x":${'['.repeat(200_000)}${']'.repeat(200_000)}}\n{"prompt":"b"}\n`);
    const report = await inspectDataset(path);
    expect(report.preview.map((r) => r.prompt)).toEqual(['b']);
    expect(report.rejected).toMatchObject([{ line: 1, reason: expect.stringContaining('nested too deeply') as string }]);
  }));

// opening a pipe waits for somebody who writes to it, and blocks a thread of the pool meanwhile
test.skipIf(process.platform === 'win32')('a named pipe is refused at once, also on resume', () =>
  withBatch(async ({ dir, run, fake, service, dataset }) => {
    const pipe = join(dir, 'pipe.jsonl');
    execFileSync('mkfifo', [pipe]);
    await expect(inspectDataset(pipe)).rejects.toThrow(/not a regular file/);
    fake.respond(() => good);
    const datasetFile = dataset(['a']);
    const ended = await run({ datasetFile });
    execFileSync('mv', [pipe, datasetFile]);
    await expect(service.resume(ended.id)).rejects.toThrow(/not a regular file/);
  }));

// "env", or ps over the processes of this machine, brought keys into trajectories, files and to the model
test('a known key in what a tool answers is taken out before it is stored and sent', () =>
  withBatch(
    async ({ run, dataset, fake, store }) => {
      const key = 'planted-key-0123456789';
      fake.respond((r) => (r.turnsSinceUser === 0 ? together(think('t'), callTool('terminal', { command: `echo "a ${key.slice(0, 8)}""${key.slice(8)} b"` })) : good));
      const ended = await run({ datasetFile: dataset(['a']) });
      expect(ended.states.completed).toBe(1);
      const all = JSON.stringify(store.db.connection.prepare(`SELECT content FROM messages WHERE role = 'tool'`).all());
      expect(all).toContain('a [secret] b');
      expect(JSON.stringify(fake.requests)).not.toContain(key);
    },
    { redact: (text) => text.replaceAll('planted-key-0123456789', '[secret]') },
  ));
