import { closeSync, constants, fstatSync, openSync, readFileSync, unlinkSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { errorCode } from './confine.ts';
import { COMMAND_MARK } from './environment.ts';
import type { Shell } from './command.ts';

/** What carries over from one command to the next: folder and exported variables, as the shell saw them. */
export interface ShellState {
  cwd: string;
  env: Record<string, string>;
}

const END = 'end';
const MAX_STATE_BYTES = 16 * 1024 * 1024;
/** The system takes at most 128 KiB for one variable (Linux), and somewhat more than this for all of them with the arguments. */
const MAX_VARIABLE_BYTES = 120 * 1024;
const MAX_VARIABLES_BYTES = 768 * 1024;
/** Variables of the shell itself, and ours. */
const NOT_CARRIED = new Set(['_', 'SHLVL', 'PWD', 'SHELLOPTS', 'BASHOPTS', COMMAND_MARK]);
/** How the variables of the script around a command begin. */
const OURS = '__sandbox_';
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Arguments that make `shell` run `command` with both streams on one pipe: only so does output come in the order in which it was
 * written. With `saveTo` (a file) the shell notes its state there when it ends, also by `exit`, `set -e` and errors; only a shell that is
 * killed or replaced (`exec`) does not.
 */
export function shellArgs(shell: Shell, command: string, saveTo: string | null): string[] {
  if (saveTo === null) return ['-c', 'exec "$1" -c "$2" "$3" 2>&1', shell.name, shell.path, command, shell.name];
  const script = shell.name === 'bash' ? bashScript(saveTo) : shScript(saveTo);
  // All on one line, so that the line numbers in messages are those of the command.
  return ['-c', script, shell.name, command];
}

/**
 * The state is noted by an EXIT trap in the shell itself: no process is started for it. A trap of the command's own replaces ours; then the
 * state is noted before it too, in a subshell, so that the trap finds everything as the command left it.
 */
function bashScript(saveTo: string): string {
  const file = quoted(saveTo);
  // Variables have names that no command has. With builtins only: with a huge environment no program can be started.
  const note =
    `builtin trap - DEBUG ERR; set +aeux; builtin compgen -e >|${file}; __sandbox_l=; IFS= builtin read -r -d '' __sandbox_l <${file}; { builtin pwd -P || builtin printf '%s\\n' "$PWD"; builtin printf '.\\0'; ` +
    `IFS=$'\\n'; for __sandbox_v in $__sandbox_l; do [ "\${!__sandbox_v+x}" ] && builtin printf '%s=%s\\0' "$__sandbox_v" "\${!__sandbox_v}"; done; builtin printf '${END}\\0'; } >|${file}`;
  const trap = `{ builtin trap - DEBUG ERR; [ -s ${file} ] || { ${note}; }; } >/dev/null 2>&1`;
  const last =
    `{ __sandbox_r=$?; builtin trap - DEBUG; set +x; builtin trap -p EXIT >|${file}; __sandbox_t=; IFS= builtin read -r __sandbox_t <${file} || :; builtin : >|${file}; ` +
    `case $__sandbox_t in *__sandbox_l*) ;; *) ( ${note} ) || : ;; esac; } >/dev/null 2>&1; builtin exit $__sandbox_r`;
  return `exec 2>&1; trap ${quoted(trap)} EXIT; eval "set --;$1"; ${last}`;
}

function shScript(saveTo: string): string {
  const file = quoted(saveTo);
  const save = `(__sandbox_r=$?; set +eux; printf '%s\\0' "$(pwd -P || printf '%s\\n' "$PWD"; echo .)"; env -0; printf '${END}\\0'; exit $__sandbox_r) >|${file} 2>/dev/null`;
  return `exec 2>&1; trap ${quoted(`{ [ -s ${file} ] || ${save}; } 2>/dev/null`)} EXIT; eval "set --;$1"; ${save}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/**
 * Reads what a shell noted, or null when it did not come to that. `dropped` names variables that cannot be given to another process: too
 * large, or not UTF-8.
 */
export function readState(file: string): { state: ShellState; dropped: string[] } | null {
  const bytes = readCapped(file);
  if (bytes === null) return null;
  const records = splitAtNul(bytes);
  if (records.at(-1)?.toString() !== END) return null;
  const cwd = records[0]?.toString() ?? '';
  const dropped: string[] = [];
  const env: Record<string, string> = {};
  let size = 0;
  for (const record of records.slice(1, -1)) {
    const equals = record.indexOf(0x3d);
    const name = record.subarray(0, Math.max(0, equals)).toString('latin1');
    if (!NAME.test(name) || NOT_CARRIED.has(name) || name.startsWith(OURS)) continue;
    const value = record.subarray(equals + 1).toString('utf8');
    size += record.length;
    if (record.length > MAX_VARIABLE_BYTES || size > MAX_VARIABLES_BYTES || Buffer.byteLength(value) !== record.length - equals - 1 || value.includes('\ufffd')) {
      dropped.push(name);
      size -= record.length;
    } else env[name] = value;
  }
  // Command substitution takes line ends off, hence the mark behind the path.
  return cwd.endsWith('\n.') ? { state: { cwd: cwd.slice(0, -2), env }, dropped } : null;
}

/**
 * A small file on a local disk, read in place: many times cheaper than through the thread pool. A command can put anything in its place, so
 * nothing is followed or waited for.
 */
function readCapped(path: string): Buffer | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
  } catch {
    return null;
  }
  try {
    const facts = fstatSync(file);
    return facts.isFile() && facts.size <= MAX_STATE_BYTES ? readFileSync(file) : null;
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}

/** Removes what is left of a command's notes, whatever it is. Never rejects: what cannot be removed goes with the folder. */
export async function removeState(file: string): Promise<void> {
  try {
    unlinkSync(file);
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') await rm(file, { recursive: true, force: true }).catch(() => undefined);
  }
}

function splitAtNul(bytes: Buffer): Buffer[] {
  const out: Buffer[] = [];
  for (let from = 0; from < bytes.length; ) {
    const stop = bytes.indexOf(0, from);
    if (stop === -1) return [];
    out.push(bytes.subarray(from, stop));
    from = stop + 1;
  }
  return out;
}
