import { spawn } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import kill from 'tree-kill';
import { SkillImportError } from './errors.ts';
import { GIT_TIMEOUT_MS } from './limits.ts';

/** git, without anything of the person's that could run or write: no hooks, filters, helpers, templates or submodules. */
const SAFE = [
  '-c', `core.hooksPath=${devNull}`, '-c', 'core.fsmonitor=false', '-c', `core.attributesFile=${devNull}`, '-c', 'core.autocrlf=false', '-c', 'submodule.recurse=false',
  '-c', 'protocol.allow=never', '-c', 'protocol.https.allow=always', '-c', 'protocol.ssh.allow=always', '-c', 'protocol.file.allow=always', '-c', 'credential.interactive=false', '-c', 'gc.auto=0',
  '-c', 'transfer.fsckObjects=true', '-c', 'filter.lfs.smudge=', '-c', 'filter.lfs.process=', '-c', 'filter.lfs.required=false',
];
const SCP = /^(?:[A-Za-z0-9._-]+@)?[A-Za-z0-9][A-Za-z0-9.-]*:(?!\/\/)[A-Za-z0-9._~/-]+$/;
const REF = /^[A-Za-z0-9][A-Za-z0-9._/+@-]*$/;
const COMMIT = /^[0-9a-f]{7,64}$/i;
/** Of what git says on its way. */
const MAX_SAID = 20_000;

export interface GitPlace {
  url: string;
  ref: string;
}

/**
 * An address that git may be given, or the reason why not: https, ssh and file only. A user name or key in it would end up in reports.
 * @throws SkillImportError `invalid`
 */
export function checkGitPlace({ url, ref }: GitPlace): void {
  const bad = (field: string, message: string): never => {
    throw new SkillImportError('invalid', message, { field });
  };
  const text = url.trim();
  if (text.startsWith('-') || /[\u0000-\u0020\u007f]/.test(text)) bad('url', 'This is no address of a git repository. Give one such as https://github.com/owner/repository.');
  if (!SCP.test(text)) {
    const parsed = URL.canParse(text) ? new URL(text) : null;
    if (parsed === null || !['https:', 'ssh:', 'file:'].includes(parsed.protocol)) bad('url', 'Only addresses that begin with https://, ssh:// or file:// can be imported, or ones such as git@host:owner/repository. Give one such as https://github.com/owner/repository.');
    else if (parsed.password !== '' || (parsed.protocol === 'https:' && parsed.username !== '')) bad('url', 'The address has a user name or password in it. Leave it out: for private repositories, use an ssh address, or clone the repository yourself and import the folder.');
    else if (parsed.protocol === 'file:' && parsed.host !== '') bad('url', 'A file address names a folder of this machine, as file:///home/me/skills.');
  }
  if (ref !== '' && (!REF.test(ref) || ref.includes('..') || ref.endsWith('.lock') || ref.endsWith('/'))) bad('ref', `"${ref.slice(0, 60)}" is no name of a branch, a tag or a commit.`);
}

/** Whether git is there. */
export async function hasGit(): Promise<boolean> {
  return run(['--version'], { cwd: '.', timeoutMs: 10_000 }).then(() => true, () => false);
}

/**
 * Fetches one commit, without history, into `folder`, which must not exist, and lays its files there. Answers with the commit's id.
 * @param say what git tells of its progress, a line at a time
 * @throws SkillImportError with what to do, or the signal's reason
 */
export async function fetchGit(place: GitPlace, folder: string, say: (text: string) => void, signal?: AbortSignal, timeoutMs = GIT_TIMEOUT_MS): Promise<string> {
  checkGitPlace(place);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const options = { cwd: folder, timeoutMs, signal, say };
  await run(['init', '--quiet', '--template=', '.'], options);
  const url = place.url.trim();
  const ref = place.ref || 'HEAD';
  try {
    await run(['fetch', '--progress', '--depth=1', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head', '--update-shallow', '--end-of-options', url, `+${ref}:refs/talaria/import`], options);
  } catch (error) {
    // servers give single commits by their whole id only, and some not at all
    if (!(error instanceof GitFailure) || !COMMIT.test(ref)) throw asked(error, place);
    await wholeHistory(url, ref, options).catch((again: unknown) => {
      throw asked(again, place);
    });
  }
  const commit = (await run(['rev-parse', '--verify', 'refs/talaria/import^{commit}'], options)).trim();
  await run(['checkout', '--quiet', '--detach', '--force', commit], options).catch((error: unknown) => {
    throw asked(error, place);
  });
  return commit;
}

async function wholeHistory(url: string, ref: string, options: RunOptions): Promise<void> {
  await run(['fetch', '--progress', '--no-tags', '--no-recurse-submodules', '--no-write-fetch-head', '--end-of-options', url, '+refs/heads/*:refs/talaria/all/*'], options);
  const commit = (await run(['rev-parse', '--verify', '--end-of-options', `${ref}^{commit}`], options)).trim();
  await run(['update-ref', 'refs/talaria/import', commit], options);
}

class GitFailure extends Error {
  override name = 'GitFailure';
}

interface RunOptions {
  cwd: string;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  say?: ((text: string) => void) | undefined;
}

function run(args: readonly string[], { cwd, timeoutMs, signal, say }: RunOptions): Promise<string> {
  return new Promise((done, failed) => {
    if (signal?.aborted) return failed(signal.reason as Error);
    const child = spawn('git', [...SAFE, ...args], { cwd, env: gitEnvironment(cwd), stdio: ['ignore', 'pipe', 'pipe'], windowsHide: true });
    let out = '';
    let err = '';
    let late = false;
    const stop = (): void => {
      if (child.pid !== undefined) kill(child.pid, 'SIGKILL');
    };
    const timer = setTimeout(() => {
      late = true;
      stop();
    }, timeoutMs);
    signal?.addEventListener('abort', stop, { once: true });
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out = (out + text).slice(0, MAX_SAID)));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err = (err + text).slice(-MAX_SAID);
      const line = text.split(/[\r\n]/).findLast((part) => part.trim() !== '');
      if (line !== undefined) say?.(line.trim().slice(0, 200));
    });
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    };
    child.once('error', (error: NodeJS.ErrnoException) => {
      end();
      failed(error.code === 'ENOENT' ? new SkillImportError('unavailable', 'git was not found on this machine. Install it (for example: sudo apt install git), or download the repository as a zip file and import that.') : error);
    });
    child.once('close', (code) => {
      end();
      if (signal?.aborted) failed(signal.reason as Error);
      else if (late) failed(new SkillImportError('unavailable', `The repository did not come within ${Math.round(timeoutMs / 1000)} seconds. Try again, or clone it yourself and import the folder.`));
      else if (code === 0) done(out);
      else failed(new GitFailure(err.trim()));
    });
  });
}

/** Nothing of the person's but the way to their ssh keys: no prompts, no configuration, no other repository. */
function gitEnvironment(cwd: string): NodeJS.ProcessEnv {
  const { PATH, Path, HOME, USERPROFILE, SSH_AUTH_SOCK, SystemRoot, TEMP, TMP, TMPDIR, HTTPS_PROXY, https_proxy, NO_PROXY, no_proxy, SSL_CERT_FILE, SSL_CERT_DIR } = process.env;
  const kept = { PATH, Path, HOME, USERPROFILE, SSH_AUTH_SOCK, SystemRoot, TEMP, TMP, TMPDIR, HTTPS_PROXY, https_proxy, NO_PROXY, no_proxy, SSL_CERT_FILE, SSL_CERT_DIR };
  return {
    ...Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined)),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: devNull,
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: '',
    SSH_ASKPASS: '',
    GIT_LFS_SKIP_SMUDGE: '1',
    GIT_CEILING_DIRECTORIES: join(cwd, '..'),
    GIT_SSH_COMMAND: 'ssh -o BatchMode=yes -o ConnectTimeout=20 -o PermitLocalCommand=no -o ForwardAgent=no',
  };
}

/** What git said, as what to do about it. */
function asked(error: unknown, { url, ref }: GitPlace): unknown {
  if (!(error instanceof GitFailure)) return error;
  const said = error.message;
  const last = said.split('\n').filter((line) => /^(?:fatal|error|remote):/i.test(line.trim())).at(-1)?.trim() ?? said.split('\n').at(-1) ?? '';
  const of = (code: SkillImportError['code'], message: string, field: string): SkillImportError => new SkillImportError(code, message, { field, cause: error });
  if (/couldn't find remote ref|unknown revision|needed a single revision|not our ref|ambiguous argument/i.test(said)) {
    return of('not_found', ref === '' ? 'The repository has no commits.' : `The repository has no branch, tag or commit "${ref}". Correct it, or leave it empty for the newest state.`, 'ref');
  }
  if (/host key verification failed/i.test(said)) return of('unavailable', `This machine does not know the server of ${url}. Connect to it once with ssh in a terminal, then try again.`, 'url');
  if (/permission denied \(|could not read username|authentication failed|terminal prompts disabled|invalid username/i.test(said)) {
    return of('unavailable', 'The repository does not exist or is not public. Check the address; for a private one, use an ssh address with a key that needs no passphrase here, or clone it yourself and import the folder.', 'url');
  }
  if (/not found|does not exist|does not appear to be a git repository|not a git repository/i.test(said)) return of('not_found', `There is no git repository at ${url}. Check the address.`, 'url');
  if (/could not resolve host|failed to connect|connection (?:refused|timed out|reset)|network is unreachable|ssl|certificate/i.test(said)) return of('unavailable', `The server of ${url} cannot be reached (${last.slice(0, 200)}). Check the connection, then try again.`, 'url');
  if (/no space left/i.test(said)) return of('unavailable', 'There is no space left on the disk for the repository. Free some space, then try again.', 'url');
  return of('unavailable', `The repository could not be fetched: ${last.slice(0, 300)}`, 'url');
}
