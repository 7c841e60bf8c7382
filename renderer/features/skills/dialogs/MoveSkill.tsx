import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SkillDetail, SkillSummary } from '#shared/contract/skills.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { moveDrafts } from '../drafts.ts';
import { isName } from './names.ts';
import { NameFields } from './NameFields.tsx';

/** Another name, or another category. History and usage go along. */
export function MoveSkill({ skill, categories, onClose, onMoved }: { skill: SkillSummary; categories: readonly string[]; onClose: () => void; onMoved: (detail: SkillDetail) => void }): ReactNode {
  const { t } = useTranslation(['skills', 'app']);
  const client = useClient();
  const errorText = useErrorText();
  const [name, setName] = useState(skill.name);
  const [category, setCategory] = useState(skill.category ?? '');
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const same = name === skill.name && category === (skill.category ?? '');
  const move = (): void => {
    if (!isName(name) || same || busy) return;
    setBusy(true);
    client.skills.move({ id: skill.id, name, category: category === '' ? null : category }).then(
      (detail) => {
        moveDrafts(skill.id, detail.summary.id);
        onMoved(detail);
      },
      (refused: unknown) => {
        setBusy(false);
        setError(refused);
      },
    );
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('move.title', { name: skill.name })}
      description={t('move.text')}
      footer={
        <>
          <Button onClick={onClose}>{t('app:action.cancel')}</Button>
          <Button variant="primary" disabled={!isName(name) || same} busy={busy} onClick={move}>{t('move.button')}</Button>
        </>
      }
    >
      <NameFields name={name} category={category} categories={categories} error={error === null ? null : errorText(error)} onName={(next) => { setName(next); setError(null); }} onCategory={(next) => { setCategory(next); setError(null); }} onEnter={move} />
    </Dialog>
  );
}
