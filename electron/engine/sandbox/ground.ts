import { hostPath, INNER_TMP, type Wrapping, wrapArgs } from './bubblewrap.ts';
import type { Shell } from './command.ts';
import { COMMAND_MARK } from './environment.ts';
import type { Launch } from './started.ts';
import type { Sandbox } from './types.ts';

/** What is to be started in a sandbox: a program as the commands see it. */
export interface InnerLaunch {
  file: string;
  args: readonly string[];
  /** As commands see it. */
  cwd: string;
  /** Complete. */
  env: Record<string, string>;
  mark: string;
  /** The program gets input. */
  input: boolean;
}

/** How a command gets from this program to where it runs. Paths are absolute. */
export interface Ground {
  readonly kind: Sandbox['kind'];
  /** The workspace as commands see it. */
  readonly root: string;
  /** The folder for what the shell notes, as commands see it. */
  readonly notes: string;
  /** What the first command finds in its environment. */
  readonly env: Record<string, string>;
  readonly shell: Shell;
  launch(what: InnerLaunch): Launch | Promise<Launch>;
  /** Where a path that commands see is on this machine; null when it is not here. */
  toHost(path: string): string | null;
  /** How commands see a path of this machine; what they do not see stays as it is. */
  toInner(path: string): string;
  /** Whether a folder that is not on this machine is there. */
  hasFolder?(path: string): Promise<boolean>;
  /** Ends everything and gives back what was taken for the sandbox, before its folders are removed. */
  close?(): Promise<void>;
}

/** Ordinary processes of this user. */
export function hostGround({ root, tmp, env, shell }: { root: string; tmp: string; env: Record<string, string>; shell: Shell }): Ground {
  return {
    kind: 'host',
    root,
    notes: tmp,
    env,
    shell,
    launch: ({ file, args, cwd, env: given, mark }) => ({ file, args, cwd, env: { ...given, [COMMAND_MARK]: mark }, mark, oneStream: process.platform !== 'win32' }),
    toHost: (path) => path,
    toInner: (path) => path,
  };
}

/** The same behind bubblewrap's wall. */
export function bubblewrapGround(wrapping: Wrapping, { env, shell }: { env: Record<string, string>; shell: Shell }): Ground {
  const path = env['PATH'] ?? '';
  return {
    kind: 'bubblewrap',
    root: wrapping.root,
    notes: INNER_TMP,
    env,
    shell,
    launch: async ({ file, args, cwd, env: given, mark }) => {
      const inner = { ...given, [COMMAND_MARK]: mark };
      return { file: wrapping.bwrap, args: [...(await wrapArgs(wrapping, cwd, inner)), file, ...args], cwd: wrapping.root, env: { PATH: path, [COMMAND_MARK]: mark }, mark };
    },
    toHost: (inner) => hostPath(wrapping, inner),
    toInner: (outer) => outer,
  };
}
