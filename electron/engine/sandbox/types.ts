/** What a finished (or stopped) command left. */
export interface CommandResult {
  /** stdout and stderr as they came, capped head and tail. */
  output: string;
  /** null when it was killed before it could say. */
  exitCode: number | null;
  timedOut: boolean;
  aborted: boolean;
  durationMs: number;
}

/**
 * Where terminal and file tools really run. Paths are given as the model wrote them (absolute or relative to the workspace)
 * and are confined to the workspace after symlinks are resolved.
 */
export interface Sandbox {
  readonly kind: 'host';
  /** Absolute path of the workspace root. */
  readonly root: string;
  /** Runs `command` in a shell, in its own process group, with a clean environment (no keys). Never throws for what the command does. */
  run(command: string, options: { timeoutMs: number; workdir?: string; signal: AbortSignal; onOutput?: (text: string) => void }): Promise<CommandResult>;
  /** Absolute real path inside the workspace. Throws SandboxError('outside_workspace') otherwise. */
  resolve(path: string): Promise<string>;
  /** Ends everything that still runs; removes the workspace when `remove`. */
  dispose(options: { remove: boolean }): Promise<void>;
}

export class SandboxError extends Error {
  readonly code: 'outside_workspace' | 'not_found' | 'unavailable';
  constructor(code: SandboxError['code'], message: string) {
    super(message);
    this.name = 'SandboxError';
    this.code = code;
  }
}
