import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { assistant, toolResult, user } from '../testing.ts';
import { FAILED_FILE, SAMPLES_FILE, saveTrajectory, trajectorySample } from './sample.ts';
import { convertScratchpadToThink, hasIncompleteScratchpad, splitReasoning } from './scratchpad.ts';

const detail = { tools: [{ name: 'terminal', description: '', parameters: {} }], model: 'm', exitReason: 'completed' as const, endedAt: 1_000, createdAt: 0 };

let folder = '';
beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'samples-')), 'data');
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

describe('saveTrajectory', () => {
  it('adds the row of the published format to the file of good ones (catches keys that readers of those files do not know)', async () => {
    const sample = trajectorySample(detail, [{ role: 'system', content: 'LIVE', createdAt: 0 }, user('q'), assistant('a\n\u2028')]);
    await saveTrajectory(sample, folder);
    await saveTrajectory(sample, folder);
    const lines = readFileSync(join(folder, SAMPLES_FILE), 'utf8').split('\n');
    expect(lines).toHaveLength(3);
    expect(lines[0]).toBe(lines[1]);
    const row = JSON.parse(lines[0]!) as Record<string, unknown>;
    expect(Object.keys(row)).toEqual(['conversations', 'timestamp', 'model', 'completed']);
    expect(row).toMatchObject({ timestamp: '1970-01-01T00:00:01.000Z', model: 'm', completed: true });
    expect(lines[0]).not.toMatch(/LIVE|\u2028/);
  });

  it('a malformed call or another end never counts as a success', async () => {
    const malformed = [user('q'), assistant('', { toolCalls: [{ id: 'a', name: 'terminal', arguments: '{' }] }), toolResult('a', 'terminal', 'e'), assistant('x')];
    await saveTrajectory(trajectorySample(detail, malformed), folder);
    await saveTrajectory(trajectorySample({ ...detail, exitReason: 'max_turns' }, [user('q'), assistant('a')]), folder);
    expect(readdirSync(folder)).toEqual([FAILED_FILE]);
    const rows = readFileSync(join(folder, FAILED_FILE), 'utf8').trimEnd().split('\n');
    expect(rows.map((row) => JSON.parse(row) as unknown)).toMatchObject([{ completed: false }, { completed: false }]);
    await saveTrajectory(trajectorySample(detail, malformed), folder, 'mine.jsonl');
    expect(readdirSync(folder)).toEqual([FAILED_FILE, 'mine.jsonl']);
  });
});

describe('scratchpads', () => {
  it('become think blocks; one that is not closed is known (catches reasoning that is lost, or taken for the answer)', () => {
    expect(convertScratchpadToThink('<REASONING_SCRATCHPAD>r</REASONING_SCRATCHPAD>a')).toBe('<think>r</think>a');
    expect(convertScratchpadToThink('a')).toBe('a');
    expect([hasIncompleteScratchpad('<REASONING_SCRATCHPAD>r'), hasIncompleteScratchpad('<REASONING_SCRATCHPAD>r</REASONING_SCRATCHPAD><REASONING_SCRATCHPAD>'), hasIncompleteScratchpad('<REASONING_SCRATCHPAD>r</REASONING_SCRATCHPAD>'), hasIncompleteScratchpad('')]).toEqual([true, true, false, false]);
    expect(splitReasoning('<think>\na\n</think>\n<REASONING_SCRATCHPAD>b</REASONING_SCRATCHPAD>\n<think></think>\nThe <think> tag.')).toEqual({ reasoning: 'a\n\nb', content: 'The <think> tag.' });
    expect(splitReasoning('The <think>x</think> tag.')).toEqual({ reasoning: '', content: 'The <think>x</think> tag.' });
  });
});
