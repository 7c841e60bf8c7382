import { z } from 'zod';
import { commandKey, scopeOf } from '../sandbox/approvals.ts';
import { findDangers } from '../sandbox/dangerous.ts';
import { HeadTailBuffer } from '../sandbox/output.ts';
import { isReadOnly } from '../sandbox/read-only.ts';
import { defineTool } from './define.ts';
import { forgetReads, seenByCommands, shownFolder } from './files.ts';
import { pathsOf } from './paths.ts';
import type { ToolContext } from './types.ts';

const DEFAULT_TIMEOUT_S = 180;
const MAX_TIMEOUT_S = 24 * 3600;
/** Leaves room for the rest of the result below the cap of all results. */
const MAX_OUTPUT_JSON_CHARS = 95_000;
const REASON_CHARS = 120;
/** What shells and `timeout` report for commands that were stopped. */
const EXIT_TIMED_OUT = 124;
const EXIT_INTERRUPTED = 130;
const STATE = process.platform === 'win32'
  ? 'Each command starts in the workspace root with a fresh shell: cd and variables do not carry over. '
  : 'The first command starts in the workspace root; cd and exported variables carry over to the next command (functions, aliases and shell options do not). ';

/**
 * `terminal`: one shell command in the workspace. In the foreground the result is `{output, exit_code, error, cwd?, note?}`; a command
 * that fails by itself has an exit code and no error, a command that was refused, stopped or could not start has an error. `cwd` is where
 * the next command starts, when that is not the workspace root. In the background it is `{session_id, pid, error}`.
 */
export const terminalTool = defineTool({
  name: 'terminal',
  toolset: 'terminal',
  parallel: 'never',
  description:
    'Run a shell command in the workspace and wait for it to end. Returns its output (stdout and stderr together) and exit code. ' +
    STATE +
    'There is no input and no screen: pass flags such as -y, and do not start editors, pagers or other interactive programs. ' +
    'For servers, watchers and long work set background to true rather than using &; then look at it and end it with process. ' +
    'Prefer read_file, write_file, patch and search_files for working with files; their paths count from the workspace root wherever cd went.',
  parameters: z.object({
    command: z.string().describe('The command line, run by bash (or sh).'),
    background: z.boolean().default(false).describe('Start it and go on at once. Returns a session_id for the process tool.'),
    timeout: z.int().min(1).max(MAX_TIMEOUT_S).default(DEFAULT_TIMEOUT_S).describe('Seconds after which the command and all its children are killed; foreground only.'),
    workdir: z.string().optional().describe('Folder for this command only, relative to the workspace root.'),
  }),
  async run({ command, background, timeout, workdir }, context) {
    const { sandbox, services, signal, state, onOutput } = context;
    if (command.trim() === '') return refused('The command is empty.');
    const folder = workdir === undefined ? undefined : await pathsOf(context, 'terminal')(workdir, 'write');
    const problem = await checkDangers(command, folder === undefined ? sandbox.cwd : seenByCommands(sandbox, folder), context);
    if (problem !== null) return refused(problem);
    if (!isReadOnly(command)) await services.beforeChange?.(`terminal ${command.trim()}`.slice(0, REASON_CHARS));
    forgetReads(state);
    const where = folder === undefined ? {} : { workdir: folder, anywhere: true };
    if (background) {
      const { id, pid } = await sandbox.start(command, where);
      return { session_id: id, pid, error: null };
    }
    const result = await sandbox.run(command, { timeoutMs: timeout * 1000, signal, onOutput, ...where });
    const more = { ...(sandbox.cwd !== sandbox.commandRoot && { cwd: shownFolder(sandbox) }), ...(result.note !== null && { note: result.note }) };
    const output = fit(result.output);
    if (result.timedOut) {
      return { output, exit_code: EXIT_TIMED_OUT, error: `The command was killed after ${timeout} seconds. Set a longer timeout, or background to true for programs that go on running.`, ...more };
    }
    if (result.aborted) return { output, exit_code: EXIT_INTERRUPTED, error: 'The command was interrupted and killed.', ...more };
    return { output, exit_code: result.exitCode ?? -1, error: null, ...more };
  },
});

function refused(error: string): Record<string, unknown> {
  return { output: '', exit_code: -1, error };
}

/**
 * Asks the person about each rule the command falls under; null when it may run, else why not. In a container of its own a command may do
 * what it likes: that is what it is for.
 */
async function checkDangers(command: string, cwd: string, { sandbox, approve, callId, signal }: ToolContext): Promise<string | null> {
  if (sandbox.kind === 'container') return null;
  for (const { rule, message } of findDangers(command, { root: sandbox.commandRoot, cwd })) {
    if (!approve) return `Refused, nothing was run: ${message}`;
    const key = commandKey(rule);
    const scope = scopeOf(key);
    const reason = `This command may ${scope.charAt(0).toLowerCase()}${scope.slice(1)}.`;
    if (await approve({ what: 'command', subject: command, reason, key, scope }, callId, signal)) continue;
    return `The person did not allow this command (${scope}). Nothing was run. Do not try it another way; go on without it, or ask them.`;
  }
  return null;
}

/** Text full of quotes or line ends doubles as JSON; it is cut again, so that the result stays whole JSON. */
function fit(output: string): string {
  let text = output;
  for (let cap = output.length; JSON.stringify(text).length > MAX_OUTPUT_JSON_CHARS; ) {
    cap = Math.floor(cap * 0.8);
    const buffer = new HeadTailBuffer(cap);
    buffer.push(output);
    text = buffer.toString();
  }
  return text;
}
