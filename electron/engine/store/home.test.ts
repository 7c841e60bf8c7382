import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { emptiedStore, ensureHome, HomeError, homeError, resolveHome } from './home.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'talaria-home-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

function failure(work: () => unknown): HomeError {
  try {
    work();
  } catch (error) {
    if (error instanceof HomeError) return error;
    throw error;
  }
  throw new Error('expected a HomeError');
}

describe('resolveHome', () => {
  // Bug: TALARIA_HOME beats an explicit --home, or an empty variable makes the working directory the home.
  it('prefers the option, then the environment, then ~/.talaria', () => {
    const env = { TALARIA_HOME: '/env/home' };
    expect(resolveHome('/option', env, '/u')).toBe(resolve('/option'));
    expect(resolveHome(undefined, env, '/u')).toBe(resolve('/env/home'));
    expect(resolveHome('', { TALARIA_HOME: ' ' }, '/u')).toBe(join('/u', '.talaria'));
  });

  // Bug: `--home=~/x` makes a folder called "~" in the working directory.
  it('expands ~ and makes relative paths absolute', () => {
    expect(resolveHome('~/x', {}, '/u')).toBe(join('/u', 'x'));
    expect(resolveHome('~', {}, '/u')).toBe('/u');
    expect(resolveHome('here', {}, '/u')).toBe(resolve('here'));
  });
});

describe('ensureHome', () => {
  // Bug: other users of the machine can read trajectories.
  it.skipIf(process.platform === 'win32')('makes all folders for the owner only and leaves no test file behind', () => {
    const home = join(folder, 'deep', 'home');
    const paths = ensureHome(home);
    for (const path of [home, paths.runs, paths.data, paths.exports, paths.uploads, paths.logs, paths.workspaces]) {
      expect(statSync(path).mode & 0o777, path).toBe(0o700);
    }
    expect(readdirSync(home).sort()).toEqual(['data', 'exports', 'logs', 'memories', 'runs', 'skills', 'uploads', 'workspaces']);
    ensureHome(home);
  });

  // Bug: pointing --home at a shared folder takes it away from everybody else.
  it.skipIf(process.platform === 'win32')('tightens an empty folder and leaves a used one alone', () => {
    chmodSync(folder, 0o755);
    ensureHome(folder);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const used = join(folder, 'used');
    mkdirSync(used, { mode: 0o755 });
    chmodSync(used, 0o755);
    writeFileSync(join(used, 'x'), '');
    ensureHome(used);
    expect(statSync(used).mode & 0o777).toBe(0o755);
  });

  // Bug: a stack trace with EEXIST instead of a sentence.
  it('says when a file is in the way, as home, above it or as one of its folders', () => {
    const file = join(folder, 'file');
    writeFileSync(file, '');
    expect(failure(() => ensureHome(file))).toMatchObject({ code: 'not_a_folder' });
    expect(failure(() => ensureHome(join(file, 'home'))).code).toBe('not_a_folder');
    writeFileSync(join(folder, 'runs'), '');
    expect(failure(() => ensureHome(folder)).message).toContain(join(folder, 'runs'));
    expect(existsSync(file)).toBe(true);
  });

  // Bug: the first write fails an hour later, in the middle of a run. Root may write everywhere.
  it.skipIf(process.platform === 'win32' || process.getuid?.() === 0)('says when it may not write', () => {
    chmodSync(folder, 0o500);
    expect(failure(() => ensureHome(join(folder, 'home'))).code).toBe('not_writable');
    chmodSync(folder, 0o700);
  });

  // Bug: a full disk is reported as "cannot be used: ENOSPC".
  it('names a full disk and a relative path', () => {
    expect(homeError('/h', Object.assign(new Error('x'), { code: 'ENOSPC' }))).toMatchObject({ code: 'disk_full' });
    expect(failure(() => ensureHome('relative')).code).toBe('unusable');
  });
});

describe('emptiedStore', () => {
  // Bug: a Library that was lost looks like one that never was; or every first start is told of a loss.
  it('tells an emptied store from a new home', () => {
    const paths = ensureHome(folder);
    expect(emptiedStore(paths)).toBeNull();
    writeFileSync(paths.database, '');
    expect(emptiedStore(paths)).toBeNull();
    writeFileSync(paths.config, 'ui: {}\n');
    mkdirSync(join(paths.data, 'run-1'));
    expect(emptiedStore(paths)).toContain('it has config.yaml, data. The Library begins empty');
    writeFileSync(paths.database, 'SQLite');
    expect(emptiedStore(paths)).toBeNull();
  });
});
