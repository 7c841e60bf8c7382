import { spawn } from 'node:child_process';
import { StringDecoder } from 'node:string_decoder';
import { ToolError } from './define.ts';

const SEARCH_TIMEOUT_MS = 30_000;
/** A record longer than this is given up: no path or line that ripgrep prints for us is. */
const MAX_RECORD_CHARS = 1_000_000;
/** Same answer whatever lies around the workspace: no config file, no ignore files of parent folders or of the person. Links are not followed. */
const BASE_ARGS = ['--no-config', '--no-ignore-parent', '--no-ignore-global', '--no-require-git', '--hidden', '--no-follow', '--color=never', '--path-separator=/', '--no-messages'];

export interface RipgrepRun {
  /** The text was stopped by `onRecord`. */
  stopped: boolean;
  /** 0 found, 1 nothing found, 2 error. */
  exitCode: number | null;
  stderr: string;
}

/** Where the program is. In a packaged app it lies beside the archive, for no program can be run out of one. */
async function ripgrepPath(): Promise<string> {
  try {
    const { rgPath } = await import('@vscode/ripgrep');
    return rgPath.replace(/\bapp\.asar\b(?!\.unpacked)/, 'app.asar.unpacked');
  } catch {
    throw new ToolError('The search program is not installed for this platform. Use grep or find in the terminal.');
  }
}

/**
 * Runs ripgrep in `cwd` and hands over its output record by record (ended by `separator`) until `onRecord` answers false.
 * @throws ToolError when it cannot be run, takes too long or is interrupted.
 */
export async function ripgrep(options: {
  args: readonly string[];
  cwd: string;
  separator: '\n' | '\0';
  signal: AbortSignal;
  onRecord: (record: string) => boolean;
}): Promise<RipgrepRun> {
  const { args, cwd, separator, onRecord } = options;
  const timeout = AbortSignal.timeout(SEARCH_TIMEOUT_MS);
  const systemRoot = process.env['SystemRoot'];
  const child = spawn(await ripgrepPath(), [...BASE_ARGS, ...args], {
    cwd,
    env: systemRoot === undefined ? {} : { SystemRoot: systemRoot },
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
    signal: AbortSignal.any([options.signal, timeout]),
    killSignal: 'SIGKILL',
  });
  let stderr = '';
  let rest = '';
  let stopped = false;
  const decoder = new StringDecoder('utf8');
  child.stderr.on('data', (bytes: Buffer) => {
    if (stderr.length < 4_000) stderr += bytes.toString('utf8');
  });
  child.stdout.on('data', (bytes: Buffer) => {
    if (stopped) return;
    const records = (rest + decoder.write(bytes)).split(separator);
    rest = records.pop() ?? '';
    if (records.some((record) => !onRecord(record)) || rest.length > MAX_RECORD_CHARS) {
      stopped = true;
      child.kill('SIGKILL');
    }
  });
  const failed = await new Promise<Error | null>((done) => {
    let problem: Error | null = null;
    child.on('error', (error) => {
      problem = error;
      if (child.pid === undefined) done(error);
    });
    child.on('close', () => done(problem));
  });
  if (options.signal.aborted) throw new ToolError('The search was interrupted.');
  if (timeout.aborted) throw new ToolError(`The search took longer than ${SEARCH_TIMEOUT_MS / 1000} seconds. Search a smaller folder, or set file_glob.`);
  if (failed) throw new ToolError(`The search could not be run: ${failed.message}.`);
  return { stopped, exitCode: child.exitCode, stderr };
}
