import { execFile } from 'node:child_process';
import { access, mkdir, rm, writeFile } from 'node:fs/promises';
import { devNull } from 'node:os';
import { join } from 'node:path';
import type { BytePath, WorkspaceFile } from './workspace-files.ts';

const MAX_OUTPUT_BYTES = 256 * 1024 * 1024;
/** Contents as they are, whatever .gitattributes in the workspace say: no line ends turned, no filters, no other encodings. */
const ATTRIBUTES = '* -text -ident -filter !eol !working-tree-encoding !diff !merge\n';
const CONFIG = [
  'core.bare=false', 'core.hooksPath=/dev/null', 'core.attributesFile=/dev/null', 'core.excludesFile=/dev/null', 'core.autocrlf=false', 'core.safecrlf=false', 'core.fsmonitor=false',
  'core.quotePath=false', 'core.looseCompression=1', 'core.fsync=none', 'gc.auto=0', 'diff.external=', 'diff.renames=false', 'commit.gpgSign=false',
  ...(process.platform === 'win32' ? [] : ['core.protectNTFS=false']),
  ...(process.platform === 'darwin' ? [] : ['core.protectHFS=false']),
].flatMap((entry) => ['-c', entry]);

export interface TreeChange {
  path: BytePath;
  /** Mode in the second tree as git has it (100644, 100755, 120000); 000000 when it is not there. */
  mode: string;
  change: 'added' | 'removed' | 'changed';
}

/** Git failed; `message` is what it said. */
export class GitError extends Error {}

/** Whether git runs on this machine: null, or a sentence that says what to do. */
export function gitMissing(): Promise<string | null> {
  return new Promise((done) => {
    execFile('git', ['--version'], { env: cleanEnv() }, (error) => {
      if (error === null) done(null);
      else if (error.code === 'ENOENT') done('git was not found. Install it (for example: sudo apt install git) to have checkpoints.');
      else done(`git does not work on this machine: ${error.message.trim().slice(0, 300)}`);
    });
  });
}

/**
 * One git repository of our own that keeps states of one workspace. It never reads or writes the person's repositories, their hooks or
 * their settings.
 */
export class ShadowGit {
  readonly #dir: string;
  readonly #workspace: string;

  /** @param dir of the repository; made by `prepare`. @param workspace real path. */
  constructor(dir: string, workspace: string) {
    this.#dir = dir;
    this.#workspace = workspace;
  }

  /** Makes the repository where it is missing, and takes away what a killed git left. Call it once before everything else. */
  async prepare(): Promise<void> {
    await mkdir(this.#dir, { recursive: true, mode: 0o700 });
    if (!(await access(join(this.#dir, 'HEAD')).then(() => true, () => false))) await this.#git(['init', '--quiet', '--bare', '--template=', this.#dir], { plain: true });
    await mkdir(join(this.#dir, 'info'), { recursive: true });
    await writeFile(join(this.#dir, 'info', 'attributes'), ATTRIBUTES);
    await rm(join(this.#dir, 'index.lock'), { force: true });
  }

  /** Writes these files of the workspace as a tree; answers with its id. */
  async write(files: readonly WorkspaceFile[], signal: AbortSignal): Promise<string> {
    const present = new Set(files.map(({ path }) => path));
    const tracked = split(await this.#git(['ls-files', '-z'], { signal }));
    const gone = tracked.filter((path) => !present.has(path));
    if (gone.length > 0) await this.#git(['update-index', '-z', '--force-remove', '--stdin'], { signal, input: join0(gone) });
    if (files.length > 0) await this.#git(['update-index', '-z', '--add', '--remove', '--replace', '--stdin'], { signal, input: join0([...present]) });
    return (await this.#git(['write-tree'], { signal })).trim();
  }

  /** Forgets what the index remembers of files, so that all are read again: its objects may be gone. */
  forgetIndex(): Promise<void> {
    return rm(join(this.#dir, 'index'), { force: true });
  }

  /** A commit of a tree, kept under `name` until it is dropped. @param at epoch ms. */
  async commit(tree: string, message: string, name: string, at: number): Promise<string> {
    const commit = (await this.#git(['commit-tree', tree], { input: Buffer.from(message).toString('latin1'), at })).trim();
    await this.#git(['update-ref', refOf(name), commit]);
    return commit;
  }

  async treeOf(commit: string): Promise<string> {
    return (await this.#git(['rev-parse', '--verify', `${commit}^{tree}`])).trim();
  }

  async messageOf(commit: string): Promise<string> {
    const text = await this.#git(['cat-file', 'commit', commit]);
    return Buffer.from(text.slice(text.indexOf('\n\n') + 2), 'latin1').toString();
  }

  async changes(from: string, to: string, signal?: AbortSignal): Promise<TreeChange[]> {
    const fields = split(await this.#git(['diff-tree', '-r', '-z', '--raw', '--no-renames', from, to], { signal }));
    const out: TreeChange[] = [];
    for (let i = 0; i + 1 < fields.length; i += 2) {
      const [, mode = '', , , status = ''] = (fields[i] ?? '').split(' ');
      out.push({ path: fields[i + 1] ?? '', mode, change: status === 'A' ? 'added' : status === 'D' ? 'removed' : 'changed' });
    }
    return out;
  }

  /** A unified diff, its first `maxBytes` at whole lines. */
  async diff(from: string, to: string, maxBytes: number, signal: AbortSignal): Promise<{ diff: string; truncated: boolean }> {
    const args = ['diff-tree', '-r', '-p', '--no-renames', '--no-color', '--no-ext-diff', '--no-textconv', from, to];
    const { text, cut } = await this.#output(args, { signal, maxBytes });
    const whole = cut ? text.slice(0, text.lastIndexOf('\n') + 1) : text;
    return { diff: Buffer.from(whole, 'latin1').toString(), truncated: cut };
  }

  /** Puts these files of a tree in place, over what is there. */
  async checkOut(tree: string, paths: readonly BytePath[]): Promise<void> {
    if (paths.length === 0) return;
    const index = join(this.#dir, 'index.checkout');
    await rm(index, { force: true });
    await rm(`${index}.lock`, { force: true });
    try {
      await this.#git(['read-tree', tree], { index });
      await this.#git(['checkout-index', '-f', '-z', '--stdin'], { index, input: join0(paths) });
    } finally {
      await rm(index, { force: true });
    }
  }

  async names(): Promise<string[]> {
    const text = await this.#git(['for-each-ref', '--format=%(refname)', refOf('')]);
    return text.split('\n').flatMap((ref) => (ref.startsWith(refOf('')) ? [ref.slice(refOf('').length)] : []));
  }

  async drop(names: readonly string[]): Promise<void> {
    for (const name of names) await this.#git(['update-ref', '-d', refOf(name)]);
  }

  /** Gives back the room of what was dropped. */
  async collect(): Promise<void> {
    await this.#git(['gc', '--quiet', '--prune=now']);
  }

  async #git(args: readonly string[], options: GitOptions = {}): Promise<string> {
    const { text, cut } = await this.#output(args, options);
    if (cut) throw new GitError(`git ${args[0]} said more than can be taken.`);
    return text;
  }

  #output(args: readonly string[], options: GitOptions): Promise<{ text: string; cut: boolean }> {
    const { signal, input, index, at, plain } = options;
    const date = `@${Math.floor((at ?? 0) / 1000)} +0000`;
    const env = {
      ...cleanEnv(),
      ...(!plain && { GIT_DIR: this.#dir, GIT_WORK_TREE: this.#workspace }),
      ...(index !== undefined && { GIT_INDEX_FILE: index }),
      GIT_AUTHOR_NAME: 'talaria', GIT_AUTHOR_EMAIL: 'talaria@localhost', GIT_COMMITTER_NAME: 'talaria', GIT_COMMITTER_EMAIL: 'talaria@localhost', GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date,
    };
    return new Promise((done, failed) => {
      const child = execFile(
        'git',
        [...(plain ? [] : CONFIG), ...args],
        { cwd: plain ? this.#dir : this.#workspace, env, encoding: 'latin1', maxBuffer: options.maxBytes ?? MAX_OUTPUT_BYTES, ...(signal && { signal }), windowsHide: true },
        (error, stdout, stderr) => {
          if (error === null) done({ text: stdout, cut: false });
          else if (signal?.aborted) failed(signal.reason as Error);
          else if (error.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') done({ text: stdout, cut: true });
          else failed(new GitError(`git ${args[0]}: ${stderr.trim().slice(0, 500) || error.message}`));
        },
      );
      // It may end before it has read everything; what it said is in the callback.
      child.stdin?.on('error', () => undefined);
      child.stdin?.end(Buffer.from(input ?? '', 'latin1'));
    });
  }
}

interface GitOptions {
  signal?: AbortSignal | undefined;
  /** One character for each byte. */
  input?: string;
  index?: string;
  /** Epoch ms. */
  at?: number;
  maxBytes?: number;
  /** Without repository and settings, for making one. */
  plain?: boolean;
}

/** Nothing of the person's: no GIT_ variables, no settings of theirs or of the system. */
function cleanEnv(): Record<string, string> {
  const env: Record<string, string> = { PATH: process.env['PATH'] ?? '', LC_ALL: 'C', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: devNull, GIT_TERMINAL_PROMPT: '0', GIT_ATTR_NOSYSTEM: '1' };
  const systemRoot = process.env['SystemRoot'];
  if (systemRoot !== undefined) env['SystemRoot'] = systemRoot;
  return env;
}

function refOf(name: string): string {
  return `refs/checkpoints/${name}`;
}

function split(text: string): string[] {
  const parts = text.split('\0');
  parts.pop();
  return parts;
}

function join0(paths: readonly BytePath[]): string {
  return paths.map((path) => `${path}\0`).join('');
}
