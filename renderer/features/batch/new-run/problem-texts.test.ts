import { expect, test } from 'vitest';
import { RUN_OPTION_KEYS } from '#shared/run-options.ts';
import { problemText, readRunSpec, type OptionProblem } from '#shared/run-values.ts';
import en from '../locales/en.json';
import zh from '../locales/zh-CN.json';

/** Values that bring out every kind of problem. */
const WRONG: readonly Parameters<typeof readRunSpec>[0][] = [
  { runName: '../x', numWorkers: '0', maxFailures: 'x', temperature: '3', topP: '0', budgetUsd: '0', reasoningEffort: 'much', network: 'perhaps', baseUrl: 'x', columns: 'x', filters: ['nonsense'], sandbox: ['a'] },
  { datasetFile: 'a\0b', runName: 'con', model: 'm', providersAllowed: Array.from({ length: 101 }, (_, i) => `p${i}`) },
];

const fill = (text: string, { params }: OptionProblem): string => text.replace(/\{\{(\w+)\}\}/g, (_, name: string) => String(params[name]));

// Bug: the form says something else of a wrong option than the command line and run files do, or has no Chinese for it.
test('the form has the sentences of the command line', () => {
  const found = WRONG.flatMap((values) => Object.values(readRunSpec(values).problems ?? {}));
  const texts = en.runForm.problem;
  for (const problem of found) expect(fill(texts[problem.code], problem)).toBe(problemText(problem));
  const codes = new Set(found.map(({ code }) => code));
  expect([...codes, 'number_from'].toSorted()).toEqual(Object.keys(texts).toSorted());
  const holes = (text: string) => (text.match(/\{\{\w+\}\}/g) ?? []).toSorted();
  for (const code of codes) expect(holes(zh.runForm.problem[code]), code).toEqual(holes(texts[code]));
});

test('every option has its words in both languages', () => {
  for (const key of RUN_OPTION_KEYS) expect([en.runForm.label[key], zh.runForm.label[key]], key).toEqual([expect.stringMatching(/\S/), expect.stringMatching(/\S/)]);
});
