import { ArchiveRestore, Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SkillDetail } from '#shared/contract/skills.ts';
import { useClient, useLoad } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Dialog } from '../../../ui/Dialog.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../../ui/Feedback.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';
import { AUTHOR_ICONS } from '../side/authors.tsx';

/** Deleted skills, whose files and history are kept. */
export function Trash({ onClose, onRestored }: { onClose: () => void; onRestored: (detail: SkillDetail) => void }): ReactNode {
  const { t } = useTranslation('skills');
  const client = useClient();
  const format = useFormat();
  const toast = useToasts();
  const errorText = useErrorText();
  const { data, error, reload } = useLoad((c, signal) => c.skills.trash(undefined, { signal }), []);
  const [busy, setBusy] = useState<number | null>(null);
  const restore = (versionId: number): void => {
    setBusy(versionId);
    client.skills.restore({ versionId }).then(onRestored, (refused: unknown) => {
      setBusy(null);
      toast({ title: errorText(refused), kind: 'bad' });
    });
  };
  return (
    <Dialog open onClose={onClose} title={t('trash.title')} description={t('trash.text')}>
      <div className="h-80 overflow-y-auto" tabIndex={0} role="region" aria-label={t('trash.title')}>
        {error !== null && !data ? <ErrorState error={error} onRetry={reload} /> : !data ? <Skeleton className="h-11" /> : data.items.length === 0 ? <EmptyState icon={Trash2} title={t('trash.empty')} /> : (
          <ul>
            {data.items.map((item) => {
              const Icon = AUTHOR_ICONS[item.author];
              return (
                <li key={item.versionId} className="flex min-h-11 items-center gap-2.5 border-b border-line py-1 text-sm">
                  <span role="img" aria-label={t('history.by', { who: t(`author.${item.author}`) })} title={t('history.by', { who: t(`author.${item.author}`) })}><Icon className="size-3.5 text-fg-3" aria-hidden="true" /></span>
                  <span className="min-w-0 flex-1">
                    <span className="block truncate">{item.name}</span>
                    <span className="block truncate text-xs text-fg-3">{item.description || item.skill}</span>
                  </span>
                  <span className="num shrink-0 text-xs text-fg-3" title={format.dateTime(item.deletedAt)}>{format.ago(item.deletedAt)}</span>
                  <Button icon={ArchiveRestore} busy={busy === item.versionId} onClick={() => restore(item.versionId)}>{t('trash.restore')}</Button>
                </li>
              );
            })}
          </ul>
        )}
      </div>
    </Dialog>
  );
}
