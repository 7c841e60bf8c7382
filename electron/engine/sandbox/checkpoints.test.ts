import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, readlinkSync, realpathSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sqlFor } from '../store/database.ts';
import { openStore } from '../store/store.ts';
import type { Store } from '../store/store.ts';
import { READER, RESOURCES } from '../trajectories/testing.ts';
import { Checkpoints } from './checkpoints.ts';

let dir: string;
let work: string;
let store: Store;
let checkpoints: Checkpoints;
let clock: number;
let errors: string[];
const { signal } = new AbortController();

beforeEach(() => {
  dir = mkdtempSync(join(realpathSync(tmpdir()), 'checkpoints-test-'));
  work = join(dir, 'work');
  mkdirSync(work);
  mkdirSync(join(dir, 'home'));
  store = openStore(join(dir, 'home'), { resources: RESOURCES, reader: READER });
  clock = 1_000;
  errors = [];
  checkpoints = open();
  addSession('s');
});
afterEach(async () => {
  await store.close();
  rmSync(dir, { recursive: true, force: true });
});

function open(): Checkpoints {
  return new Checkpoints({ db: store.db, folder: join(dir, 'home', 'checkpoints'), now: () => clock++, log: { info: () => undefined, error: (message) => void errors.push(message) } });
}
function addSession(id: string): void {
  store.db.run(sqlFor.insertInto('sessions').values({ id, provider: 'p', model: 'm', workspace: work, max_turns: 9, created_at: 1, updated_at: 1 }));
}
function put(path: string, content: string | Buffer, mode?: number): void {
  mkdirSync(dirname(join(work, path)), { recursive: true });
  writeFileSync(join(work, path), content);
  if (mode !== undefined) chmodSync(join(work, path), mode);
}
const text = (path: string): string => readFileSync(join(work, path), 'utf8');
const take = (sessionId = 's', reason = 'terminal make') => checkpoints.take({ sessionId, workspace: work, reason, signal });
async function taken(sessionId?: string): Promise<string> {
  const one = await take(sessionId);
  if (!one) throw new Error('nothing was taken');
  return one.id;
}
/** Everything below the workspace: paths with kind, permissions and content. */
function picture(folder = work): Record<string, string> {
  const out: Record<string, string> = {};
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const facts = lstatSync(path);
    const key = path.slice(work.length + 1);
    if (facts.isDirectory()) Object.assign(out, picture(path));
    else out[key] = facts.isSymbolicLink() ? `-> ${readlinkSync(path)}` : `${(facts.mode & 0o777).toString(8)} ${readFileSync(path).toString('latin1')}`;
  }
  return out;
}

it('says what is missing when there is no git, and nothing when there is', async () => {
  expect(await checkpoints.available()).toBeNull();
  const path = process.env['PATH'];
  process.env['PATH'] = join(dir, 'nowhere');
  try {
    expect(await checkpoints.available()).toMatch(/git was not found\. Install it/);
  } finally {
    process.env['PATH'] = path;
  }
});

describe('going back', () => {
  it('restores changed, deleted and new files with odd names, modes, links and bytes; and can be undone', async () => {
    put('a b\nc "é" 文.txt', 'one\r\ntwo');
    put('b\\c', 'backslash');
    put('-rf', 'dash');
    put('run.sh', '#!/bin/sh\n', 0o755);
    put('secret.env', 'KEY=1', 0o600);
    put('deep/er/file', 'deep');
    put('bin', Buffer.from([0, 255, 10, 13, 0]));
    put('becomes-folder', 'x');
    put('becomes-link', 'x');
    put('.gitattributes', '* text=auto eol=crlf\n*.txt working-tree-encoding=UTF-16 ident filter=lfs\n');
    put('.gitignore', '*.env\nlater.txt\n');
    symlinkSync('/etc/hostname', join(work, 'link'));
    symlinkSync('nowhere', join(work, 'dangling'));
    const before = picture();
    const id = await taken();

    put('a b\nc "é" 文.txt', 'changed');
    rmSync(join(work, 'b\\c'));
    rmSync(join(work, 'secret.env'));
    chmodSync(join(work, 'run.sh'), 0o644);
    rmSync(join(work, 'deep'), { recursive: true });
    put('bin', Buffer.from([1, 0, 2]));
    rmSync(join(work, 'becomes-folder'));
    put('becomes-folder/inside/x', 'y');
    rmSync(join(work, 'becomes-link'));
    symlinkSync(dir, join(work, 'becomes-link'));
    rmSync(join(work, 'link'));
    put('link', 'now a file');
    put('later.txt', 'ignored by the person, but the agent made it');
    put('new/folder/file', 'z');
    const after = picture();

    const { undoId, files } = await checkpoints.rollback('s', id);
    expect(picture()).toEqual(before);
    expect(existsSync(join(work, 'new'))).toBe(false);
    expect(files).toBe(12);
    await checkpoints.rollback('s', undoId);
    expect(picture()).toEqual(after);
  });

  it('leaves alone what is not kept: git folders, dependencies, caches, large files, also where a kept file would go', async () => {
    put('app/package.json', '{}');
    put('app/x', 'folder then');
    put('notes/x/y', 'kept');
    const id = await taken();
    put('.git/config', 'mine');
    put('nested/.git/HEAD', 'ref');
    put('nested/code', 'new');
    put('app/node_modules/m/index.js', 'dep');
    put('app/dist/out.js', 'built');
    put('env/pyvenv.cfg', '');
    put('env/lib/x.py', 'lib');
    put('big', '');
    truncateSync(join(work, 'big'), 11 * 1024 * 1024);
    rmSync(join(work, 'notes'), { recursive: true });
    put('notes', '');
    truncateSync(join(work, 'notes'), 11 * 1024 * 1024);
    await checkpoints.rollback('s', id);
    for (const path of ['.git/config', 'nested/.git/HEAD', 'app/node_modules/m/index.js', 'app/dist/out.js', 'env/lib/x.py']) expect(existsSync(join(work, path))).toBe(true);
    expect(existsSync(join(work, 'nested/code'))).toBe(false);
    expect(statSync(join(work, 'big')).size).toBe(11 * 1024 * 1024);
    expect(statSync(join(work, 'notes')).size).toBe(11 * 1024 * 1024);
  });

  it('keeps the files of repositories inside the workspace (git itself would keep only their commit)', async () => {
    mkdirSync(join(work, 'cloned'));
    execFileSync('git', ['init', '-q', join(work, 'cloned')]);
    put('cloned/main.py', 'print(1)');
    const id = await taken();
    put('cloned/main.py', 'broken');
    await checkpoints.rollback('s', id);
    expect(text('cloned/main.py')).toBe('print(1)');
    expect(existsSync(join(work, 'cloned/.git/HEAD'))).toBe(true);
  });

  it('never writes or deletes through a link that leads out of the workspace', async () => {
    put('d/x', 'inside');
    const id = await taken();
    mkdirSync(join(dir, 'outside'));
    writeFileSync(join(dir, 'outside', 'x'), 'outside');
    rmSync(join(work, 'd'), { recursive: true });
    symlinkSync(join(dir, 'outside'), join(work, 'd'));
    const { undoId } = await checkpoints.rollback('s', id);
    expect(text('d/x')).toBe('inside');
    await checkpoints.rollback('s', undoId);
    expect(readlinkSync(join(work, 'd'))).toBe(join(dir, 'outside'));
    expect(readFileSync(join(dir, 'outside', 'x'), 'utf8')).toBe('outside');
  });

  it("does not touch the person's repository and runs none of its hooks", async () => {
    execFileSync('git', ['init', '-q', work]);
    put('f', '1');
    const hook = `#!/bin/sh\ntouch ${join(dir, 'hooked')}\n`;
    for (const name of ['pre-commit', 'post-checkout', 'post-index-change', 'reference-transaction']) put(`.git/hooks/${name}`, hook, 0o755);
    const before = picture(join(work, '.git'));
    const id = await taken();
    put('f', '2');
    await checkpoints.rollback('s', id);
    expect(text('f')).toBe('1');
    expect(picture(join(work, '.git'))).toEqual(before);
    expect(existsSync(join(dir, 'hooked'))).toBe(false);
  });
});

describe('taking', () => {
  it('makes none when nothing changed, per session; an empty workspace is a state too', async () => {
    addSession('t');
    expect(await take()).toMatchObject({ reason: 'terminal make', createdAt: 1000 });
    expect(await take()).toBeNull();
    expect(await take('t')).not.toBeNull();
    put('f', 'x');
    expect(await take()).not.toBeNull();
    expect([checkpoints.count('s'), checkpoints.count('t')]).toEqual([2, 1]);
  });

  it('notices a change that keeps size and time of a file', async () => {
    put('f', 'aaaa');
    const id = await taken();
    put('f', 'bbbb');
    expect(await take()).not.toBeNull();
    await checkpoints.rollback('s', id);
    expect(text('f')).toBe('aaaa');
  });

  it('keeps 50 of a workspace and gives back the room of older ones', async () => {
    for (let i = 0; i < 73; i++) {
      put('f', `${i}`);
      await take();
    }
    const rows = await checkpoints.list('s');
    expect(rows).toHaveLength(50);
    expect(rows[0]).toMatchObject({ createdAt: 1072, files: 0 });
    expect(rows[1]).toMatchObject({ files: 1 });
    const [gitDir = ''] = readdirSync(join(dir, 'home', 'checkpoints'));
    const refs = execFileSync('git', ['--git-dir', join(dir, 'home', 'checkpoints', gitDir), 'for-each-ref'], { encoding: 'utf8' }).trim().split('\n');
    expect(refs).toHaveLength(50);
    await checkpoints.rollback('s', rows.at(-1)?.id ?? '');
    expect(text('f')).toBe('23');
    expect(errors).toEqual([]);
  });

  it('says so when there are too many files, and when the workspace is gone', async () => {
    for (let i = 0; i < 51; i++) {
      mkdirSync(join(work, `d${i}`));
      for (let j = 0; j < 1000; j++) symlinkSync('x', join(work, `d${i}`, `${j}`));
    }
    await expect(take()).rejects.toMatchObject({ code: 'too_large', message: expect.stringContaining('50,000') });
    rmSync(work, { recursive: true });
    await expect(take()).rejects.toMatchObject({ code: 'unavailable', message: expect.stringContaining('is not there') });
  });

  it('stops when the run is interrupted, and the next one works', async () => {
    put('f', 'x');
    const stop = new AbortController();
    const one = checkpoints.take({ sessionId: 's', workspace: work, reason: 'r', signal: stop.signal });
    stop.abort(new Error('interrupted'));
    await expect(one).rejects.toThrow('interrupted');
    expect(await take()).not.toBeNull();
  });

  it('goes on after a kill left a lock, and after objects were lost', async () => {
    put('f', 'x');
    await take();
    const [gitDir = ''] = readdirSync(join(dir, 'home', 'checkpoints'));
    const repository = join(dir, 'home', 'checkpoints', gitDir);
    writeFileSync(join(repository, 'index.lock'), '');
    for (const name of readdirSync(join(repository, 'objects'))) rmSync(join(repository, 'objects', name), { recursive: true });
    checkpoints = open();
    expect(await take()).not.toBeNull();
  });

  it('passes over what cannot be read and what is no file', async () => {
    execFileSync('mkfifo', [join(work, 'pipe')]);
    put('locked', 'x', 0o000);
    put('f', '1');
    const id = await taken();
    put('f', '2');
    await checkpoints.rollback('s', id);
    expect(text('f')).toBe('1');
    expect(lstatSync(join(work, 'pipe')).isFIFO()).toBe(true);
  });
});

describe('the diff', () => {
  it('goes from now to then, names binary files, and lists every file', async () => {
    put('t é.txt', 'old\n');
    put('bin', Buffer.from([0, 1]));
    put('gone', 'was here\n');
    const id = await taken();
    put('t é.txt', 'new\n');
    put('bin', Buffer.from([0, 2]));
    rmSync(join(work, 'gone'));
    put('later', 'x\n');
    const { diff, files, truncated } = await checkpoints.diff('s', id, signal);
    expect(files).toEqual([{ path: 'bin', change: 'changed' }, { path: 'gone', change: 'added' }, { path: 'later', change: 'removed' }, { path: 't é.txt', change: 'changed' }]);
    expect(diff).toContain('-new\n+old\n');
    expect(diff).toContain('b/t é.txt');
    expect(diff).toContain('Binary files a/bin and b/bin differ');
    expect(truncated).toBe(false);
    expect(await checkpoints.list('s')).toMatchObject([{ files: 4 }]);
  });

  it('is cut at 1 MB, at a whole line', async () => {
    const id = await taken();
    put('long', `${'é'.repeat(60)}\n`.repeat(20_000));
    const { diff, truncated } = await checkpoints.diff('s', id, signal);
    expect(truncated).toBe(true);
    expect(Buffer.byteLength(diff)).toBeLessThanOrEqual(1024 * 1024);
    expect(diff.endsWith(`${'é'.repeat(60)}\n`)).toBe(true);
  });
});

describe('ownership', () => {
  it("does not show or go back to another session's checkpoint", async () => {
    addSession('t');
    const id = await taken();
    await expect(checkpoints.diff('t', id, signal)).rejects.toMatchObject({ code: 'not_found' });
    await expect(checkpoints.rollback('t', id)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('forgets a session, keeps the other, and removes the repository with the last one', async () => {
    addSession('t');
    put('f', '1');
    await take();
    const other = await taken('t');
    await checkpoints.removeSession('s');
    expect([checkpoints.count('s'), checkpoints.count('t')]).toEqual([0, 1]);
    put('f', '2');
    await checkpoints.rollback('t', other);
    expect(text('f')).toBe('1');
    await checkpoints.removeSession('t');
    expect(readdirSync(join(dir, 'home', 'checkpoints'))).toEqual([]);
    expect(await take()).not.toBeNull();
  });
});
