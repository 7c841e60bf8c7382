import { MAX_TRIAL_PROMPTS, type TrialPrompt, type TrialSpecInput } from '#shared/contract/trials.ts';
import { parseScoreRules } from '#shared/scoring.ts';

/** What is typed, as it is typed. */
export interface TrialForm {
  /** One prompt a line. */
  text: string;
  /** Rows of a file in place of the text. */
  file: { name: string; prompts: TrialPrompt[]; rows: number } | null;
  provider: string;
  model: string;
  reasoningEffort: TrialSpecInput['reasoningEffort'];
  toolsets: string[];
  runByName: boolean;
  maxTurns: string;
  concurrency: string;
  temperature: string;
  seed: string;
  budget: string;
  /** One rule a line. */
  scoring: string;
  sandbox: 'host' | 'bubblewrap';
}

export const EMPTY_FORM: Omit<TrialForm, 'provider' | 'model'> = {
  text: '', file: null, reasoningEffort: null, toolsets: ['terminal', 'file', 'todo'], runByName: false, maxTurns: '20', concurrency: '2', temperature: '', seed: '', budget: '', scoring: '', sandbox: 'host',
};

export type FormField = 'prompts' | 'model' | 'maxTurns' | 'concurrency' | 'temperature' | 'seed' | 'budget' | 'scoring';

export function promptsOf({ text, file }: Pick<TrialForm, 'text' | 'file'>): TrialPrompt[] {
  if (file) return file.prompts;
  return text.split('\n').map((line) => line.trim()).filter((line) => line !== '').map((prompt) => ({ prompt, row: {} }));
}

/** What a row of a dataset brings besides its prompt: how many further turns of the person, and what is its own. */
export function rowExtras(row: Readonly<Record<string, unknown>>): { turns: number; system: boolean; tools: boolean } {
  const { prompts, system, tools, toolsets } = row;
  const turns = (Array.isArray(prompts) ? prompts : [prompts]).filter((turn) => typeof turn === 'string' && turn.trim() !== '').length;
  const given = (value: unknown): boolean => value !== undefined && value !== null && value !== '';
  return { turns, system: typeof system === 'string' && system.trim() !== '', tools: given(tools) || given(toolsets) };
}

/** What is asked for; or the fields that cannot be used, each with the key of a sentence. */
export function specOf(skillId: string, form: TrialForm): { spec: TrialSpecInput } | { wrong: Partial<Record<FormField, string>> } {
  const wrong: Partial<Record<FormField, string>> = {};
  const prompts = promptsOf(form);
  if (prompts.length === 0) wrong.prompts = 'none';
  else if (prompts.length > MAX_TRIAL_PROMPTS) wrong.prompts = 'many';
  if (form.provider === '' || form.model.trim() === '') wrong.model = 'none';
  const number = (field: FormField, text: string, min: number, max: number, whole: boolean): number | null => {
    if (text.trim() === '') return null;
    const value = Number(text.trim());
    if (Number.isFinite(value) && value >= min && value <= max && (!whole || Number.isInteger(value))) return value;
    wrong[field] = 'number';
    return null;
  };
  const maxTurns = number('maxTurns', form.maxTurns, 1, 200, true);
  const concurrency = number('concurrency', form.concurrency, 1, 16, true);
  const temperature = number('temperature', form.temperature, 0, 2, false);
  const seed = number('seed', form.seed, 0, 2_147_483_647, true);
  const budgetUsd = number('budget', form.budget, 0.000_001, 1_000_000, false);
  const scoring = form.scoring.split('\n').map((line) => line.trim()).filter((line) => line !== '');
  try {
    parseScoreRules(scoring);
  } catch {
    wrong.scoring = 'rule';
  }
  if (Object.keys(wrong).length > 0) return { wrong };
  return {
    spec: {
      skillId, prompts, provider: form.provider, model: form.model.trim(), temperature, reasoningEffort: form.reasoningEffort ?? null, toolsets: form.toolsets, runByName: form.runByName, scoring, budgetUsd, sandbox: form.sandbox,
      ...(seed === null ? {} : { seed }),
      ...(maxTurns === null ? {} : { maxTurns }),
      ...(concurrency === null ? {} : { concurrency }),
    },
  };
}
