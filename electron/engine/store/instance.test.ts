import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { acquireHome, HomeBusyError, readHolder } from './instance.ts';

const MODULE = new URL('./instance.ts', import.meta.url).href;
// Waits for a line, tries, says what came of it, and holds until it is killed or told to go.
const HOLDER = `
import { createInterface } from 'node:readline';
import { acquireHome } from ${JSON.stringify(MODULE)};
let lock;
console.log('ready');
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'release') { lock.release(); console.log('released'); return; }
  try { lock = acquireHome(process.argv[1], { host: 'cli', pid: process.pid }); console.log('held'); }
  catch (error) { console.log('refused ' + error.code + ' ' + (error.holder?.pid ?? '-')); }
});
`;

interface Contender {
  child: ChildProcess;
  ask(line: string): Promise<string>;
  kill(): Promise<void>;
}

let home: string;
let contenders: Contender[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'talaria-instance-'));
  contenders = [];
});
afterEach(async () => {
  await Promise.all(contenders.map((one) => one.kill()));
  rmSync(home, { recursive: true, force: true });
});

async function contender(): Promise<Contender> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', HOLDER, home], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => String((await lines.next()).value);
  const one: Contender = {
    child,
    ask(line) {
      child.stdin.write(`${line}\n`);
      return next();
    },
    async kill() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      child.kill('SIGKILL');
      await gone;
    },
  };
  contenders.push(one);
  expect(await next()).toBe('ready');
  return one;
}

describe('acquireHome', () => {
  // Bug: two writers on one store; or, with an exclusive lock, nobody gets the home because everybody blocks everybody.
  it('gives the home to exactly one of many that start at once, after a release and after kill -9', async () => {
    const all = await Promise.all(Array.from({ length: 6 }, () => contender()));
    for (let round = 0; round < 8; round++) {
      const answers = await Promise.all(all.map((one) => one.ask('go')));
      const winner = answers.indexOf('held');
      expect(answers.filter((answer) => answer === 'held'), answers.join(', ')).toHaveLength(1);
      for (const [index, answer] of answers.entries()) {
        if (index !== winner) expect(answer).toBe(`refused HOME_BUSY ${all[winner]?.child.pid}`);
      }
      expect(readdirSync(home).sort()).toEqual(['instance.json', 'instance.lock']);
      if (round % 2 === 0) expect(await all[winner]?.ask('release')).toBe('released');
      else await all.splice(winner, 1)[0]?.kill();
    }
  }, 30_000);

  // Bug: after a crash the person has to delete a lock file by hand; or a lock is stolen from a living process.
  it('is free at once after kill -9, and not before', async () => {
    const first = await contender();
    expect(await first.ask('go')).toBe('held');
    expect(() => acquireHome(home, { host: 'desktop' })).toThrow(HomeBusyError);
    await first.kill();
    const lock = acquireHome(home, { host: 'desktop' });
    expect(readHolder(home)).toMatchObject({ host: 'desktop', pid: process.pid });
    lock.release();
    expect(existsSync(join(home, 'instance.json'))).toBe(false);
  }, 30_000);

  // Bug: the refusal does not say whom to close, or the note with the control secret can be read by others, or is shown.
  it('says who holds it, keeps the secret to the owner and out of the message', () => {
    const lock = acquireHome(home, { host: 'browser', pid: process.pid, address: 'http://127.0.0.1:4517/' });
    const error = (() => {
      try {
        acquireHome(home, { host: 'cli' });
      } catch (thrown) {
        return thrown as HomeBusyError;
      }
      throw new Error('held twice');
    })();
    expect(error.holder).toEqual(lock.holder);
    expect(error.message).toContain('browser mode');
    expect(error.message).toContain(String(process.pid));
    expect(error.message).toContain('http://127.0.0.1:4517/');
    expect(error.message).not.toContain(lock.holder.controlSecret);
    expect(lock.holder.controlSecret.length).toBeGreaterThanOrEqual(43);
    if (process.platform !== 'win32') expect(statSync(join(home, 'instance.json')).mode & 0o777).toBe(0o600);
    lock.release();
    lock.release();
    acquireHome(home, { host: 'cli' }).release();
  });

  // Bug: a half-written or foreign note makes the next start fail.
  it('does not depend on a readable note', () => {
    writeFileSync(join(home, 'instance.json'), '{"host":');
    expect(readHolder(home)).toBeNull();
    acquireHome(home, { host: 'cli' }).release();
  });

  // Bug: a damaged lock file is taken for "somebody else holds it".
  it('tells a broken lock file from a held one', () => {
    writeFileSync(join(home, 'instance.lock'), 'this is no database, but long enough to look like one. '.repeat(40));
    expect(() => acquireHome(home, { host: 'cli' })).toThrow(/cannot be used/);
  });
});
