import { mkdir, readFile, readdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { patchTool } from './patch.ts';
import { readFileTool } from './read-file.ts';
import { searchFilesTool } from './search-files.ts';
import { terminalTool } from './terminal.ts';
import { openBench } from './testing.ts';
import type { Bench } from './testing.ts';
import type { ApprovalRequest, Tool } from './types.ts';
import { writeFileTool } from './write-file.ts';

let bench: Bench;
let outside: string;
let asked: ApprovalRequest[];
beforeEach(async () => {
  bench = await openBench();
  outside = join(bench.folder, 'outside');
  await mkdir(outside);
  await writeFile(join(outside, 'notes.txt'), 'a note\n');
  asked = [];
});
afterEach(() => bench.close());

/** Calls a tool where a person answers with `answer`. */
function call(tool: Tool, args: Record<string, unknown>, answer = true): Promise<Record<string, unknown>> {
  bench.context.approve = (request) => {
    asked.push(request);
    return Promise.resolve(answer);
  };
  return bench.call(tool, args);
}

describe('a path outside the workspace', () => {
  it('asks for its folder, and is used when it was allowed', async () => {
    const path = join(outside, 'notes.txt');
    expect(await call(readFileTool, { path })).toMatchObject({ path, content: '     1|a note' });
    expect(asked).toEqual([{ what: 'path', subject: path, reason: expect.stringContaining('read_file wants to read'), key: `read:${outside}`, scope: `Read files in ${outside}` }]);
    expect(await call(writeFileTool, { path: '../outside/new.txt', content: 'x' })).toMatchObject({ path: join(outside, 'new.txt'), created: true });
    expect(asked[1]).toMatchObject({ key: `write:${outside}`, subject: join(outside, 'new.txt') });
    expect(await call(searchFilesTool, { pattern: 'note', path: outside })).toMatchObject({ matches: [{ path, text: 'a note' }] });
    expect(await call(searchFilesTool, { pattern: '*.txt', target: 'files', path: outside })).toMatchObject({ total_count: 2 });
    expect((await call(terminalTool, { command: 'pwd', workdir: outside })).output).toBe(`${outside}\n`);
    expect(asked.slice(2).map(({ key }) => key)).toEqual([`read:${outside}`, `read:${outside}`, `write:${outside}`]);
  });

  it('asks too when a symlink in the workspace leads there', async () => {
    await symlink(outside, join(bench.context.sandbox.root, 'link'));
    await call(writeFileTool, { path: 'link/deep/x', content: 'x' }, false);
    expect(asked).toMatchObject([{ subject: join(outside, 'deep', 'x'), key: `write:${join(outside, 'deep')}` }]);
    expect(await readdir(outside)).toEqual(['notes.txt']);
  });

  it('is not touched when it was denied, and the model is told not to try another way', async () => {
    const path = join(outside, 'notes.txt');
    const results = [
      await call(readFileTool, { path }, false),
      await call(patchTool, { path, old_string: 'a', new_string: 'b' }, false),
      await call(searchFilesTool, { pattern: 'x', path: outside }, false),
      await call(terminalTool, { command: 'touch x', workdir: outside }, false),
    ];
    for (const { error } of results) expect(error).toMatch(/did not allow.*another way/);
    expect(await readdir(outside)).toEqual(['notes.txt']);
  });

  it('asks once for a folder in one patch', async () => {
    const patch = `*** Add File: ${outside}/a\n+x\n*** Add File: ${outside}/b\n+y\n*** Update File: ${outside}/notes.txt\n-a note\n+another`;
    expect(await call(patchTool, { mode: 'patch', patch })).toMatchObject({ success: true });
    expect(asked).toHaveLength(1);
    expect(await readFile(join(outside, 'notes.txt'), 'utf8')).toBe('another\n');
  });

  it('never asks for credentials', async () => {
    expect((await call(readFileTool, { path: '/etc/shadow' })).error).toMatch(/never opened/);
    expect(asked).toEqual([]);
  });
});

describe('a dangerous command', () => {
  it('asks once for each rule with the whole command, and runs when all are allowed', async () => {
    await bench.call(writeFileTool, { path: 'old', content: '' });
    const command = 'rm -rf ~/*; sudo -V >/dev/null 2>&1; rm -rf ~/.x*; touch made';
    expect(await call(terminalTool, { command })).toMatchObject({ exit_code: 0, error: null });
    expect(asked).toEqual([
      { what: 'command', subject: command, reason: 'This command may delete files outside the workspace.', key: 'command:delete_outside', scope: 'Delete files outside the workspace' },
      expect.objectContaining({ key: 'command:privileges', subject: command }),
    ]);
    expect(await readdir(bench.context.sandbox.root)).toEqual(['made']);
  });

  it('is not run when it was denied, also in the background', async () => {
    for (const background of [false, true]) {
      const result = await call(terminalTool, { command: 'touch ran; rm -rf ~/*', background }, false);
      expect(result).toEqual({ output: '', exit_code: -1, error: expect.stringMatching(/did not allow.*Delete files outside.*Nothing was run/) });
    }
    expect(await readdir(bench.context.sandbox.root)).toEqual([]);
  });

  it('counts from the folder that an earlier command went to', async () => {
    expect(await call(terminalTool, { command: 'cd /usr/share' })).toMatchObject({ cwd: '/usr/share' });
    await call(terminalTool, { command: 'touch -c not-there' }, false);
    expect(asked).toMatchObject([{ key: 'command:write_outside' }]);
  });
});

it('calls for a checkpoint before what changes files, and not before what only reads or fails', async () => {
  const reasons: string[] = [];
  const { root } = bench.context.sandbox;
  bench.context.services = { beforeChange: async (reason) => void reasons.push(`${reason} | ${(await readdir(root)).join(',')}`) };
  await bench.call(writeFileTool, { path: 'a', content: 'x' });
  await bench.call(readFileTool, { path: 'a' });
  await bench.call(patchTool, { path: 'a', old_string: 'nothing', new_string: 'y' });
  await bench.call(patchTool, { path: 'a', old_string: 'x', new_string: 'y' });
  await bench.call(terminalTool, { command: 'ls; cat a' });
  await bench.call(terminalTool, { command: 'rm a' });
  await bench.call(terminalTool, { command: 'sudo rm a' });
  expect(reasons).toEqual(['write_file a | ', 'patch a | a', 'terminal rm a | a']);
});
