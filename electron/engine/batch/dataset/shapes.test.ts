import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DatasetOptions, type DatasetRow, inspectDataset, readDataset } from '../dataset.ts';

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), 'shapes-test-'));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

let files = 0;
function file(list: object[]): string {
  const path = join(dir, `${(files += 1)}.jsonl`);
  writeFileSync(path, list.map((row) => `${JSON.stringify(row)}\n`).join(''));
  return path;
}

async function rows(list: object[], options: DatasetOptions = {}): Promise<DatasetRow[]> {
  const found: DatasetRow[] = [];
  for await (const item of readDataset(file(list), options)) if (item.type === 'row') found.push(item);
  return found;
}

const ten = <T>(make: (i: number) => T): T[] => Array.from({ length: 10 }, (_, i) => make(i));

const gsm8k = ten((i) => ({ question: `Ann has ${i} pears and buys 1,00${i}. How many has she?`, answer: `She has ${i} and buys 1,00${i}.\n<<${i}+1=${i + 1}>>\n#### 1,00${2 * i}` }));
const humaneval = ten((i) => ({
  task_id: `Made/${i}`,
  prompt: `from typing import List\n\n\ndef add_${i}(values: List[int]) -> int:\n    """ Sum of the values, and ${i}.\n    """\n`,
  canonical_solution: `    return sum(values) + ${i}\n`,
  test: `\n\nMETADATA = {}\n\n\ndef check(candidate):\n    assert candidate([1, 2]) == 3 + ${i}\n    assert candidate([]) == ${i}\n`,
  entry_point: `add_${i}`,
}));
const mbpp = ten((i) => ({ task_id: 600 + i, text: `Write a function to add ${i}.`, code: `def plus(x):\r\n  return x + ${i}`, test_list: [`assert plus(1) == BASE + ${i + 1}`, `assert plus(0) == BASE + ${i}`], test_setup_code: 'BASE = 0', challenge_test_list: [] }));
const sanitized = ten((i) => ({ source_file: 'made.ipynb', task_id: i, prompt: `Write a function to add ${i}.`, code: `def plus(x):\n  return x + ${i}`, test_imports: ['import math'], test_list: [`assert plus(math.floor(1.5)) == ${i + 1}`] }));
const math = ten((i) => ({ problem: `What is $\\frac{${i}}{2}$?`, level: `Level ${(i % 5) + 1}`, type: 'Algebra', solution: `First \\boxed{0}. It is $\\boxed{\\frac{${i}}{2}}$.` }));
const swe = ten((i) => ({
  repo: 'made/thing', instance_id: `made__Thing-${i}`, base_commit: `${i}abc`, patch: '--- a', test_patch: '--- b', problem_statement: `It breaks ${i}.`, hints_text: 'look there', version: '1.0', FAIL_TO_PASS: '["t::a", "t::b"]', PASS_TO_PASS: '[]', environment_setup_commit: 'def',
}));

/** What a run of the tests says of a solution. */
function passes(tests: unknown, solution: string): boolean {
  return (Array.isArray(tests) ? tests : [tests]).every((program) => {
    try {
      execFileSync('python3', ['-c', `${solution}\n\n${String(program)}`], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  });
}

test('GSM8K: the number behind #### is the answer, the solution stays out of the prompt', async () => {
  const [first] = await rows(gsm8k);
  expect(first).toMatchObject({ row: { answer: '1,000', info: { solution: gsm8k[0]!.answer } } });
  expect(first!.prompt).toMatch(/^Ann has 0 pears.*\n\nEnd your answer with a line that has only #### and the final number\.$/);
  expect(first!.prompt).not.toContain('1,000.\n<<');
  expect(await inspectDataset(file(gsm8k))).toMatchObject({ shape: 'gsm8k', rows: 10, suggestedScoring: ['numeric'], mapping: { prompt: ['question'], answer: ['answer'], info: ['answer'] }, problem: null });
});

// Bug: tests pass for everything because nothing calls them, or fail for a right solution.
test('HumanEval: tests are a program behind the solution', async () => {
  const found = await rows(humaneval);
  expect(found).toHaveLength(10);
  const { prompt, row } = found[3]!;
  expect(prompt).toContain(`\`\`\`python\n${humaneval[3]!.prompt.trimEnd()}\n\`\`\``);
  expect(row).toEqual({ id: 'Made/3', entry_point: 'add_3', tests: expect.stringMatching(/check\(add_3\)\n$/) as string, info: { stub: humaneval[3]!.prompt, canonical_solution: humaneval[3]!.canonical_solution } });
  const { info } = row as { info: { stub: string; canonical_solution: string } };
  expect([passes(row.tests, info.stub + info.canonical_solution), passes(row.tests, `${info.stub}    return 0\n`)]).toEqual([true, false]);
  expect(await inspectDataset(file(humaneval))).toMatchObject({ shape: 'humaneval', suggestedScoring: ['tests'] });
  const report = await inspectDataset(file([{ ...humaneval[0], entry_point: 'x); import os; (y' }, humaneval[1]!]));
  expect(report.rejected.map((r) => [r.code, r.reason])).toEqual([['column_type', '"entry_point" must be the name of a Python function; here it is another text.']]);
});

test('MBPP in both published forms: every assert with its set-up, shown to the model', async () => {
  const { prompt, row } = (await rows(mbpp))[2]!;
  expect(prompt).toMatch(/^Write a function to add 2\.[^]*assert plus\(1\) == BASE \+ 3\nassert plus\(0\)/);
  expect(row).toMatchObject({ id: 602, tests: ['BASE = 0\nassert plus(1) == BASE + 3', 'BASE = 0\nassert plus(0) == BASE + 2'], info: { code: mbpp[2]!.code } });
  expect(passes(row.tests, mbpp[2]!.code)).toBe(true);
  const clean = (await rows(sanitized))[4]!;
  expect([passes(clean.row.tests, sanitized[4]!.code), passes(clean.row.tests, sanitized[5]!.code)]).toEqual([true, false]);
  expect(await inspectDataset(file(sanitized))).toMatchObject({ shape: 'mbpp', suggestedScoring: ['tests'], rows: 10 });
});

test('MATH: the last box with its inner braces, or the column with the answer', async () => {
  const { prompt, row } = (await rows(math))[3]!;
  expect([prompt, row]).toEqual(['What is $\\frac{3}{2}$?\n\nPut your final answer in \\boxed{}.', { answer: '\\frac{3}{2}', level: 'Level 4', type: 'Algebra', info: { solution: math[3]!.solution } }]);
  const five = ten((i) => ({ problem: 'p', solution: 'no box', answer: `a_${i}`, subject: 'Algebra', level: 2, unique_id: `u/${i}.json` }));
  expect((await rows(five))[1]!.row).toEqual({ answer: 'a_1', id: 'u/1.json', subject: 'Algebra', level: 2, info: { solution: 'no box' } });
  expect(await inspectDataset(file(math))).toMatchObject({ shape: 'math', suggestedScoring: ['numeric'] });
});

test('SWE-bench: the issue without hints and patches; the image by its published name, when the row names none', async () => {
  const { prompt, row } = (await rows(swe))[1]!;
  expect(prompt).toContain('<issue>\nIt breaks 1.\n</issue>');
  expect(prompt).not.toMatch(/look there|---/);
  expect(row).toEqual({
    id: 'made__Thing-1',
    version: '1.0',
    info: { repo: 'made/thing', base_commit: '1abc', image: 'swebench/sweb.eval.x86_64.made_1776_thing-1:latest', hints_text: 'look there', patch: '--- a', test_patch: '--- b', FAIL_TO_PASS: ['t::a', 't::b'], PASS_TO_PASS: [], environment_setup_commit: 'def' },
  });
  expect((await rows([{ ...swe[0], docker_image: 'me/it:1' }]))[0]!.row).toMatchObject({ image: 'me/it:1', info: { image: 'me/it:1' } });
});

// Bug: exports of the usual kinds need a script before they can be run.
test.each<[string, object, object]>([
  ['instruction and input', { instruction: 'Sum up.', input: 'A text.', output: 'It.' }, { prompt: 'Sum up.\n\nA text.', row: { answer: 'It.' } }],
  ['instruction with an empty input', { instruction: 'Sum up.', input: '', output: 'It.' }, { prompt: 'Sum up.', row: { answer: 'It.' } }],
  ['question and answer', { question: 'Who?', answer: 'Ann', topic: 'x' }, { prompt: 'Who?', row: { answer: 'Ann', topic: 'x' } }],
  ['messages', { messages: [{ role: 'system', content: 'Be brief.' }, { role: 'user', content: 'Hi' }, { role: 'assistant', content: 'Yo' }] }, { prompt: 'Hi', row: { system: 'Be brief.', answer: 'Yo' } }],
  ['conversations with two turns', { conversations: [{ from: 'human', value: 'One' }, { from: 'gpt', value: '1' }, { from: 'human', value: 'Two' }, { from: 'gpt', value: '2' }] }, { prompt: 'One', row: { prompts: ['Two'], answer: '2' } }],
  ['messages as JSON text with parts', { messages: JSON.stringify([{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }]) }, { prompt: 'Hi', row: {} }],
  ['a prompt that is a conversation', { prompt: [{ role: 'user', content: 'Hi' }], completion: 'Yo' }, { prompt: 'Hi', row: { answer: 'Yo' } }],
  ['several turns', { prompts: ['One', 'Two', 'Three'] }, { prompt: 'One', row: { prompts: ['Two', 'Three'] } }],
  ['columns of ours', { prompt: 'p', docker_image: 'a/b:1', toolsets: 'terminal, web', tools: [{ type: 'function', function: { name: 'read' } }], scoring: ['exact'], info: '{"a":1}' }, { prompt: 'p', row: { image: 'a/b:1', toolsets: ['terminal', 'web'], tools: ['read'], scoring: ['exact'], info: { a: 1 } } }],
])('plain: %s', async (_name, row, expected) => {
  const [found] = await rows([row]);
  expect({ prompt: found!.prompt, row: found!.row }).toEqual(expected);
});

// Bug: one row of another type brings down the run, or goes to the worker as it is.
test('a column of a wrong type refuses its row, with the name that the file has for it', async () => {
  const report = await inspectDataset(
    file([{ prompt: 'ok' }, { prompt: 123 }, { prompt: 'a', docker_image: 5 }, { prompt: 'b', prompts: ['x', 3] }, { prompt: 'c', tools: [7] }, { prompt: 'd', tests: 1 }, { prompt: 'e', id: true }, { prompt: 'f', scoring: {} }, { prompt: 'g', messages: 5 }]),
  );
  expect(report.rows).toBe(2);
  expect(report.rejected.map((r) => `${r.line}: ${r.reason}`)).toEqual([
    '2: "prompt" must be a text; here it is a number.',
    '3: "docker_image" must be a text; here it is a number.',
    '4: "prompts" must be a list of texts; here it is a list.',
    '5: "tools" must be a list of names; here it is a list.',
    '6: "tests" must be a text or a list of texts; here it is a number.',
    '7: "id" must be a text or a number; here it is true or false.',
    '8: "scoring" must be a text or a list of texts; here it is an object.',
  ]);
  expect(report.rejected[1]).toMatchObject({ code: 'column_type', params: { column: 'docker_image', kind: 'number', wanted: 'text' } });
});

test('what a person says of the columns goes before the shape and before our own names', async () => {
  const list = [{ prompt: 'theirs', ask: 'Mine?', answer: 'old', gold: '4', id: 7 }, { prompt: 'theirs', ask: 'And?', answer: 'old', gold: null, id: 7 }];
  const found = await rows(list, { columns: { prompt: 'ask', answer: 'gold' } });
  expect(found.map(({ prompt, row }) => ({ prompt, row }))).toEqual([{ prompt: 'Mine?', row: { id: 7, answer: '4' } }, { prompt: 'And?', row: { id: 7 } }]);
  const report = await inspectDataset(file(list), { columns: { prompt: 'ask', answer: 'gold' } });
  expect(report).toMatchObject({ duplicateIds: 1, duplicateId: '7', mapping: { prompt: ['ask'], answer: ['gold'], id: ['id'] }, suggestedScoring: ['numeric'] });
  expect(report.columns.find((c) => c.name === 'gold')).toEqual({ name: 'gold', kinds: ['string'], example: '4', to: ['answer'] });
  expect((await rows(gsm8k, { columns: { prompt: 'question' } }))[0]!.prompt).toBe(gsm8k[0]!.question);
});

test('a shape or mapping that the file does not have is refused for a run, and told with the columns to a person', async () => {
  await expect(rows(gsm8k, { shape: 'humaneval' })).rejects.toMatchObject({ code: 'invalid', field: 'datasetShape', message: expect.stringMatching(/not shaped like HumanEval: it lacks "prompt", "test", "entry_point"\. Its columns are "question", "answer"/) as string });
  await expect(rows(gsm8k, { columns: { prompt: 'q' } })).rejects.toMatchObject({ field: 'columns', message: expect.stringMatching(/no column "q"/) as string });
  await expect(rows(gsm8k, { columns: { propmt: 'question' } })).rejects.toMatchObject({ field: 'columns', message: expect.stringMatching(/"propmt" is none of the columns/) as string });
  await expect(rows([{ a: 1, b: 'x' }])).rejects.toMatchObject({ field: 'columns', message: expect.stringMatching(/no column that prompts could be taken from.*Say which one/) as string });
  expect(await inspectDataset(file([{ a: 1, b: 'x' }]))).toMatchObject({ rows: 0, rejectedCount: 0, problem: expect.stringMatching(/Say which one/) as string, columns: [{ name: 'a', kinds: ['number'], example: '1', to: [] }, { name: 'b' }] });
  expect(await rows(gsm8k, { shape: 'plain' })).toMatchObject(gsm8k.map((r) => ({ prompt: r.question, row: { answer: r.answer } })));
});
