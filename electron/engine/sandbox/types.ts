/** What a finished (or stopped) command left. */
export interface CommandResult {
  /** stdout and stderr as they came, capped head and tail. */
  output: string;
  /** null when it was killed before it could say. */
  exitCode: number | null;
  timedOut: boolean;
  aborted: boolean;
  durationMs: number;
  /** Something about the shell's state that the model would else not expect, e.g. that its folder is gone. */
  note: string | null;
}

/**
 * Where terminal and file tools really run. Paths are given as the model wrote them (absolute or relative to the workspace)
 * and are confined to the workspace after symlinks are resolved. The working directory and exported variables carry over from one
 * foreground command to the next (not on Windows).
 */
export interface Sandbox {
  readonly kind: 'host' | 'bubblewrap' | 'container';
  /** Absolute path of the workspace root, where file tools work. */
  readonly root: string;
  /** The workspace root as commands see it: another path than `root` in a container. */
  readonly commandRoot: string;
  /** Folder in which the next command starts: the root, or where the last one went to. As commands see it. */
  readonly cwd: string;
  /**
   * Runs `command` in a shell, in its own process group, with a clean environment (no keys). Never throws for what the command does.
   * Throws SandboxError for a workdir that cannot be used and for a command that cannot be started.
   */
  run(command: string, options: StartOptions & { timeoutMs: number; signal: AbortSignal; onOutput?: (text: string) => void }): Promise<CommandResult>;
  /**
   * Starts `command` in the background; it outlives the call and is killed by `dispose`.
   * Throws SandboxError `unavailable` when there are too many or it cannot be started.
   */
  start(command: string, options: StartOptions): Promise<BackgroundProcess>;
  readonly processes: { list(): readonly BackgroundProcess[]; get(id: string): BackgroundProcess | undefined };
  /** Called whenever a background process starts or ends. */
  onProcesses?: () => void;
  /**
   * Absolute real path inside the workspace. Throws SandboxError: `outside_workspace` with the real path for what a person may allow,
   * `forbidden` for what nobody may (hidden folders, credentials).
   */
  resolve(path: string): Promise<string>;
  /** Ends everything that still runs; removes the workspace when `remove`. */
  dispose(options: { remove: boolean }): Promise<void>;
}

export interface StartOptions {
  /** Folder to start in, for this command only; `cwd` when left out. */
  workdir?: string;
  /** A person allowed `workdir`, so it may lie outside the workspace. */
  anywhere?: boolean;
  /** `run` only: with the variables that the sandbox began with; nothing carries over to this command, nor from it. */
  pristine?: boolean;
}

/** A program that runs while the agent goes on. */
export interface BackgroundProcess {
  readonly id: string;
  readonly command: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly endedAt: number | null;
  readonly running: boolean;
  /** null while it runs, or when a signal ended it. */
  readonly exitCode: number | null;
  /** The last 200 KB of stdout and stderr together. */
  output(): string;
  /** What came since the last `poll` of this process. */
  poll(): string;
  /** Resolves when it has ended, after `timeoutMs`, or on abort; says whether it has ended. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<boolean>;
  /** Throws SandboxError when it has ended. */
  write(data: string): void;
  kill(): Promise<void>;
}

export interface SandboxOptions {
  kind: 'host' | 'bubblewrap';
  /** Workspace folder; created when missing. */
  root: string;
  /** Folder in which the first command starts, relative to the workspace; made when missing. */
  cwd?: string;
  /** Extra variables for commands. */
  env?: Record<string, string>;
  /** bubblewrap only: whether commands may use the network. Default true. */
  network?: boolean;
  /** Folders that are never shown to tools (the Talaria home with its keys), absolute. A workspace inside one is visible nevertheless. */
  hidden?: readonly string[];
  /** Epoch ms; the system's clock when left out. */
  now?: () => number;
}

export class SandboxError extends Error {
  readonly code: 'outside_workspace' | 'forbidden' | 'not_found' | 'unavailable';
  /** For `outside_workspace` the real path, where it is known; else null. */
  readonly path: string | null;
  constructor(code: SandboxError['code'], message: string, path: string | null = null) {
    super(message);
    this.name = 'SandboxError';
    this.code = code;
    this.path = path;
  }
}
