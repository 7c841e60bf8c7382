import { z } from 'zod';
import { findDanger } from '../sandbox/dangerous.ts';
import { HeadTailBuffer } from '../sandbox/output.ts';
import { defineTool } from './define.ts';
import { forgetReads } from './files.ts';

const DEFAULT_TIMEOUT_S = 180;
const MAX_TIMEOUT_S = 24 * 3600;
/** Leaves room for the rest of the result below the cap of all results. */
const MAX_OUTPUT_JSON_CHARS = 95_000;
/** What shells and `timeout` report for commands that were stopped. */
const EXIT_TIMED_OUT = 124;
const EXIT_INTERRUPTED = 130;

/**
 * `terminal`: one shell command in the workspace, in the foreground. Result `{output, exit_code, error}`; a command that fails by
 * itself has an exit code and no error, a command that was refused, stopped or could not start has an error.
 */
export const terminalTool = defineTool({
  name: 'terminal',
  toolset: 'terminal',
  parallel: 'never',
  description:
    'Run a shell command in the workspace and wait for it to end. Returns its output (stdout and stderr together) and exit code. ' +
    'Each command starts in the workspace root with a fresh shell: cd and variables do not carry over, so chain steps with &&. ' +
    'There is no input and no screen: pass flags such as -y, and do not start editors, pagers or other interactive programs. ' +
    'Prefer read_file, write_file, patch and search_files for working with files.',
  parameters: z.object({
    command: z.string().describe('The command line, run by bash (or sh).'),
    timeout: z.int().min(1).max(MAX_TIMEOUT_S).default(DEFAULT_TIMEOUT_S).describe('Seconds after which the command and all its children are killed.'),
    workdir: z.string().optional().describe('Folder to start in, relative to the workspace root.'),
  }),
  async run({ command, timeout, workdir }, { sandbox, signal, state, onOutput }) {
    if (command.trim() === '') return { output: '', exit_code: -1, error: 'The command is empty.' };
    const cwd = workdir === undefined ? sandbox.root : await sandbox.resolve(workdir);
    const danger = findDanger(command, { root: sandbox.root, cwd });
    if (danger) return { output: '', exit_code: -1, error: `Refused, nothing was run: ${danger.message}` };
    forgetReads(state);
    const result = await sandbox.run(command, { timeoutMs: timeout * 1000, signal, onOutput, ...(workdir !== undefined && { workdir }) });
    const output = fit(result.output);
    if (result.timedOut) {
      return {
        output,
        exit_code: EXIT_TIMED_OUT,
        error: `The command was killed after ${timeout} seconds. Set a longer timeout, or start long-running programs in the background with "cmd > log.txt 2>&1 &".`,
      };
    }
    if (result.aborted) return { output, exit_code: EXIT_INTERRUPTED, error: 'The command was interrupted and killed.' };
    return { output, exit_code: result.exitCode ?? -1, error: null };
  },
});

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
