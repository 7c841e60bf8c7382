import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SkillDetail } from '#shared/contract/skills.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { errorField, useErrorText } from '../../../lib/errors.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Field } from '../../../ui/Field.tsx';
import { isName } from './names.ts';
import { NameFields } from './NameFields.tsx';

const MAX_DESCRIPTION = 1_024;

export function NewSkill({ categories, onClose, onMade }: { categories: readonly string[]; onClose: () => void; onMade: (detail: SkillDetail) => void }): ReactNode {
  const { t } = useTranslation(['skills', 'app']);
  const client = useClient();
  const errorText = useErrorText();
  const [name, setName] = useState('');
  const [category, setCategory] = useState('');
  const [description, setDescription] = useState('');
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const ready = isName(name) && description.trim() !== '' && description.length <= MAX_DESCRIPTION;
  const make = (): void => {
    if (!ready || busy) return;
    setBusy(true);
    client.skills.create({ name, category: category === '' ? null : category, description: description.trim() }).then(onMade, (refused: unknown) => {
      setBusy(false);
      setError(refused);
    });
  };
  const ofName = error !== null && errorField(error) === 'name';
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('create.title')}
      description={t('create.text')}
      footer={
        <>
          <Button onClick={onClose}>{t('app:action.cancel')}</Button>
          <Button variant="primary" hotkey="mod+Enter" hotkeyInDialog disabled={!ready} busy={busy} onClick={make}>{t('create.button')}</Button>
        </>
      }
    >
      <div className="grid gap-3">
        <NameFields name={name} category={category} categories={categories} error={ofName ? errorText(error) : null} onName={(next) => { setName(next); setError(null); }} onCategory={setCategory} onEnter={make} />
        <Field label={t('properties.description')} hint={t('create.descriptionHint')} aside={<span className="num">{description.length} / {MAX_DESCRIPTION}</span>} error={error !== null && !ofName ? errorText(error) : null}>
          {(props) => <textarea {...props} rows={3} maxLength={MAX_DESCRIPTION} value={description} onChange={(e) => setDescription(e.target.value)} className="w-full resize-y rounded-m border border-line-strong bg-raised px-2 py-1 text-sm" />}
        </Field>
      </div>
    </Dialog>
  );
}
