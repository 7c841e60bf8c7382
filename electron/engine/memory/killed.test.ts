import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import { openMemoryOf, startMemoryChild } from '../../../e2e/fixtures/memory-child.ts';
import { splitEntries } from './text.ts';

const KILLS = Number(process.env.TALARIA_KILLS ?? 4);

const home = mkdtempSync(join(tmpdir(), 'memory-killed-'));
afterAll(() => rmSync(home, { recursive: true, force: true }));

test('killed while it writes: the file is whole, what was reported is there, and the history says what the file says', { timeout: 120_000 }, async () => {
  // Bug: half a file, a change that was reported and lost, or a history of changes that never came.
  for (let kill = 0; kill < KILLS; kill++) {
    const child = startMemoryChild(home);
    const ended = once(child, 'close');
    let reported = -1;
    const lines = createInterface({ input: child.stdout! });
    await new Promise<void>((resolve) => {
      lines.on('line', (line) => {
        reported = Number(line);
        resolve();
      });
    });
    // anywhere in what comes after the first report
    await sleep((kill * 7) % 23);
    child.kill('SIGKILL');
    await ended;
    const { files, close } = openMemoryOf(home);
    const entries = files.read('memory').entries;
    expect(entries).toHaveLength(1);
    const round = Number(/^round (\d+) (\d)\2{1499}$/.exec(entries[0]!.text)![1]);
    expect(round).toBeGreaterThanOrEqual(reported);
    expect(entries[0]).toMatchObject({ author: 'agent', trajectoryId: 'child' });
    expect(splitEntries(files.history({ limit: 1 }).items[0]!.after)).toEqual([entries[0]!.text]);
    expect(readdirSync(join(home, 'memories'))).toEqual(['MEMORY.md']);
    await close();
  }
});
