import { expect, test } from 'vitest';
import { EMPTY_FORM, rowExtras, specOf, type TrialForm } from './form.ts';

const form = (more: Partial<TrialForm>): TrialForm => ({ ...EMPTY_FORM, provider: 'p', model: 'm', text: 'One\n\n  Two  \n', ...more });

// Bug: blank lines are prompts; an empty field is 0 rather than left to its default.
test('lines are prompts, empty fields are left out', () => {
  expect(specOf('own/a', form({}))).toEqual({
    spec: { skillId: 'own/a', prompts: [{ prompt: 'One', row: {} }, { prompt: 'Two', row: {} }], provider: 'p', model: 'm', temperature: null, reasoningEffort: null, toolsets: ['terminal', 'file', 'todo'], runByName: false, scoring: [], budgetUsd: null, sandbox: 'host', maxTurns: 20, concurrency: 2 },
  });
  expect(specOf('own/a', form({ temperature: '0', seed: '7', budget: '0.5', scoring: 'exact\nlength:1..9*0.2' }))).toMatchObject({ spec: { temperature: 0, seed: 7, budgetUsd: 0.5, scoring: ['exact', 'length:1..9*0.2'] } });
});

// Bug: what cannot be used is sent, and the engine's refusal names no field.
test('says which fields cannot be used', () => {
  expect(specOf('own/a', form({ text: ' \n', model: '', maxTurns: '0', temperature: '3', seed: '1.5', budget: 'x', scoring: 'nonsense' }))).toEqual({ wrong: { prompts: 'none', model: 'none', maxTurns: 'number', temperature: 'number', seed: 'number', budget: 'number', scoring: 'rule' } });
  expect(specOf('own/a', form({ text: 'x\n'.repeat(51) }))).toEqual({ wrong: { prompts: 'many' } });
});

// Bug: a row's further turns and what else it brings are not told, or told of columns that are empty.
test('says what a row brings besides its prompt', () => {
  expect(rowExtras({ answer: '4' })).toEqual({ turns: 0, system: false, tools: false });
  expect(rowExtras({ prompts: null, system: ' ', tools: '', toolsets: null })).toEqual({ turns: 0, system: false, tools: false });
  expect(rowExtras({ prompts: ['a', ' ', 'b'], system: 'Be kind.', toolsets: [] })).toEqual({ turns: 2, system: true, tools: true });
  expect(rowExtras({ prompts: 'a', tools: 'terminal' })).toEqual({ turns: 1, system: false, tools: true });
});
