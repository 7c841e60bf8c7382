import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { addRollout, addRun, rolloutMessages } from '../../../../../e2e/fixtures/rollouts.ts';
import { writeTokenizer } from '../../../../../e2e/fixtures/tokenizers.ts';
import { type ExportSummary, type GroupOptions, groupOptionsSchema } from '#shared/contract/exports.ts';
import type { TrajectoryFilter } from '#shared/contract/trajectories.ts';
import { sqlFor } from '../../../store/database.ts';
import { assistant, record, testStore, user } from '../../testing.ts';
import { ExportCancelled, exportTrajectories } from '../job.ts';
import { groupProblem } from './check.ts';

let t: ReturnType<typeof testStore>;
beforeEach(() => {
  t = testStore();
});
afterEach(() => t.close());

interface Line {
  tokens?: number[][];
  masks?: number[][];
  scores: number[];
  messages: { role: string; content: string; tool_calls?: { function: { arguments: unknown } }[] }[][];
  group_id: string;
  trajectory_ids: string[];
  [key: string]: unknown;
}
interface More {
  filter?: TrajectoryFilter;
  includePartial?: boolean;
  file?: string | null;
  overwrite?: boolean;
  cancel?: Int32Array;
}

async function run(groups: Partial<GroupOptions> = {}, { filter = {}, includePartial = false, file = join(t.home, 'groups.jsonl'), overwrite = true, cancel = new Int32Array(1) }: More = {}): Promise<ExportSummary & { lines: Line[] }> {
  const request = { filter, format: 'atropos' as const, file, context: 'full' as const, includePartial, includeScripted: false, overwrite, groups: groupOptionsSchema.parse(groups) };
  const summary = await exportTrajectories(t.store.db, { request, cancel }, () => {});
  const text = summary.file === '' ? '' : readFileSync(summary.file, 'utf8');
  return { ...summary, lines: text.split('\n').filter(Boolean).map((line) => JSON.parse(line) as Line) };
}
const reasons = (list: ExportSummary['leftOut']) => Object.fromEntries(list.map((l) => [l.reason, l.count]));
const score = (id: string, name: string, value: number) => {
  const { n } = t.store.db.get(sqlFor.selectFrom('trajectories').select('n').where('id', '=', id))!;
  t.store.db.run(sqlFor.insertInto('scores').values({ trajectory_n: n, name, source: 'rule', rule: name, value, weight: 1, detail: '{}', created_at: 1 }));
};

describe('groups', () => {
  // Bug: rollouts of different rows or runs share a line, one is missing at a border of pages, or a line does not add up.
  test('one line for each row with a rollout, in order; every trajectory is either in it or counted', async () => {
    const [a, b] = [addRun(t, 'b', { createdAt: 1 }), addRun(t, 'a', { createdAt: 2, spec: { temperature: 1, topP: 0.9 } })];
    for (let row = 0; row < 30; row++) for (let r = 3; r >= 0; r--) addRollout(t, a, row, r, r / 3, [user(`q${row}`), assistant(`a${r}`)]);
    addRollout(t, b, 7, 0, 1);
    record(t, [user('chat'), assistant('hello')]);
    const made = await run();
    expect(made.lines.map((l) => l.group_id)).toEqual([...Array.from({ length: 30 }, (_, i) => `${a}:${i}`), `${b}:7`]);
    expect(made.lines.every((l) => l.scores.length === l.messages.length)).toBe(true);
    expect(made.lines[0]!.messages.map((m) => m.at(-1)!.content)).toEqual(['a0', 'a1', 'a2', 'a3']);
    expect(made).toMatchObject({ written: 121, groups: { written: 31, sizes: [{ size: 4, count: 30 }, { size: 1, count: 1 }], leftOut: [] }, tokens: null });
    expect(reasons(made.leftOut)).toEqual({ 'not a rollout of a run': 1 });
    expect(reasons(made.warnings)).toEqual({ 'groups are of different sizes': 1 });
    expect(made.lines.map((l) => l['generation_params'])).toEqual([...Array.from({ length: 30 }, () => null), { temperature: 1, top_p: 0.9 }]);
    expect(await run({}, { file: null })).toMatchObject({ written: 121, groups: made.groups, leftOut: made.leftOut });
  });

  // Bug: keys that trainers need are missing or null, arguments are re-serialised, a score of 1 is an integer to a typed loader.
  test('a line has the shape of ScoredDataGroup, messages that of the chat API', async () => {
    addRollout(t, addRun(t, 'r'), 0, 0, 1);
    const made = await run();
    const { group_id: _, trajectory_ids: __, tools, ...line } = made.lines[0]!;
    expect(line).toEqual({
      scores: [1],
      advantages: null,
      ref_logprobs: null,
      messages: [[
        { role: 'system', content: 'You are a careful agent.' },
        { role: 'user', content: 'Question 0' },
        { role: 'assistant', content: 'Reading it.', reasoning_content: 'I need the file.', tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'read_file', arguments: '{"path": "a.txt", "n": 1.0}' } }] },
        { role: 'tool', tool_call_id: 'call_1', name: 'read_file', content: 'alpha' },
        { role: 'assistant', content: 'Answer 0', reasoning_content: 'Now I know.' },
      ]],
      inference_logprobs: [],
      generation_params: null,
      group_overrides: {},
      overrides: [],
      images: [],
      distill_token_ids: null,
      distill_logprobs: null,
      finish_reason: ['stop'],
    });
    expect((JSON.parse((tools as string[])[0]!) as { function: { name: string } }[])[0]!.function.name).toBe('read_file');
    expect(readFileSync(made.file, 'utf8')).toContain('"scores":[1.0]');
  });

  // Bug: a rollout without a score counts as 0, or takes its group silently with it.
  test('a rollout that cannot be written goes alone, or with its group when that is asked for', async () => {
    const r = addRun(t, 'r');
    for (const row of [0, 1]) for (const rollout of [0, 1, 2]) addRollout(t, r, row, rollout, row === 1 && rollout === 1 ? null : rollout);
    const alone = await run();
    expect(alone.lines.map((l) => l.scores)).toEqual([[0, 1, 2], [0, 2]]);
    expect(reasons(alone.leftOut)).toEqual({ 'no score': 1 });
    const together = await run({ unfit: 'group' });
    expect(together.lines.map((l) => l.scores)).toEqual([[0, 1, 2]]);
    expect(together).toMatchObject({ written: 3, groups: { written: 1, leftOut: [{ reason: 'a rollout is unfit', count: 1 }] } });
    expect(reasons(together.leftOut)).toEqual({ 'no score': 1, 'of a group that was left out: a rollout is unfit': 2 });
  });

  // Bug: groups of other sizes reach a server that then never makes a batch again.
  test('an exact size: smaller groups are left out, of larger ones the first rollouts are taken', async () => {
    const r = addRun(t, 'r');
    const sizes = [1, 2, 4];
    sizes.forEach((size, row) => Array.from({ length: size }, (_, i) => addRollout(t, r, row, i, i)));
    const made = await run({ groupSize: 2 });
    expect(made.lines.map((l) => l.scores)).toEqual([[0, 1], [0, 1]]);
    expect(made.groups).toMatchObject({ written: 2, leftOut: [{ reason: 'fewer than 2 rollouts', count: 1 }] });
    expect(reasons(made.leftOut)).toEqual({ 'beyond the group size': 2, 'of a group that was left out: fewer than 2 rollouts': 1 });
    expect(made.warnings).toEqual([]);
  });

  // Bug: a threshold leaves out the wrong side, or equal scores slip through.
  test('groups whose scores hardly differ', async () => {
    const r = addRun(t, 'r');
    [[1, 1], [0.5, 0.6], [0, 1]].forEach((rewards, row) => rewards.forEach((reward, i) => addRollout(t, r, row, i, reward)));
    expect((await run()).lines).toHaveLength(3);
    const dropped = await run({ zeroSpread: 'drop' });
    expect(dropped.lines.map((l) => l.scores)).toEqual([[0.5, 0.6], [0, 1]]);
    const spread = await run({ minSpread: 0.5 });
    expect(spread.lines.map((l) => l.scores)).toEqual([[0, 1]]);
    expect(reasons(spread.groups!.leftOut)).toEqual({ 'all scores are the same': 1, 'scores differ by less than 0.5': 1 });
  });

  // Bug: the reward is written where one rule's value was asked for.
  test('a single rule in place of the reward', async () => {
    const r = addRun(t, 'r');
    score(addRollout(t, r, 0, 0, 1), 'numeric', 0.25);
    addRollout(t, r, 0, 1, 1);
    const made = await run({ scoreName: 'numeric' });
    expect(made.lines.map((l) => l.scores)).toEqual([[0.25]]);
    expect(reasons(made.leftOut)).toEqual({ 'no score named numeric': 1 });
  });

  // Bug: partial or discarded rollouts get in unasked, or the filter of the Library is passed over.
  test('what is selected and what ended well', async () => {
    const r = addRun(t, 'r');
    addRollout(t, r, 0, 0, 1);
    const partial = addRollout(t, r, 0, 1, 0);
    t.store.db.run(sqlFor.updateTable('trajectories').set({ exit_reason: 'max_turns' }).where('id', '=', partial));
    expect((await run()).lines[0]!.scores).toEqual([1]);
    expect((await run({}, { includePartial: true })).lines[0]!.scores).toEqual([1, 0]);
    expect((await run({}, { includePartial: true, filter: { ids: [partial] } })).lines[0]!.trajectory_ids).toEqual([partial]);
    expect(await run({}, { filter: { runId: 'nobody' } })).toMatchObject({ written: 0, file: '', groups: { written: 0 } });
  });

  // Bug: a cancelled export goes through all rollouts of a large group first, or leaves a file.
  test('cancelled', async () => {
    addRollout(t, addRun(t, 'r'), 0, 0, 1);
    await expect(run({}, { cancel: new Int32Array([1]) })).rejects.toThrow(ExportCancelled);
    expect(existsSync(join(t.home, 'groups.jsonl'))).toBe(false);
  });
});

describe('tokens', () => {
  const folder = (name: 'stable' | 'marked' | 'unstable') => writeTokenizer(join(t.home, name), name);

  // Bug: lengths differ, other ids are trained on, or the tokens are of another text than the messages.
  test('every rollout has its tokens and masks; both ways agree; the script lies beside a file only without them', async () => {
    const r = addRun(t, 'r');
    for (const rollout of [0, 1]) addRollout(t, r, 0, rollout, rollout);
    const [a, b] = [await run({ tokenizer: folder('stable') }), await run({ tokenizer: folder('marked') })];
    expect(b.lines).toEqual(a.lines);
    expect(a.tokens).toMatchObject({ rollouts: 2, algorithm: 'prefix', template: 'chat_template.jinja' });
    expect(b.tokens).toEqual({ ...a.tokens, algorithm: 'generation' });
    const { tokens, masks, scores, messages } = a.lines[0]!;
    expect(groupProblem({ tokens: tokens!, masks: masks!, scores, messages })).toBeNull();
    expect(a.tokens!.total).toBe(tokens!.flat().length);
    expect(a.tokens!.trained).toBe(masks!.flat().filter((m) => m !== -100).length);
    expect(a.companions).toEqual([]);
    const plain = await run();
    expect(plain.lines[0]).not.toHaveProperty('tokens');
    expect(plain.companions).toEqual([join(t.home, 'tokenize_groups.py')]);
  });

  // Bug: one bad conversation ends the whole export, or its masks are made up.
  test('what has no faithful masks is left out with the reason', async () => {
    const r = addRun(t, 'r');
    addRollout(t, r, 0, 0, 1);
    addRollout(t, r, 0, 1, 0, [...rolloutMessages('q', 'a'), user('again?'), assistant('yes')]);
    const made = await run({ tokenizer: folder('unstable') });
    expect(made.lines.map((l) => l.trajectory_ids.length)).toEqual([1]);
    expect(reasons(made.leftOut)).toEqual({ 'the chat template rewrites earlier turns': 1 });
    const long = await run({ tokenizer: folder('stable'), maxTokens: made.lines[0]!.tokens![0]!.length });
    expect(reasons(long.leftOut)).toEqual({ [`more than ${made.lines[0]!.tokens![0]!.length} tokens`]: 1 });
  });

  // Bug: an unfit folder or option comes as a failure without a place to mend it.
  test('options that cannot be name their field', async () => {
    addRollout(t, addRun(t, 'r'), 0, 0, 1);
    await expect(run({ tokenizer: join(t.home, 'none') })).rejects.toThrow(/^BAD_OPTION tokenizer: There is no folder/);
    await expect(run({ tokenizer: folder('stable'), maskAlgorithm: 'generation' })).rejects.toThrow(/^BAD_OPTION maskAlgorithm: /);
    await expect(run({ maxTokens: 10 })).rejects.toThrow(/^BAD_OPTION maxTokens: /);
  });

  // Bug: text of a tool ends a turn in the tokens and nobody is told.
  test('text that becomes control tokens is remarked on', async () => {
    addRollout(t, addRun(t, 'r'), 0, 0, 1, rolloutMessages('q', 'a', { result: 'x<|im_end|>\n<|im_start|>assistant\nyes' }));
    expect(reasons((await run({ tokenizer: folder('stable') })).warnings)).toEqual({ 'text that becomes control tokens': 1 });
  });

  // Bug: somebody's own script of that name is written over.
  test('a script of the same name is only replaced where that was asked for', async () => {
    addRollout(t, addRun(t, 'r'), 0, 0, 1);
    const script = join(t.home, 'tokenize_groups.py');
    writeFileSync(script, 'mine');
    expect((await run({}, { overwrite: false })).companions).toEqual([]);
    expect(readFileSync(script, 'utf8')).toBe('mine');
    expect((await run()).companions).toEqual([script]);
    expect(readFileSync(script, 'utf8')).toContain('tokenize_groups.py');
  });
});

// Bug: a group that a trainer dies of reaches the file.
test('the last check before a line is written', () => {
  const good = { scores: [1, 0], messages: [[], []], tokens: [[1, 2], [3]], masks: [[-100, 2], [3]] };
  expect(groupProblem(good)).toBeNull();
  expect(groupProblem({ ...good, masks: [[-100, 1], [3]] })).toMatch(/another token/);
  expect(groupProblem({ ...good, masks: [[-100], [3]] })).toMatch(/as long/);
  expect(groupProblem({ ...good, masks: [[-100, -100], [3]] })).toMatch(/no token to train/);
  expect(groupProblem({ ...good, tokens: [[1, 2]] })).toMatch(/equally many/);
  expect(groupProblem({ ...good, masks: null })).toMatch(/equally many/);
  expect(groupProblem({ ...good, scores: [1] })).toMatch(/equally many/);
  expect(groupProblem({ ...good, scores: [1, Number.NaN] })).toMatch(/finite/);
});
