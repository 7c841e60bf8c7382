import type { ExportPreview, GroupOptions } from '#shared/contract/exports.ts';

/** The options of groups as they stand in the dialog: numbers and names as they were typed. */
export interface GroupForm extends Pick<GroupOptions, 'zeroSpread' | 'unfit' | 'maskAlgorithm'> {
  groupSize: string;
  minSpread: string;
  scoreName: string;
  tokenizer: string;
  maxTokens: string;
}

export const EMPTY_GROUP_FORM: GroupForm = { groupSize: '', minSpread: '', scoreName: '', tokenizer: '', maxTokens: '', zeroSpread: 'keep', unfit: 'rollout', maskAlgorithm: 'auto' };

/** Fields whose text is no value. */
export type GroupFormErrors = Partial<Record<'groupSize' | 'minSpread' | 'maxTokens', 'atLeastOne' | 'number'>>;

/** The form as the contract has it. A field that is wrong counts as empty; `errors` names it. */
export function readGroupForm(form: GroupForm): { options: GroupOptions; errors: GroupFormErrors } {
  const errors: GroupFormErrors = {};
  const whole = (key: 'groupSize' | 'maxTokens'): number | null => {
    const text = form[key].trim();
    if (text === '') return null;
    const value = Number(text);
    if (Number.isInteger(value) && value >= 1) return value;
    errors[key] = 'atLeastOne';
    return null;
  };
  const spread = Number(form.minSpread.trim().replace(',', '.'));
  const good = spread >= 0 && spread < Infinity;
  if (!good) errors.minSpread = 'number';
  const tokenizer = form.tokenizer.trim() || null;
  const options: GroupOptions = {
    groupSize: whole('groupSize'),
    zeroSpread: form.zeroSpread,
    minSpread: good ? spread : 0,
    unfit: form.unfit,
    scoreName: form.scoreName.trim() || null,
    tokenizer,
    // without a tokenizer these fields are not shown
    maskAlgorithm: tokenizer === null ? 'auto' : form.maskAlgorithm,
    maxTokens: tokenizer === null ? null : whole('maxTokens'),
  };
  return { options, errors };
}

/** Sizes of groups for a sentence: the most frequent ones, and how many groups are of another size. */
export function frequentSizes({ sizes }: NonNullable<ExportPreview['groups']>, shown = 3): { sizes: { size: number; count: number }[]; others: number } {
  return { sizes: sizes.slice(0, shown), others: sizes.slice(shown).reduce((sum, { count }) => sum + count, 0) };
}
