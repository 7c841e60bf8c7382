import { execFile } from 'node:child_process';
import { delimiter } from 'node:path';
import { SandboxError } from './types.ts';

export type ContainerTrouble =
  /** No docker on this machine, or none that answers. */
  | 'docker_missing'
  /** The image is not here and could not be pulled. */
  | 'image_pull'
  /** No command can be run in this image. */
  | 'unusable'
  /** Whatever else docker refused. */
  | 'failed';

/** A container that could not be had; the message says what to do. */
export class ContainerError extends SandboxError {
  readonly trouble: ContainerTrouble;
  constructor(trouble: ContainerTrouble, message: string) {
    super('unavailable', message);
    this.name = 'ContainerError';
    this.trouble = trouble;
  }
}

const MAX_OUTPUT_BYTES = 4 * 1024 * 1024;
const SAID_CHARS = 400;
/** What the docker client itself needs: where the daemon is, and sign-ins to registries. It hands none of it to containers. */
const CLIENT_NEEDS = /^(?:DOCKER_\w+|HOME|USERPROFILE|XDG_RUNTIME_DIR|SSH_AUTH_SOCK|SystemRoot|ProgramFiles|ProgramData|(?:https?|no)_proxy|(?:HTTPS?|NO)_PROXY)$/;
/** Programs that were started from a desktop do not have these in their search path. */
const USUAL_FOLDERS = process.platform === 'win32' ? [] : ['/usr/local/bin', '/usr/bin', '/opt/homebrew/bin'];
const NO_DAEMON = /cannot connect to the docker daemon|is the docker daemon running|permission denied while trying to connect|error during connect|docker daemon is not running/i;

/** The environment of the docker client: see CLIENT_NEEDS. */
export function dockerEnvironment(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined && CLIENT_NEEDS.test(name)) env[name] = value;
  const path = process.env['PATH'] ?? process.env['Path'] ?? '';
  return { ...env, PATH: [path, ...USUAL_FOLDERS].filter((entry) => entry !== '').join(delimiter) };
}

export interface DockerAnswer {
  ok: boolean;
  stdout: string;
  stderr: string;
}

/**
 * Runs the docker client once.
 * @throws ContainerError `docker_missing`, or `failed` when it took too long; the signal's reason.
 */
export function docker(args: readonly string[], { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal | undefined }): Promise<DockerAnswer> {
  return new Promise((resolve, reject) => {
    const options = { env: dockerEnvironment(), timeout: timeoutMs, maxBuffer: MAX_OUTPUT_BYTES, windowsHide: true, killSignal: 'SIGKILL' as const, ...(signal ? { signal } : {}) };
    execFile('docker', args, options, (error, stdout, stderr) => {
      if (signal?.aborted) return reject(signal.reason as Error);
      if (error && 'code' in error && error.code === 'ENOENT') {
        return reject(new ContainerError('docker_missing', 'Docker is not installed (there is no "docker" in the search path). Install it, or leave the column image out of the dataset.'));
      }
      if (error && NO_DAEMON.test(stderr)) return reject(new ContainerError('docker_missing', `Docker does not answer. Start it, or allow this user to use it. It said: ${saidBy({ stdout, stderr })}`));
      if (error?.killed) return reject(new ContainerError('failed', `"docker ${args[0] ?? ''}" took longer than ${Math.round(timeoutMs / 1000)} s and was stopped.`));
      resolve({ ok: error === null, stdout, stderr });
    });
  });
}

/** The end of what docker said of a failure, on one line. */
export function saidBy({ stdout, stderr }: Pick<DockerAnswer, 'stdout' | 'stderr'>): string {
  const text = (stderr.trim() || stdout.trim() || 'nothing').replace(/\s+/g, ' ');
  return (text.length > SAID_CHARS ? `…${text.slice(-SAID_CHARS)}` : text).toWellFormed();
}
