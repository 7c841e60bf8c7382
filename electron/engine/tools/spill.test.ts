import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isToolFailure } from './failure.ts';
import { readFileTool } from './read-file.ts';
import { runTool } from './registry.ts';
import { RESULT_CAP_CHARS } from './spill.ts';
import { type Bench, openBench } from './testing.ts';
import type { Tool } from './types.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench.close());

const answering = (text: string): Tool => ({ spec: { name: 'big', description: '', parameters: {} }, toolset: 'test', parallel: 'safe', run: () => Promise.resolve(text) });
const inWorkspace = (path: string): string => join(bench.context.sandbox.root, path);

describe('a result that is too long', () => {
  it('is kept whole in a file that read_file reads on in, by lines (a 20 MB result was lost)', async () => {
    const whole = Array.from({ length: 400_000 }, (_, i) => `line ${i + 1} ${'x'.repeat(40)} 😀`).join('\n');
    expect(Buffer.byteLength(whole)).toBeGreaterThan(20_000_000);
    const result = await runTool(answering(JSON.stringify({ output: whole, exit_code: 0, error: null })), {}, bench.context);
    expect(result.length).toBeLessThan(RESULT_CAP_CHARS);
    expect(isToolFailure(result)).toBe(false);
    const value = JSON.parse(result) as { output: string; exit_code: number; spilled: { path: string; lines: number; hint: string } };
    expect(value).toMatchObject({ exit_code: 0, spilled: { path: '.talaria/results/1-big.txt', lines: 400_000, characters: whole.length } });
    expect(value.output).toMatch(/^line 1 /);
    expect(value.output).toMatch(/line 400000 x+ 😀$/);
    expect(readFileSync(inWorkspace(value.spilled.path), 'utf8')).toBe(whole);
    const read = await bench.call(readFileTool, { path: value.spilled.path, offset: 399_000, limit: 1 });
    expect(read['content']).toContain('399000|line 399000 x');
  });

  it('lets others have their turn while it is written (the engine froze)', async () => {
    let turns = 0;
    const timer = setInterval(() => turns++, 0);
    await runTool(answering('x'.repeat(20_000_000)), {}, bench.context);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });

  it('that is plain text or nested JSON becomes a preview with the path; short ones stay untouched', async () => {
    const fits = 'y'.repeat(RESULT_CAP_CHARS);
    expect(await runTool(answering(fits), {}, bench.context)).toBe(fits);
    expect(existsSync(inWorkspace('.talaria'))).toBe(false);
    const text = await runTool(answering(`x${'😀'.repeat(60_000)}`), {}, bench.context);
    expect(text.isWellFormed()).toBe(true);
    expect(text).toContain('[The whole result is in .talaria/results/1-big.txt.');
    expect(text).toContain('too long for read_file');
    const rows = Array.from({ length: 5_000 }, (_, i) => ({ title: `row ${i}`, url: 'https://example.org/' }));
    await runTool(answering(JSON.stringify({ rows })), {}, bench.context);
    expect(JSON.parse(readFileSync(inWorkspace('.talaria/results/2-big.txt'), 'utf8'))).toEqual({ rows });
    expect(readFileSync(inWorkspace('.talaria/.gitignore'), 'utf8')).toBe('*\n');
  });

  it('is written once when it comes again, so that a repeated call still looks repeated', async () => {
    const text = 'z\n'.repeat(80_000);
    const first = await runTool(answering(text), {}, bench.context);
    expect(await runTool(answering(text), {}, bench.context)).toBe(first);
    expect(readdirSync(inWorkspace('.talaria/results'))).toEqual(['1-big.txt']);
  });

  it('does not overwrite what an earlier session left', async () => {
    mkdirSync(inWorkspace('.talaria/results'), { recursive: true });
    writeFileSync(inWorkspace('.talaria/results/7-terminal.txt'), 'old');
    expect(await runTool(answering('q'.repeat(200_000)), {}, bench.context)).toContain('results/8-big.txt');
  });

  it('is cut with a notice when it cannot be written, and never written through a link out of the workspace', async () => {
    symlinkSync(bench.folder, inWorkspace('.talaria'));
    const result = await runTool(answering(`x${'😀'.repeat(60_000)}`), {}, bench.context);
    expect(result.isWellFormed()).toBe(true);
    expect(result.indexOf('\n')).toBe(RESULT_CAP_CHARS - 1);
    expect(result).toContain(`Result cut: ${(120_001 - RESULT_CAP_CHARS + 1).toLocaleString('en-US')} more characters`);
    expect(existsSync(join(bench.folder, 'results'))).toBe(false);
  });
});
