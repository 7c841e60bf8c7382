import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { say, think, together } from '../../../e2e/fakes/steps.ts';
import { disagreements, withBatch } from '../../../e2e/fixtures/batch-ground.ts';

const disk = mkdtempSync(join(tmpdir(), 'small-disk-'));
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=32m,nr_inodes=500', 'tmpfs', disk]);
const why = mounted.status === 0 ? '' : ` (not run: no small disk can be mounted here: ${(mounted.stderr?.toString() || mounted.error?.message || '').trim()})`;

afterAll(() => {
  if (why === '') spawnSync('umount', [disk]);
  rmSync(disk, { recursive: true, force: true });
});

// Bug: a disk that fills up in the night tears lines, fails prompts whose answers were paid, or leaves the run showing as running
test.skipIf(why !== '').each([0.1, 0.5])(`a disk that is full in the middle of a run, %s MiB further: it pauses and says why, nothing is torn, and it goes on${why}`, (room) =>
  withBatch(
    async ({ fake, service, spec, dataset, settled, resumed, store, out }) => {
      const random = (n: number) => Array.from({ length: 6_000 }, (_, i) => ((i * 7919 + n * 104_729) % 1_000_003).toString(36)).join(' ').slice(0, 30_000);
      let calls = 0;
      fake.respond(() => together(think('Thinking.'), say(random((calls += 1)))));
      const ballast = join(disk, 'ballast');
      const { bavail, bsize } = statfsSync(disk);
      writeFileSync(ballast, Buffer.alloc(Math.max(0, bavail * bsize - room * 2 ** 20 - 200_000), 1));
      const { id } = await service.start(spec({ datasetFile: dataset(Array.from({ length: 24 }, (_, i) => `p${i}`)), numWorkers: 3 }));
      const paused = await settled(id);
      expect(paused).toMatchObject({ state: 'paused', message: expect.stringMatching(/^There is no space left on the disk that holds .+\. Free some space, then resume the run: nothing is lost\.$/) as string });
      expect(paused.states.failed).toBe(0);
      for (const name of readdirSync(join(out, 'r')).filter((n) => n.endsWith('.jsonl'))) {
        const text = readFileSync(join(out, 'r', name), 'utf8');
        if (text !== '') expect(text.endsWith('\n'), name).toBe(true);
        for (const line of text.split('\n').slice(0, -1)) expect(() => JSON.parse(line) as unknown, name).not.toThrow();
      }
      expect(store.db.connection.pragma('integrity_check', { simple: true })).toBe('ok');
      const done = () => service.prompts({ id, after: -1, limit: 500, states: ['completed'] }).items.length;
      const before = { done: done(), calls };
      rmSync(ballast);
      const ended = await resumed(id);
      expect(ended).toMatchObject({ state: 'completed', message: null, states: { completed: 24 } });
      expect(calls - before.calls).toBe(24 - before.done);
      expect(disagreements(store, ended)).toEqual([]);
    },
    { folder: disk },
  ), 60_000);

// Bug: with no room for workspaces every prompt that was left failed within seconds, and the run was called completed
test.skipIf(why !== '')(`a disk with no room for workspaces pauses the run, and none has failed${why}`, () =>
  withBatch(async ({ fake, service, spec, dataset, settled, resumed, store }) => {
    const { ffree } = statfsSync(disk);
    const full = Array.from({ length: ffree }, (_, i) => join(disk, `ballast-${i}`));
    vi.stubEnv('TMPDIR', disk);
    let calls = 0;
    try {
      fake.respond(() => {
        if ((calls += 1) === 2) for (const path of full) fill(path);
        return together(think('Thinking.'), say('done'));
      });
      const { id } = await service.start(spec({ datasetFile: dataset(Array.from({ length: 24 }, (_, i) => `p${i}`)), numWorkers: 2 }));
      expect(await settled(id)).toMatchObject({ state: 'paused', states: { failed: 0 }, message: 'There is no room on the disk for the workspace. Make room, then resume the run.' });
      expect(calls).toBeLessThan(24);
      for (const path of full) rmSync(path, { force: true });
      const ended = await resumed(id);
      expect(ended).toMatchObject({ state: 'completed', message: null, states: { completed: 24 } });
      expect(disagreements(store, ended)).toEqual([]);
    } finally {
      vi.unstubAllEnvs();
    }
  }), 60_000);

/** One more entry, as long as there is room. */
function fill(path: string): void {
  try {
    writeFileSync(path, '');
  } catch {
    // it is full
  }
}
