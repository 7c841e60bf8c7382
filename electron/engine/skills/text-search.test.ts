import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SkillTextSearch } from './text-search.ts';

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'talaria-skill-texts-'));
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function skill(name: string, text: string): Promise<{ id: string; folder: string }> {
  const folder = join(root, name);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'SKILL.md'), text);
  return { id: `own/${name}`, folder };
}

// Bug: only the first word counts, or words must stand side by side.
test('every word is found, in any order and case', async () => {
  const items = [await skill('a', 'Rebase onto MAIN'), await skill('b', 'main only'), await skill('c', '中文 的说明')];
  const search = new SkillTextSearch({ list: () => Promise.resolve(items) });
  expect(await search.find('main rebase')).toEqual({ ids: ['own/a'] });
  expect(await search.find('MAIN')).toEqual({ ids: ['own/a', 'own/b'] });
  expect(await search.find('的说明')).toEqual({ ids: ['own/c'] });
  expect(await search.find('main (.*)')).toEqual({ ids: [] });
});

// Bug: what was kept in memory answers for a file that has changed since; a skill that is gone breaks the search.
test('a changed file is read again, a missing one is passed over', async () => {
  const items = [await skill('a', 'old words'), { id: 'own/gone', folder: join(root, 'gone') }];
  const search = new SkillTextSearch({ list: () => Promise.resolve(items) });
  expect(await search.find('old')).toEqual({ ids: ['own/a'] });
  await skill('a', 'new words');
  await utimes(join(root, 'a/SKILL.md'), 1, 1);
  expect(await search.find('old')).toEqual({ ids: [] });
  expect(await search.find('new')).toEqual({ ids: ['own/a'] });
});

// Bug: one skill with a file of gigabytes takes the memory of the engine.
test('only the beginning of a very large file is read', async () => {
  const items = [await skill('big', `early ${'x'.repeat(2_000_000)} late`)];
  const search = new SkillTextSearch({ list: () => Promise.resolve(items) });
  expect(await search.find('early')).toEqual({ ids: ['own/big'] });
  expect(await search.find('late')).toEqual({ ids: [] });
});
