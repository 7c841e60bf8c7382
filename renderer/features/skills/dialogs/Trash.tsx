import { ArchiveRestore, Trash2 } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SkillDetail, TrashedSkill } from '#shared/contract/skills.ts';
import { useClient, useLoad } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button, IconButton } from '../../../ui/Button.tsx';
import { ConfirmDialog, Dialog } from '../../../ui/Dialog.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../../ui/Feedback.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';
import { AUTHOR_ICONS } from '../side/authors.tsx';

/** Deleted skills, whose files and history are kept until a person removes them for good. */
export function Trash({ onClose, onRestored }: { onClose: () => void; onRestored: (detail: SkillDetail) => void }): ReactNode {
  const { t } = useTranslation('skills');
  const client = useClient();
  const format = useFormat();
  const toast = useToasts();
  const errorText = useErrorText();
  const { data, error, reload } = useLoad((c, signal) => c.skills.trash(undefined, { signal }), []);
  const [busy, setBusy] = useState<number | null>(null);
  const [asked, setAsked] = useState<readonly TrashedSkill[]>([]);
  // Apart from what is asked, so that its words stay while it fades out.
  const [asking, setAsking] = useState(false);
  const [purging, setPurging] = useState(false);
  const items = data?.items ?? [];
  const ask = (which: readonly TrashedSkill[]): void => {
    setAsked(which);
    setAsking(true);
  };
  const purge = (): void => {
    setPurging(true);
    client.skills
      .purge({ versionIds: asked.map(({ versionId }) => versionId) })
      .then(
        ({ removed, failed }) => {
          if (removed > 0) toast({ title: t('trash.purged', { count: removed, shown: format.exact(removed) }), kind: 'good' });
          if (failed[0]) toast({ title: failed[0].message, kind: 'bad' });
        },
        (refused: unknown) => void toast({ title: errorText(refused), kind: 'bad' }),
      )
      .finally(() => {
        setPurging(false);
        setAsking(false);
        reload();
      });
  };
  const restore = (versionId: number): void => {
    setBusy(versionId);
    client.skills.restore({ versionId }).then(onRestored, (refused: unknown) => {
      setBusy(null);
      toast({ title: errorText(refused), kind: 'bad' });
    });
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={t('trash.title')}
      description={t('trash.text')}
      footer={items.length > 0 && <Button icon={Trash2} variant="danger" onClick={() => ask(items)}>{t('trash.purgeAll')}</Button>}
    >
      <div className="h-80 overflow-y-auto" tabIndex={0} role="region" aria-label={t('trash.title')}>
        {error !== null && !data ? <ErrorState error={error} onRetry={reload} /> : !data ? <Skeleton className="h-11" /> : items.length === 0 ? <EmptyState icon={Trash2} title={t('trash.empty')} /> : (
          <ul>
            {items.map((item) => {
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
                  <IconButton icon={Trash2} label={t('trash.purge', { name: item.name })} onClick={() => ask([item])} />
                </li>
              );
            })}
          </ul>
        )}
      </div>
      <ConfirmDialog
        open={asking}
        onClose={() => setAsking(false)}
        title={asked.length === 1 ? t('trash.askOne', { name: asked[0]!.name }) : t('trash.askAll', { count: asked.length, shown: format.exact(asked.length) })}
        confirm={t('trash.confirm')}
        busy={purging}
        onConfirm={purge}
      >
        <p>{t('trash.lost')}</p>
      </ConfirmDialog>
    </Dialog>
  );
}
