import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { checkGitPlace, fetchGit } from './git.ts';
import { type ImportGround, skillText, withImports } from './testing.ts';

function git(cwd: string, ...args: string[]): string {
  return execFileSync('git', ['-c', 'user.name=T', '-c', 'user.email=t@example.org', '-c', 'protocol.file.allow=always', ...args], { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
}

/** A repository with one skill on main, an older state under the tag v1, and another on the branch next. */
function repository({ files }: ImportGround): string {
  const root = files('repo', { 'skills/pdf/SKILL.md': skillText('pdf', 'First.') });
  git(root, 'init', '--quiet', '-b', 'main');
  git(root, 'add', '-A');
  git(root, 'commit', '--quiet', '-m', 'one');
  git(root, 'tag', 'v1');
  writeFileSync(join(root, 'skills/pdf/SKILL.md'), skillText('pdf', 'Second.'));
  git(root, 'commit', '--quiet', '-am', 'two');
  git(root, 'checkout', '--quiet', '-b', 'next');
  mkdirSync(join(root, 'skills/more'), { recursive: true });
  writeFileSync(join(root, 'skills/more/SKILL.md'), skillText('more'));
  git(root, 'add', '-A');
  git(root, 'commit', '--quiet', '-m', 'three');
  git(root, 'checkout', '--quiet', 'main');
  return root;
}

describe('skills from git', () => {
  // Bug: the newest state comes whatever was asked for; a folder of the repository cannot be named; the report does not say which commit it is of.
  it('brings the commit of a branch, a tag or an id, all or one folder of it', async () => {
    await withImports(async (ground) => {
      const root = repository(ground);
      const url = pathToFileURL(root).href;
      const scan = (ref: string, folder = '') => ground.scan({ kind: 'git', url, ref, folder });
      const main = await scan('');
      expect(main.commit).toBe(git(root, 'rev-parse', 'main'));
      expect(main.items.map(({ name, category, suggested }) => [name, category, suggested])).toEqual([['pdf', null, 'add']]);
      const bodyOf = async (report: typeof main) => (await ground.service.diff({ id: report.id, key: 'skills/pdf' })).files[0]?.after;
      expect(await bodyOf(main)).toContain('Second.');
      expect(await bodyOf(await scan('v1'))).toContain('First.');
      expect(await bodyOf(await scan(git(root, 'rev-parse', 'v1')))).toContain('First.');
      expect((await scan('next')).items.map(({ name }) => name)).toEqual(['more', 'pdf']);
      expect((await scan('next', 'skills/more/')).items.map(({ name }) => name)).toEqual(['more']);
    });
  });

  // Bug: a repository runs something on this machine as it is fetched: a hook, a filter, a submodule; or a link in it shows files of this machine.
  it('runs nothing of the repository, and follows no link in it', async () => {
    await withImports(async (ground) => {
      const root = repository(ground);
      const ran = join(ground.dir, 'ran');
      const inner = ground.files('inner', { 'SKILL.md': skillText('inner') });
      git(inner, 'init', '--quiet');
      git(inner, 'add', '-A');
      git(inner, 'commit', '--quiet', '-m', 'x');
      git(root, 'submodule', '--quiet', 'add', pathToFileURL(inner).href, 'skills/inner');
      writeFileSync(join(root, '.gitattributes'), '* filter=evil\n');
      symlinkSync('/etc/passwd', join(root, 'skills/pdf/passwd'));
      git(root, 'add', '-A');
      git(root, 'commit', '--quiet', '-m', 'evil');
      const template = ground.files('person/template', { 'hooks/post-checkout': `#!/bin/sh\ntouch ${ran}\n` });
      chmodSync(join(template, 'hooks/post-checkout'), 0o755);
      ground.files('person', { '.gitconfig': `[init]\n\ttemplateDir = ${template}\n[filter "evil"]\n\tsmudge = "touch ${ran}"\n` });
      const before = process.env['HOME'];
      process.env['HOME'] = join(ground.dir, 'person');
      try {
        const report = await ground.scan({ kind: 'git', url: pathToFileURL(root).href, ref: '', folder: '' });
        expect(existsSync(ran)).toBe(false);
        expect(report.items.map(({ name, verdict, suggested }) => [name, verdict, suggested])).toEqual([['pdf', 'dangerous', 'skip']]);
        expect(report.items[0]!.findings).toContainEqual(expect.objectContaining({ category: 'symlink', file: 'passwd' }));
        expect(JSON.stringify(report)).not.toContain('root:');
      } finally {
        if (before === undefined) delete process.env['HOME'];
        else process.env['HOME'] = before;
      }
    });
  });

  // Bug: an address is taken for an option of git or for a command to be run, a key in it comes into reports, or the sentence does not say what to do.
  it.each([
    ['--upload-pack=touch x', /no address/],
    ['ext::sh -c touch% x', /no address|begin with https/],
    ['ext::sh', /begin with https/],
    ['http://example.org/x', /begin with https/],
    ['https://me:secret@example.org/x', /user name or password/],
    ['https://token@example.org/x', /user name or password/],
    ['file://server/share', /folder of this machine/],
    ['-oProxyCommand=x:y', /no address/],
    ['/home/me/repo', /begin with https/],
  ])('refuses the address %s', (url, says) => {
    expect(() => checkGitPlace({ url, ref: '' })).toThrow(says);
  });

  // Bug: a ref is taken for an option or another refspec.
  it.each(['--all', 'a..b', '+x:y', 'x^{/y}', 'a b'])('refuses the ref %s', (ref) => {
    expect(() => checkGitPlace({ url: 'https://example.org/x', ref })).toThrow(/no name of a branch/);
    expect(() => checkGitPlace({ url: 'git@example.org:me/skills.git', ref: 'main' })).not.toThrow();
  });

  // Bug: people are shown what git says to programmers.
  it('says what to do about a ref or a repository that is not there, and leaves nothing in quarantine', async () => {
    await withImports(async (ground) => {
      const url = pathToFileURL(repository(ground)).href;
      await expect(ground.scan({ kind: 'git', url, ref: 'gone', folder: '' })).rejects.toThrow(/no branch, tag or commit "gone"/);
      await expect(ground.scan({ kind: 'git', url: `${url}x`, ref: '', folder: '' })).rejects.toThrow(/no git repository/);
      await expect(ground.scan({ kind: 'git', url, ref: '', folder: 'nothing' })).rejects.toThrow(/no skill/);
      expect(readdir(ground)).toEqual([]);
    });
  });

  // Bug: a server that never answers is waited for for ever, cancelling waits too, or the git that was started goes on.
  it('gives up after its time, and at once when it is cancelled', async () => {
    await withImports(async (ground) => {
      const server = createServer(() => undefined);
      await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
      // a server that takes the connection and says nothing
      const place = { url: `ssh://127.0.0.1:${(server.address() as AddressInfo).port}/x`, ref: '' };
      try {
        await expect(fetchGit(place, join(ground.dir, 'a'), () => undefined, undefined, 300)).rejects.toThrow(/did not come within|could not be fetched|cannot be reached/);
        const abort = new AbortController();
        const waiting = fetchGit(place, join(ground.dir, 'b'), () => undefined, abort.signal);
        abort.abort(new Error('enough'));
        await expect(waiting).rejects.toThrow('enough');
      } finally {
        server.closeAllConnections();
        await new Promise((done) => server.close(done));
      }
    });
  });
});

function readdir({ home }: ImportGround): string[] {
  const path = join(home.root, 'quarantine');
  return existsSync(path) ? execFileSync('ls', ['-A', path], { encoding: 'utf8' }).split('\n').filter(Boolean) : [];
}

