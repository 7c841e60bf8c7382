import { z } from 'zod';
import { SandboxError } from '../sandbox/types.ts';
import type { BackgroundProcess, Sandbox } from '../sandbox/types.ts';
import { defineTool, ToolError } from './define.ts';
import { forgetReads } from './files.ts';

const ACTIONS = ['list', 'poll', 'log', 'wait', 'kill', 'write', 'submit'] as const;
const DEFAULT_WAIT_S = 60;
const MAX_WAIT_S = 3600;
const DEFAULT_LINES = 200;
const MAX_LINES = 2_000;
/** Beyond this the first part of an answer is left out. */
const MAX_OUTPUT_CHARS = 45_000;
const COMMAND_CHARS = 200;

/**
 * `process`: looks after what `terminal` started in the background. Every answer about one process has `{session_id, command, pid,
 * running, exit_code, seconds}`; poll and wait add `output` (what came since the last poll or wait), log adds lines of all output that
 * is kept.
 */
export const processTool = defineTool({
  name: 'process',
  toolset: 'terminal',
  parallel: 'never',
  description:
    'Look after programs started with terminal (background true). Actions: list all; poll one for new output; log shows its last lines (or lines from offset); ' +
    'wait until it ends; kill it; write text to its input; submit the same with a line end.',
  parameters: z.object({
    action: z.enum(ACTIONS).describe('What to do.'),
    session_id: z.string().optional().describe('The process; needed by every action but list.'),
    data: z.string().optional().describe('write, submit: the text.'),
    timeout: z.int().min(1).max(MAX_WAIT_S).default(DEFAULT_WAIT_S).describe('wait: seconds after which it answers although the process still runs.'),
    offset: z.int().min(1).optional().describe('log: first line, counted from 1 in the output that is kept. Left out: the last lines.'),
    limit: z.int().min(1).max(MAX_LINES).default(DEFAULT_LINES).describe('log: most lines.'),
  }),
  async run({ action, session_id: id, data, timeout, offset, limit }, { sandbox, signal, state }) {
    if (action === 'list') return { processes: sandbox.processes.list().map(facts) };
    const one = find(sandbox, id);
    switch (action) {
      case 'poll':
        return { ...facts(one), output: lastPart(one.poll()) };
      case 'log':
        return { ...facts(one), ...lines(one.output(), offset, limit) };
      case 'wait': {
        const ended = await one.wait(timeout * 1000, signal);
        if (signal.aborted) throw new ToolError('Waiting was interrupted; the process goes on.');
        forgetReads(state);
        return { ...facts(one), output: lastPart(one.poll()), ...(!ended && { note: `It still runs after ${timeout} seconds.` }) };
      }
      case 'kill':
        await one.kill();
        forgetReads(state);
        return { ...facts(one), output: lastPart(one.poll()) };
      case 'write':
      case 'submit':
        if (data === undefined) throw new ToolError(`${action} needs the parameter "data" with the text.`);
        one.write(action === 'submit' ? `${data}\n` : data);
        return facts(one);
    }
  },
});

function find(sandbox: Sandbox, id: string | undefined): BackgroundProcess {
  const known = sandbox.processes.list().map((one) => one.id);
  const has = known.length > 0 ? `There are: ${known.join(', ')}.` : 'There are none; start one with terminal (background true).';
  if (id === undefined) throw new ToolError(`This action needs session_id. ${has}`);
  const one = sandbox.processes.get(id);
  if (!one) throw new SandboxError('not_found', `There is no background process "${id}"; those that ended are kept for 30 minutes. ${has}`);
  return one;
}

function facts(one: BackgroundProcess): Record<string, unknown> {
  const { id, pid, running, exitCode, startedAt, endedAt } = one;
  const command = one.command.length > COMMAND_CHARS ? `${one.command.slice(0, COMMAND_CHARS)}…` : one.command;
  return { session_id: id, command, pid, running, exit_code: exitCode, ...(endedAt !== null && { seconds: Math.round((endedAt - startedAt) / 1000) }) };
}

function lines(output: string, offset: number | undefined, limit: number): Record<string, unknown> {
  const all = output.split('\n');
  if (all.at(-1) === '') all.pop();
  const from = offset === undefined ? Math.max(0, all.length - limit) : offset - 1;
  const page = all.slice(from, from + limit);
  return { output: lastPart(page.join('\n')), total_lines: all.length, ...(page.length > 0 && { lines: `${from + 1}-${from + page.length}` }) };
}

function lastPart(text: string): string {
  if (text.length <= MAX_OUTPUT_CHARS) return text;
  const left = text.length - MAX_OUTPUT_CHARS;
  return `[… ${left.toLocaleString('en-US')} characters left out here …]\n${text.slice(-MAX_OUTPUT_CHARS).replace(/^[\udc00-\udfff]/, '')}`;
}
