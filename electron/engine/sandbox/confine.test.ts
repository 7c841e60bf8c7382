import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { confinePath, isInside } from './confine.ts';

let folder: string;
let root: string;

beforeAll(async () => {
  folder = await mkdtemp(join(await realpath(tmpdir()), 'confine-test-'));
  root = join(folder, 'work');
  await mkdir(join(root, 'a', 'b'), { recursive: true });
  await mkdir(join(folder, 'work-sibling'));
  await writeFile(join(root, 'a', 'file.txt'), 'x');
  await writeFile(join(folder, 'secret.txt'), 'x');
  await symlink(folder, join(root, 'up'));
  await symlink('../../secret.txt', join(root, 'a', 'leak'));
  await symlink(join(folder, 'not-there', 'new.txt'), join(root, 'dangling'));
  await symlink('later/new.txt', join(root, 'dangling-inside'));
  await symlink('loop', join(root, 'loop'));
  await symlink('a', join(root, 'alias'));
  await symlink(root, join(folder, 'root-link'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('confinePath', () => {
  it.each([
    ['.', ''],
    ['a/file.txt', 'a/file.txt'],
    ['./a//b/../file.txt', 'a/file.txt'],
    ['new/deep/file', 'new/deep/file'],
    ['alias/new.txt', 'a/new.txt'],
    ['~', ''],
    ['~/notes.md', 'notes.md'],
    ['dangling-inside', 'later/new.txt'],
    ['..name', '..name'],
    ['a/~', 'a/~'],
    ['a/file.txt/below', 'a/file.txt/below'],
  ])('takes %s', async (path, expected) => expect(await confinePath(root, path)).toBe(join(root, expected)));

  it('takes absolute paths inside, also through a link to the root', async () => {
    expect(await confinePath(root, join(root, 'a', 'new'))).toBe(join(root, 'a', 'new'));
    expect(await confinePath(root, join(folder, 'root-link', 'a', 'new'))).toBe(join(root, 'a', 'new'));
  });

  it.each(['..', '../secret.txt', 'a/../../secret.txt', '/etc/passwd', 'up', 'up/secret.txt', 'up/new.txt', 'a/leak', 'dangling', 'alias/../../secret.txt', '~root/x', '../work-sibling', '../work-sibling/x'])(
    'refuses %s and says where to go instead',
    async (path) => {
      await expect(confinePath(root, path)).rejects.toMatchObject({ code: 'outside_workspace', message: expect.stringMatching(/outside the workspace\. \w+/) });
    },
  );

  it.each(['', '  ', 'a\0b', 'loop', 'loop/x', 'x'.repeat(5_000)])('answers for what is no path: %j', async (path) => {
    await expect(confinePath(root, path)).rejects.toMatchObject({ name: 'SandboxError', code: 'not_found' });
  });

  it('never answers with a path outside, whatever is put together', async () => {
    const part = fc.constantFrom('..', '.', '', 'a', 'b', 'up', 'leak', 'dangling', 'dangling-inside', 'alias', 'loop', '~', 'new', 'file.txt', 'work', 'work-sibling', 'secret.txt', 'root-link');
    const start = fc.constantFrom('', '/', '~/', `${'../'.repeat(30)}`, 'ROOT/', 'FOLDER/');
    await fc.assert(
      fc.asyncProperty(start, fc.array(part, { minLength: 1, maxLength: 7 }), async (prefix, parts) => {
        const path = (prefix + parts.join('/')).replace(/^ROOT/, root).replace(/^FOLDER/, folder);
        const answer = await confinePath(root, path).catch((error: unknown) => error);
        if (typeof answer !== 'string') {
          expect(answer).toMatchObject({ name: 'SandboxError' });
          return;
        }
        expect(isInside(root, answer)).toBe(true);
        // What exists is already real: opening the answer goes nowhere else.
        expect(await realpath(answer).catch(() => answer)).toBe(answer);
      }),
      { numRuns: 400 },
    );
  });
});
