import { afterEach, beforeEach, expect, it } from 'vitest';
import { isToolFailure } from './failure.ts';
import { processTool } from './process.ts';
import { terminalTool } from './terminal.ts';
import { openBench } from './testing.ts';
import type { Bench } from './testing.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await openBench();
});
afterEach(() => bench.close());
const process_ = (args: Record<string, unknown>): Promise<Record<string, unknown>> => bench.call(processTool, args);
async function start(command: string): Promise<string> {
  const result = await bench.call(terminalTool, { command, background: true });
  expect(result).toEqual({ session_id: expect.stringMatching(/^proc_/), pid: expect.any(Number), error: null });
  return result.session_id as string;
}

it('starts at once, takes input, gives new output once, and says how it ended', async () => {
  const id = await start('while read line; do echo "got $line"; [ "$line" = end ] && exit 3; done');
  expect(await process_({ action: 'list' })).toMatchObject({ processes: [{ session_id: id, running: true, exit_code: null }] });
  expect(await process_({ action: 'write', session_id: id, data: 'par' })).toMatchObject({ running: true });
  await process_({ action: 'submit', session_id: id, data: 'tial' });
  await expect.poll(async () => (await process_({ action: 'log', session_id: id })).output).toBe('got partial');
  expect(await process_({ action: 'poll', session_id: id })).toMatchObject({ output: 'got partial\n' });
  await process_({ action: 'submit', session_id: id, data: 'end' });
  expect(await process_({ action: 'wait', session_id: id })).toMatchObject({ running: false, exit_code: 3, output: 'got end\n' });
  const late = await process_({ action: 'submit', session_id: id, data: 'x' });
  expect(late.error).toMatch(/has ended/);
});

it('outlives the call that started it, and is ended by kill', async () => {
  const id = await start('echo up; exec sleep 300');
  await bench.call(terminalTool, { command: 'true' });
  expect(await process_({ action: 'wait', session_id: id, timeout: 1 })).toMatchObject({ running: true, output: 'up\n', note: expect.stringContaining('still runs') });
  expect(await process_({ action: 'kill', session_id: id })).toMatchObject({ running: false, exit_code: null });
});

it('shows the last 200 lines, or lines from an offset', async () => {
  const id = await start('seq 1 500');
  await process_({ action: 'wait', session_id: id });
  const last = await process_({ action: 'log', session_id: id });
  expect(last).toMatchObject({ total_lines: 500, lines: '301-500' });
  expect((last.output as string).split('\n')).toHaveLength(200);
  expect(await process_({ action: 'log', session_id: id, offset: 10, limit: 3 })).toMatchObject({ output: '10\n11\n12', lines: '10-12' });
});

it('is no failure of the tool when the program fails, and stays below the cap of results', async () => {
  const id = await start(`yes '"' | head -c 300000; exit 1`);
  const result = await process_({ action: 'wait', session_id: id });
  expect(result).toMatchObject({ exit_code: 1, output: expect.stringContaining('left out here') });
  expect(isToolFailure(JSON.stringify(result))).toBe(false);
  expect(JSON.stringify(result).length).toBeLessThan(100_000);
});

it('says which processes there are when one is not', async () => {
  expect((await process_({ action: 'poll', session_id: 'proc_nope' })).error).toMatch(/There are none; start one with terminal/);
  const id = await start('true');
  expect((await process_({ action: 'poll' })).error).toContain(id);
  expect((await process_({ action: 'write', session_id: id })).error).toMatch(/"data"/);
});

it('stops waiting when the run is interrupted, and the process goes on', async () => {
  const id = await start('exec sleep 300');
  const stop = new AbortController();
  const waiting = processTool.run({ action: 'wait', session_id: id, timeout: 3000 }, { ...bench.context, signal: stop.signal });
  stop.abort();
  expect(JSON.parse(await waiting)).toMatchObject({ error: expect.stringContaining('goes on') });
  expect(await process_({ action: 'poll', session_id: id })).toMatchObject({ running: true });
});
