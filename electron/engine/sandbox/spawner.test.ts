import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFrameReader, frame } from './spawner-frames.ts';
import { Spawner } from './spawner.ts';
import type { ByteSink, Launch } from './started.ts';

let folder: string;
let spawner: Spawner;

beforeEach(async () => {
  folder = await mkdtemp(join(await realpath(tmpdir()), 'spawner-test-'));
  spawner = new Spawner(() => undefined);
  await expect.poll(() => spawner.ready).toBe(true);
});
afterEach(async () => {
  spawner.end();
  await rm(folder, { recursive: true, force: true });
});

const launch = (script: string, more: Partial<Launch> = {}): Launch => ({ file: '/bin/sh', args: ['-c', script], cwd: folder, env: {}, mark: 'none', ...more });

/** Two sinks: what came on stdout and on stderr. */
function texts(): { said: string[]; sinkOf: () => ByteSink; waitFor: (word: string) => Promise<void> } {
  const said: string[] = [];
  return {
    said,
    sinkOf: () => {
      const at = said.push('') - 1;
      return { write: (bytes) => (said[at] += bytes.toString('latin1')), end: () => undefined };
    },
    waitFor: (word) => expect.poll(() => said.join('')).toContain(word),
  };
}

async function isAlive(pid: number): Promise<boolean> {
  const text = await readFile(`/proc/${pid}/stat`, 'latin1').catch(() => '');
  return text !== '' && !['Z', 'X'].includes(text.slice(text.lastIndexOf(')') + 2)[0] ?? 'X');
}
const expectDead = (pid: number): Promise<void> => expect.poll(() => isAlive(pid)).toBe(false);

// Windows starts programs without it
describe.skipIf(process.platform === 'win32')('the spawner', () => {
  it('gives back both streams, how it ended, and that it leads its own group', async () => {
    // Bug: output that comes together with the news that the command runs is lost.
    const out = texts();
    const started = await spawner.start(launch('printf out; printf err >&2; exit 7'), out.sinkOf);
    expect(await started.ended).toEqual({ code: 7, signal: null });
    await started.closed;
    expect(out.said).toEqual(['out', 'err']);
    const group = texts();
    const leader = await spawner.start(launch('ps -o pgid= -p $$', { env: { PATH: process.env['PATH'] ?? '' } }), group.sinkOf);
    await leader.closed;
    expect(Number(group.said[0])).toBe(leader.pid);
  });

  it('tells death by a signal', async () => {
    const started = await spawner.start(launch('kill -9 $$'), texts().sinkOf);
    expect(await started.ended).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('gives commands nothing but their own environment', async () => {
    // Bug: variables that the spawner itself was started with, or those of the engine, reach commands.
    const out = texts();
    const started = await spawner.start(launch('env', { env: { ONLY: 'this' }, file: '/usr/bin/env', args: [] }), out.sinkOf);
    await started.closed;
    expect(out.said[0]).toBe('ONLY=this\n');
    const own = await readFile(`/proc/${spawner.pid}/environ`, 'latin1').catch(() => '');
    expect(own.split('\0').filter((entry) => entry !== '' && !/^(?:LD_LIBRARY_PATH|DYLD_LIBRARY_PATH|ELECTRON_RUN_AS_NODE)=/.test(entry))).toEqual([]);
  });

  it('says why a program cannot be started, as it is said without a spawner', async () => {
    await expect(spawner.start(launch('', { file: '/no/such/program' }), texts().sinkOf)).rejects.toThrow('The command could not be started (ENOENT).');
    await expect(spawner.start(launch('a\0b'), texts().sinkOf)).rejects.toThrow('contains a NUL character');
    await expect(spawner.start(launch(`: ${'x'.repeat(4_000_000)}`), texts().sinkOf)).rejects.toThrow('too long for the operating system');
  });

  it('passes on a flood whole and in order, beside other commands', async () => {
    // Bug: frames that are cut where the pipe cuts them are put together wrongly.
    const flood = texts();
    const started = await spawner.start(launch('i=0; while [ $i -lt 20000 ]; do echo "line $i of a flood of lines"; i=$((i+1)); done'), flood.sinkOf);
    const small = await Promise.all(Array.from({ length: 8 }, async (_, n) => {
      const out = texts();
      await (await spawner.start(launch(`echo ${n}`), out.sinkOf)).closed;
      return out.said[0];
    }));
    await started.closed;
    expect(small).toEqual(Array.from({ length: 8 }, (_, n) => `${n}\n`));
    expect(flood.said[0]).toBe(Array.from({ length: 20_000 }, (_, i) => `line ${i} of a flood of lines\n`).join(''));
  });

  it('lets a program whose output was given up go on', async () => {
    // Bug: once nobody reads, it blocks in a full pipe or dies of a closed one.
    const out = texts();
    const started = await spawner.start(launch('echo begun; i=0; while [ $i -lt 20000 ]; do echo "nobody reads this line"; i=$((i+1)); done; echo whole > done'), out.sinkOf);
    await out.waitFor('begun');
    started.release();
    await expect.poll(() => readFile(join(folder, 'done'), 'utf8').catch(() => '')).toBe('whole\n');
  });

  it('says so when it is killed itself: nobody waits for ever', async () => {
    // Bug: a command kills all node processes, and the call that waits for its end hangs.
    let ended = 0;
    const other = new Spawner(() => (ended += 1));
    await expect.poll(() => other.ready).toBe(true);
    const started = await other.start(launch('sleep 1000'), texts().sinkOf);
    process.kill(other.pid ?? 0, 'SIGKILL');
    expect(await started.ended).toEqual({ code: null, signal: null });
    expect(started.lost).toBe(true);
    expect(other.ready).toBe(false);
    expect(ended).toBe(1);
    process.kill(-started.pid, 'SIGKILL');
  });

  it('ends what runs when the engine is killed, and itself', async () => {
    // Bug: after kill -9 of the engine its commands, and the spawner, run on.
    const engine = `
      import { Spawner } from ${JSON.stringify(fileURLToPath(new URL('./spawner.ts', import.meta.url)))};
      const spawner = new Spawner(() => {});
      while (!spawner.ready) await new Promise((turn) => setTimeout(turn, 5));
      const { pid } = await spawner.start({ file: '/bin/sh', args: ['-c', 'sleep 1000 & sleep 1000'], cwd: '/', env: {}, mark: 'none' }, () => ({ write() {}, end() {} }));
      console.log(JSON.stringify([spawner.pid, pid]));
    `;
    const child = spawn(process.execPath, ['--input-type=module', '-e', engine], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const [itself, command] = JSON.parse(line.toString()) as [number, number];
    expect([await isAlive(itself), await isAlive(command)]).toEqual([true, true]);
    child.kill('SIGKILL');
    await Promise.all([expectDead(itself), expectDead(command)]);
  });
});

it('puts frames together wherever they are cut', () => {
  const all = Buffer.concat([frame(1, 7, 'first'), frame(2, 4_294_967_295), frame(3, 8, 'é'.repeat(300))]);
  for (const size of [1, 2, 8, 9, 10, 11, 200, all.length]) {
    const seen: [number, number, string][] = [];
    const read = createFrameReader((type, id, body) => seen.push([type, id, body.toString()]));
    for (let at = 0; at < all.length; at += size) read(all.subarray(at, at + size));
    expect(seen).toEqual([[1, 7, 'first'], [2, 4_294_967_295, ''], [3, 8, 'é'.repeat(300)]]);
  }
});
