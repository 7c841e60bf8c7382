import { afterEach, beforeEach, expect, it } from 'vitest';
import { isToolFailure } from './failure.ts';
import { readFileTool } from './read-file.ts';
import { terminalTool } from './terminal.ts';
import { openBench } from './testing.ts';
import type { Bench } from './testing.ts';
import { writeFileTool } from './write-file.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench.close());
const terminal = (args: Record<string, unknown>): Promise<Record<string, unknown>> => bench.call(terminalTool, args);

it('gives output and exit code; a failing command is no failure of the tool', async () => {
  expect(await terminal({ command: 'echo hi; echo oops >&2; exit 2' })).toEqual({ output: 'hi\noops\n', exit_code: 2, error: null });
  expect(isToolFailure(JSON.stringify(await terminal({ command: 'false' })))).toBe(false);
});

it('shows output while it comes', async () => {
  const seen: string[] = [];
  await terminalTool.run({ command: 'echo one; echo two' }, { ...bench.context, onOutput: (text) => seen.push(text) });
  expect(seen.join('')).toBe('one\ntwo\n');
});

it('kills after the timeout, keeps the output and says how to go on', async () => {
  const result = await terminal({ command: 'echo begun; sleep 300', timeout: 1 });
  expect(result).toMatchObject({ output: 'begun\n', exit_code: 124, error: expect.stringContaining('longer timeout') });
});

it('ends when the run is interrupted', async () => {
  const stop = new AbortController();
  const result = await terminalTool.run({ command: 'echo begun; sleep 300' }, { ...bench.context, signal: stop.signal, onOutput: () => stop.abort() });
  expect(JSON.parse(result)).toMatchObject({ output: 'begun\n', exit_code: 130, error: expect.stringContaining('interrupted') });
});

it('refuses dangerous commands with the reason and runs nothing of them', async () => {
  const result = await terminal({ command: 'touch ran; rm -rf ~' });
  expect(result).toEqual({ output: '', exit_code: -1, error: expect.stringMatching(/^Refused, nothing was run: Deleting "~"/) });
  expect((await terminal({ command: 'ls' })).output).toBe('');
});

it('runs in workdir, and answers for one that is outside, missing or absent', async () => {
  await terminal({ command: 'mkdir sub' });
  expect((await terminal({ command: 'basename "$PWD"', workdir: 'sub' })).output).toBe('sub\n');
  expect((await terminal({ command: 'rm -rf ../x', workdir: 'sub' })).error).toBeNull();
  expect((await terminal({ command: 'ls', workdir: '../..' })).error).toMatch(/outside the workspace/);
  expect((await terminal({ command: 'ls', workdir: 'nope' })).error).toMatch(/does not exist/);
  expect((await terminal({ command: ' ' })).error).toMatch(/empty/);
});

it('makes a repeated read reasonable again', async () => {
  await bench.call(writeFileTool, { path: 'a', content: 'x' });
  for (let i = 0; i < 3; i++) await bench.call(readFileTool, { path: 'a' });
  await terminal({ command: 'true' });
  expect(await bench.call(readFileTool, { path: 'a' })).toMatchObject({ content: '     1|x' });
});

it('stays whole JSON for output that doubles when escaped', async () => {
  const result = await terminal({ command: `yes '"' | head -c 200000` });
  expect(result).toMatchObject({ exit_code: 0, output: expect.stringContaining('left out here') });
});
