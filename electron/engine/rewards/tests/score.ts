import { randomBytes } from 'node:crypto';
import { chmod, mkdir, open, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { removeFolder } from '../../sandbox/remove.ts';
import type { CommandResult, Sandbox } from '../../sandbox/types.ts';
import { errorCode } from '../../sandbox/confine.ts';
import { type RuleOf, type ScoreContext, type ScoreSubject, shown, unknown, type Verdict } from '../types.ts';
import { because } from '../why.ts';
import { codeOfAnswer, codeOfPrompt } from './code.ts';
import { HARNESS } from './harness.ts';
import { kindOfTests, type RowTests } from './kind.ts';
import { readHarness, readJunit } from './report.ts';

const MAX_CODE_CHARS = 1_000_000;
const OUTPUT_SHOWN_CHARS = 2_000;
const PYTHON = process.platform === 'win32' ? 'python' : 'python3';

/**
 * Runs the row's tests against the code of the final answer, or of the workspace, in the sandbox: 1 when they pass, with `each` the share
 * of asserts that do. null when there is nothing to run or nowhere to run it.
 */
export async function scoreTests(rule: RuleOf<'tests'>, subject: ScoreSubject, context: ScoreContext): Promise<Verdict> {
  const tests = rule.command === null ? kindOfTests(subject.row['tests'], subject.row) : ({ kind: 'command', command: rule.command } satisfies RowTests);
  if (tests === null) return unknown(because('no_tests'));
  if (typeof tests === 'string') return unknown(tests);
  const { sandbox, signal } = context;
  if (sandbox === null) return unknown(because('no_sandbox'));
  if (tests.kind !== 'program' && context.fresh) return unknown(because('workspace_gone'));
  if (signal.aborted) return unknown(because('stopped'));
  // what the model left running could change the tests while they run
  if (!context.fresh) await Promise.all(sandbox.processes.list().map((one) => one.kill()));
  const code = await codeOf(subject, context, sandbox, tests.kind === 'program');
  if (code !== null && code.length > MAX_CODE_CHARS) return { value: 0, detail: because('code_too_long') };
  const folder = await scratch(sandbox);
  const run = (command: string, workdir?: string): Promise<CommandResult> => sandbox.run(command, { timeoutMs: rule.seconds * 1000, signal, pristine: true, workdir: workdir ?? '.' });
  try {
    if (tests.kind === 'command') return await runCommand(`${inFolder(subject.row['cwd'])}${tests.command}`, { sandbox, folder, code, seconds: rule.seconds, run });
    const program = tests.kind === 'path' ? await fileIn(sandbox, tests.path) : tests.program;
    if (program === null) return { value: 0, detail: because('no_file', { path: (tests as { path: string }).path }) };
    if (tests.kind === 'program' && code === null) return { value: 0, detail: because('no_code') };
    const nonce = randomBytes(24).toString('hex');
    const task = { nonce, prompt: codeOfPrompt(subject), code: code ?? '', tests: program, entryPoint: entryPoint(subject), each: rule.each, inWorkspace: tests.kind === 'path' };
    await writeFile(join(sandbox.root, folder, 'task.json'), JSON.stringify(task), { flag: 'wx' });
    await writeFile(join(sandbox.root, folder, 'harness.py'), HARNESS, { flag: 'wx' });
    const result = await run(`${PYTHON} -I harness.py`, folder);
    if (result.aborted) return unknown(because('stopped'));
    if (result.exitCode === 127 || result.exitCode === 9009) return unknown(because('no_python'), { output: shownOutput(result.output) });
    return verdictOf(readHarness(result.output, nonce), result, rule);
  } finally {
    await removeFolder(join(sandbox.root, folder)).catch(() => undefined);
  }
}

function verdictOf(report: { passed: number; total: number; output: string } | null, result: CommandResult, { each, seconds }: RuleOf<'tests'>): Verdict {
  const output = shownOutput(report?.output ?? result.output);
  const ended = { ms: result.durationMs, ...(output === '' ? {} : { output }) };
  const why = result.timedOut ? because('time_up', { seconds }) : report === null ? because('ended_early', { exitCode: result.exitCode }) : {};
  if (report === null) return { value: 0, detail: { ...why, ...ended } };
  const { passed, total } = report;
  return { value: each ? passed / Math.max(1, total) : passed === total && total > 0 && !result.timedOut ? 1 : 0, detail: { passed, total, ...why, ...ended } };
}

/** A command in the workspace passes with exit code 0; pytest must also have reported that it ran tests, for code can end it early. */
async function runCommand(
  command: string,
  { sandbox, folder, code, seconds, run }: { sandbox: Sandbox; folder: string; code: string | null; seconds: number; run: (command: string) => Promise<CommandResult> },
): Promise<Verdict> {
  if (code !== null) await writeFile(join(sandbox.root, 'solution.py'), code.toWellFormed(), { flag: 'wx' }).catch(() => undefined);
  const pytest = /\bpytest\b/.test(command) && process.platform !== 'win32';
  const report = `${folder}/report.xml`;
  const result = await run(pytest ? `export PYTEST_ADDOPTS="-p no:cacheprovider --junitxml=$PWD/${report}"; ${command}` : command);
  if (result.aborted) return unknown(because('stopped'));
  const output = shownOutput(result.output);
  const detail = { exitCode: result.exitCode, ms: result.durationMs, ...(output === '' ? {} : { output }) };
  if (result.timedOut) return { value: 0, detail: { ...because('time_up', { seconds }), ...detail } };
  if (result.exitCode === 127 || (pytest && /No module named pytest/.test(result.output))) return unknown(because('no_command'), detail);
  if (!pytest || result.exitCode !== 0) return { value: result.exitCode === 0 ? 1 : 0, detail };
  const counts = readJunit(await readCapped(join(sandbox.root, report)));
  if (counts === null) return { value: 0, detail: { ...because('no_report'), ...detail } };
  const { passed, total } = counts;
  return { value: passed > 0 && passed === total ? 1 : 0, detail: { passed, total, ...detail } };
}

/** The code block of the final answer, else what the workspace has as `solution.py`, else (with `whole`) all of the answer. */
async function codeOf(subject: ScoreSubject, { fresh }: ScoreContext, sandbox: Sandbox, whole: boolean): Promise<string | null> {
  const answer = codeOfAnswer(subject);
  if (answer?.fenced) return answer.code;
  const file = fresh ? null : await fileIn(sandbox, 'solution.py');
  return file ?? (whole ? answer?.code : null) ?? null;
}

async function fileIn(sandbox: Sandbox, path: string): Promise<string | null> {
  try {
    return await readCapped(await sandbox.resolve(path));
  } catch {
    return null;
  }
}

/** Null when there is no such file; what is larger than code may be comes cut, which is longer than it may be. */
async function readCapped(path: string): Promise<string | null> {
  const file = await open(path, 'r').catch(() => null);
  if (file === null) return null;
  try {
    if (!(await file.stat()).isFile()) return null;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4 * MAX_CODE_CHARS + 4), 0, 4 * MAX_CODE_CHARS + 4, 0);
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** A new folder within the workspace. */
async function scratch(sandbox: Sandbox): Promise<string> {
  for (;;) {
    const name = `score-${randomBytes(6).toString('hex')}`;
    try {
      await mkdir(join(sandbox.root, name));
      // the user of a container is another one, and the program takes its own files away
      await chmod(join(sandbox.root, name), 0o777);
      return name;
    } catch (error) {
      if (errorCode(error) === 'ENOENT') await mkdir(sandbox.root, { recursive: true });
      else if (errorCode(error) !== 'EEXIST') throw error;
    }
  }
}

/** Commands of a row start where its agent started: in a folder of the workspace that the row names, when it is relative. */
function inFolder(cwd: unknown): string {
  return typeof cwd !== 'string' || cwd === '' || isAbsolute(cwd) || process.platform === 'win32' ? '' : `cd -- '${cwd.replaceAll("'", "'\\''")}' || exit 126; `;
}

function entryPoint({ row }: ScoreSubject): string | null {
  const name = row['entry_point'];
  return typeof name === 'string' && name.trim() !== '' ? name.trim() : null;
}

function shownOutput(output: string): string {
  return shown(output.trim(), OUTPUT_SHOWN_CHARS);
}
