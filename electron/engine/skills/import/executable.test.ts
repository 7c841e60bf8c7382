import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { ImportSource } from '#shared/contract/skill-imports.ts';
import { PERSON } from '../testing.ts';
import { type ImportGround, rawZip, skillText, withImports } from './testing.ts';

/** A program without "#!", which only its bit makes one; a plain file; and one with all bits that there are. */
const FILES = { 'tidy/SKILL.md': skillText('tidy'), 'tidy/scripts/run': 'echo 1\n', 'tidy/scripts/plain.py': 'print(1)\n', 'tidy/scripts/root': 'echo 2\n' };
const MODES: Partial<Record<string, number>> = { 'tidy/scripts/run': 0o755, 'tidy/scripts/root': 0o6711, 'tidy/SKILL.md': 0o755 };
const WANTED = { 'SKILL.md': 0, 'scripts/plain.py': 0, 'scripts/root': 0o100, 'scripts/run': 0o100 };

function folder(ground: ImportGround): string {
  const root = ground.files('source', FILES);
  for (const [path, mode] of Object.entries(MODES)) chmodSync(join(root, path), mode!);
  return root;
}

const SOURCES: Record<string, (ground: ImportGround) => ImportSource> = {
  folder: (ground) => ({ kind: 'folder', path: folder(ground) }),
  zip: (ground) => {
    const path = join(ground.dir, 'tidy.zip');
    writeFileSync(path, rawZip(Object.entries(FILES).map(([name, content]) => ({ name, content, mode: 0o100000 | (MODES[name] ?? 0o644) }))));
    return { kind: 'zip', path };
  },
  git: (ground) => {
    const root = folder(ground);
    const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.org', ...args], { cwd: root, stdio: 'ignore' });
    git('init', '--quiet', '-b', 'main');
    git('add', '-A');
    git('commit', '--quiet', '-m', 'one');
    return { kind: 'git', url: pathToFileURL(root).href, ref: '', folder: '' };
  },
};

/** The owner's bit for running of each file, and whatever there is of setuid, setgid and sticky. */
function bits({ home }: ImportGround, skill = 'tidy'): Record<string, number> {
  return Object.fromEntries(Object.keys(WANTED).map((path) => [path, statSync(join(home.skills, skill, path)).mode & 0o7100]));
}

async function imported(ground: ImportGround, source: ImportSource): Promise<number> {
  const [done] = await ground.apply(await ground.scan(source), [{ key: 'tidy', action: 'add' }]);
  expect(done?.error).toBeNull();
  return done!.versionId!;
}

describe.skipIf(process.platform === 'win32')('what can be run', () => {
  // Bug: scripts of an imported skill cannot be run; or a file comes with rights that nobody gave it.
  it.each(Object.keys(SOURCES))('comes along from a %s, for the owner, and nothing beyond', async (kind) => {
    await withImports(async (ground) => {
      const report = await ground.scan(SOURCES[kind]!(ground));
      // until a person has let it in nothing can be run
      const waiting = readdirSync(join(ground.home.root, 'quarantine'), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      expect(waiting).toHaveLength(4);
      for (const { parentPath, name } of waiting) expect(statSync(join(parentPath, name)).mode & 0o7111).toBe(0);
      const [done] = await ground.apply(report, [{ key: 'tidy', action: 'add' }]);
      expect(done).toMatchObject({ outcome: 'added', error: null });
      expect(bits(ground)).toEqual(WANTED);
    });
  });

  // Bug: a version, the trash or an undo brings the text of a script back, and it can no longer be run.
  it('comes back with a removed file, from the trash, without the trash, and with an older version', async () => {
    await withImports(async (ground) => {
      const { library, home } = ground;
      const first = await imported(ground, SOURCES['folder']!(ground));
      const removed = await library.change({ action: 'remove_file', name: 'tidy', filePath: 'scripts/run' }, PERSON);
      await library.revert(removed.versionId, PERSON);
      expect(bits(ground)).toEqual(WANTED);
      const deleted = await library.change({ action: 'delete', name: 'tidy' }, PERSON);
      await library.restore(deleted.versionId, PERSON);
      expect(bits(ground)).toEqual(WANTED);
      const again = await library.change({ action: 'delete', name: 'tidy' }, PERSON);
      rmSync(join(home.skills, '.trash'), { recursive: true });
      await library.restore(again.versionId, PERSON);
      expect(bits(ground)).toEqual(WANTED);
      // as another program would: only the bit differs then
      chmodSync(join(home.skills, 'tidy/scripts/run'), 0o644);
      chmodSync(join(home.skills, 'tidy/scripts/plain.py'), 0o755);
      await library.restore(first, PERSON);
      expect(bits(ground)).toEqual(WANTED);
    });
  });

  // Bug: an edit of a script takes its bit away; a new script of an agent cannot be run.
  it('stays with an edit, and a new script has it', async () => {
    await withImports(async (ground) => {
      await imported(ground, SOURCES['folder']!(ground));
      await ground.library.change({ action: 'write_file', name: 'tidy', filePath: 'scripts/run', fileContent: 'echo 3\n' }, PERSON);
      const made = await ground.library.change({ action: 'write_file', name: 'tidy', filePath: 'scripts/new.sh', fileContent: '#!/bin/sh\n' }, PERSON);
      expect(bits(ground)).toEqual(WANTED);
      const path = join(ground.home.skills, 'tidy/scripts/new.sh');
      expect(statSync(path).mode & 0o100).toBe(0o100);
      rmSync(path);
      await ground.library.list();
      await ground.library.restore(made.versionId, PERSON);
      expect(statSync(path).mode & 0o100).toBe(0o100);
    });
  });

  // Bug: the newer state of an imported skill makes nothing of it executable, or takes the person's own bit away.
  it('comes with a replacement, and undoing that takes it back', async () => {
    await withImports(async (ground) => {
      const root = ground.files('source', FILES);
      await imported(ground, { kind: 'folder', path: root });
      expect(bits(ground)).toMatchObject({ 'scripts/run': 0 });
      chmodSync(join(ground.home.skills, 'tidy/scripts/plain.py'), 0o755);
      chmodSync(join(root, 'tidy/scripts/run'), 0o755);
      writeFileSync(join(root, 'tidy/scripts/plain.py'), 'print(2)\n');
      const [done] = await ground.apply(await ground.scan({ kind: 'folder', path: root }), [{ key: 'tidy', action: 'replace' }]);
      expect(bits(ground)).toEqual({ ...WANTED, 'scripts/root': 0, 'scripts/plain.py': 0o100 });
      await ground.service.undo([done!.versionId!]);
      expect(bits(ground)).toEqual({ ...WANTED, 'scripts/root': 0, 'scripts/run': 0, 'scripts/plain.py': 0o100 });
    });
  });

  // Bug: a zip of one's own skills has no bits, or differs from one time to the next for them.
  it('goes out with a zip file and comes in from it', async () => {
    await withImports(async (ground) => {
      await imported(ground, SOURCES['folder']!(ground));
      const { file } = await ground.service.export({ ids: ['own/tidy'] });
      await ground.library.change({ action: 'delete', name: 'tidy' }, PERSON);
      const report = await ground.scan({ kind: 'zip', path: file });
      await ground.apply(report);
      expect(bits(ground)).toEqual(WANTED);
    });
  });
});
