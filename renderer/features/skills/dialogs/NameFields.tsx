import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Field } from '../../../ui/Field.tsx';
import { Input } from '../../../ui/Input.tsx';
import { SuggestInput } from '../../../ui/Select.tsx';
import { asName, isName } from './names.ts';

/** Name and category of a skill, as folders can be named. What cannot be one is put right while it is typed. */
export function NameFields({ name, category, categories, error, onName, onCategory, onEnter }: { name: string; category: string; categories: readonly string[]; error: string | null; onName: (name: string) => void; onCategory: (category: string) => void; onEnter: () => void }): ReactNode {
  const { t } = useTranslation('skills');
  return (
    <div className="grid grid-cols-2 gap-3">
      <Field label={t('properties.name')} hint={t('create.nameHint')} error={error ?? (name !== '' && !isName(name) ? t('create.nameWrong') : null)}>
        {(props) => <Input {...props} mono value={name} maxLength={64} onChange={(e) => onName(asName(e.target.value))} onKeyDown={(e) => e.key === 'Enter' && !e.nativeEvent.isComposing && onEnter()} />}
      </Field>
      <Field label={t('properties.category')} hint={t('create.categoryHint')}>
        {(props) => <SuggestInput {...props} value={category} suggestions={categories} onChange={(text) => onCategory(asName(text))} />}
      </Field>
    </div>
  );
}
