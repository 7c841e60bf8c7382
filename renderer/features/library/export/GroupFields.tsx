import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { MASK_ALGORITHMS, UNFIT_ROLLOUT, ZERO_SPREAD } from '#shared/contract/exports.ts';
import { Field } from '../../../ui/Field.tsx';
import { Input, NumberInput } from '../../../ui/Input.tsx';
import { Select } from '../../../ui/Select.tsx';
import type { GroupForm, GroupFormErrors } from './group-form.ts';

/** What the engine has said of a field. */
export interface FieldError {
  field: string;
  text: string;
}

/** The options of groups: which scores, which groups, and with a tokenizer the tokens. */
export function GroupFields({ form, onChange, errors, failed }: { form: GroupForm; onChange: (form: GroupForm) => void; errors: GroupFormErrors; failed: FieldError | null }): ReactNode {
  const { t } = useTranslation('library');
  const set = <K extends keyof GroupForm>(key: K, value: GroupForm[K]): void => onChange({ ...form, [key]: value });
  const errorOf = (key: keyof GroupForm): string | null => {
    const own = errors[key as keyof GroupFormErrors];
    return own ? t(`export.groups.${own}`) : failed?.field === key ? failed.text : null;
  };
  return (
    <>
      <fieldset className="grid gap-x-3 gap-y-3 sm:grid-cols-2">
        <legend className="mb-2 text-sm font-semibold">{t('export.groups.title')}</legend>
        <Field label={t('export.groups.groupSize')} hint={t('export.groups.groupSizeHint')} error={errorOf('groupSize')}>
          {(props) => <NumberInput {...props} value={form.groupSize} placeholder={t('export.groups.anySize')} onChange={(text) => set('groupSize', text)} />}
        </Field>
        <Field label={t('export.groups.scoreName')} hint={t('export.groups.scoreNameHint')} error={errorOf('scoreName')}>
          {(props) => <Input {...props} value={form.scoreName} placeholder={t('export.groups.reward')} onChange={(e) => set('scoreName', e.target.value)} />}
        </Field>
        <Field label={t('export.groups.zeroSpread')} hint={t('export.groups.zeroSpreadHint')}>
          {(props) => <Select {...props} value={form.zeroSpread} onChange={(value) => set('zeroSpread', value)} options={ZERO_SPREAD.map((value) => ({ value, label: t(`export.groups.zeroSpreadChoice.${value}`) }))} />}
        </Field>
        <Field label={t('export.groups.minSpread')} hint={t('export.groups.minSpreadHint')} error={errorOf('minSpread')}>
          {(props) => <Input {...props} inputMode="decimal" className="num" value={form.minSpread} placeholder="0" onChange={(e) => set('minSpread', e.target.value)} />}
        </Field>
        <Field label={t('export.groups.unfit')} hint={t('export.groups.unfitHint')}>
          {(props) => <Select {...props} value={form.unfit} onChange={(value) => set('unfit', value)} options={UNFIT_ROLLOUT.map((value) => ({ value, label: t(`export.groups.unfitChoice.${value}`) }))} />}
        </Field>
      </fieldset>
      <fieldset className="grid gap-x-3 gap-y-3 sm:grid-cols-2">
        <legend className="mb-2 text-sm font-semibold">{t('export.groups.tokens')}</legend>
        <div className="sm:col-span-2">
          <Field label={t('export.groups.tokenizer')} hint={t(form.tokenizer.trim() === '' ? 'export.groups.noTokenizerHint' : 'export.groups.tokenizerHint')} error={errorOf('tokenizer')}>
            {(props) => <Input {...props} mono value={form.tokenizer} placeholder={t('export.groups.tokenizerPlaceholder')} onChange={(e) => set('tokenizer', e.target.value)} />}
          </Field>
        </div>
        {form.tokenizer.trim() !== '' && (
          <>
            <Field label={t('export.groups.mask')} hint={t(`export.groups.maskHint.${form.maskAlgorithm}`)} error={errorOf('maskAlgorithm')}>
              {(props) => <Select {...props} value={form.maskAlgorithm} onChange={(value) => set('maskAlgorithm', value)} options={MASK_ALGORITHMS.map((value) => ({ value, label: t(`export.groups.maskChoice.${value}`) }))} />}
            </Field>
            <Field label={t('export.groups.maxTokens')} hint={t('export.groups.maxTokensHint')} error={errorOf('maxTokens')}>
              {(props) => <NumberInput {...props} value={form.maxTokens} placeholder={t('export.groups.noLimit')} onChange={(text) => set('maxTokens', text)} />}
            </Field>
          </>
        )}
      </fieldset>
    </>
  );
}
