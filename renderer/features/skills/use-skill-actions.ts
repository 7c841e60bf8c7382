import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import type { SkillSummary } from '#shared/contract/skills.ts';
import { useClient } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { navigate } from '../../lib/hash-location.ts';
import { useToasts } from '../../ui/Toasts.tsx';
import { skillPath } from './address.ts';
import { useExportSkills } from './export/use-export-skills.ts';

export interface ManySkillActions {
  mark: (skill: SkillSummary, change: { enabled?: boolean; pinned?: boolean }) => void;
  /** Into the trash, with a way back; the next skill of the list opens. */
  remove: (skill: SkillSummary) => void;
  exportZip: (ids: readonly string[]) => void;
}

export function useSkillActions(reload: () => void): ManySkillActions {
  const { t } = useTranslation(['skills', 'app']);
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const { exportSkills } = useExportSkills();
  return useMemo(() => {
    const failed = (error: unknown): void => void toast({ title: errorText(error), kind: 'bad' });
    return {
      mark: (skill, change) => void client.skills.mark({ id: skill.id, ...change }).then(reload, failed),
      remove: (skill) =>
        void client.skills.remove({ id: skill.id }).then(({ versionId }) => {
          navigate('/skills', { replace: true });
          reload();
          toast({
            title: t('removed', { name: skill.name }),
            action: {
              label: t('app:action.undo'),
              run: () => void client.skills.restore({ versionId }).then((detail) => {
                reload();
                navigate(skillPath(detail.summary.id), { replace: true });
              }, failed),
            },
          });
        }, failed),
      exportZip: (ids) => void exportSkills(ids),
    };
  }, [client, toast, errorText, exportSkills, reload, t]);
}
