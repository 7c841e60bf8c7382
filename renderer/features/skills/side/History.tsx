import { RotateCcw } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { SkillDetail, SkillVersion } from '#shared/contract/skills.ts';
import { useClient, useLoad } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { ErrorState, Skeleton } from '../../../ui/Feedback.tsx';
import { Segmented } from '../../../ui/Select.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';
import { DiffDialog } from '../dialogs/DiffDialog.tsx';
import { useAgain } from '../use-skills.ts';
import { AUTHOR_ICONS } from './authors.tsx';

/** Every version of a skill, the newest first: who, why, and where it came from; any of them can be compared and brought back. */
export function History({ id, generation, readOnly, onDetail }: { id: string; generation: number; readOnly: boolean; onDetail: (detail: SkillDetail) => void }): ReactNode {
  const { t } = useTranslation('skills');
  const format = useFormat();
  const { data, error, reload, loading } = useLoad((client, signal) => client.skills.versions({ id }, { signal }), [id]);
  useAgain({ reload, loading }, generation);
  const [open, setOpen] = useState<SkillVersion | null>(null);
  if (error !== null && !data) return <ErrorState error={error} onRetry={reload} />;
  if (!data) return <div className="grid gap-2 p-3"><Skeleton className="h-11" /><Skeleton className="h-11" /><Skeleton className="h-11" /></div>;
  if (data.items.length === 0) return <p className="p-4 text-fg-3">{t('history.none')}</p>;
  return (
    <>
      <ol aria-label={t('history.label')}>
        {data.items.map((version) => {
          const Icon = AUTHOR_ICONS[version.author];
          return (
            <li key={version.id} className="border-b border-line px-3 py-2 hover:bg-hover">
              <button type="button" onClick={() => setOpen(version)} className="flex w-full items-start gap-2 text-left">
                <Icon className="mt-0.5 size-3.5 shrink-0 text-fg-3" aria-hidden="true" />
                <span className="min-w-0 flex-1">
                  <span className="block text-sm text-fg">{actionText(version.action, t)} <span className="text-fg-3">{t('history.by', { who: t(`author.${version.author}`) })}</span></span>
                  {version.reason !== '' && <span className="line-clamp-2 text-sm wrap-anywhere text-fg-2">{version.reason}</span>}
                  {version.files.some((file) => file !== 'SKILL.md') && <span className="block truncate font-mono text-xs text-fg-3">{version.files.join(', ')}</span>}
                </span>
                <span className="num shrink-0 text-xs text-fg-3" title={format.dateTime(version.createdAt)}>{format.ago(version.createdAt)}</span>
              </button>
              {(version.trajectoryId !== null || version.reviewId !== null) && (
                <span className="flex gap-3 pl-[22px] text-xs">
                  {version.trajectoryId !== null && <a href={`#/library/${encodeURIComponent(version.trajectoryId)}`} className="text-accent">{t('history.trajectory')}</a>}
                  {version.reviewId !== null && <a href={`#/reviews/${encodeURIComponent(version.reviewId)}`} className="text-accent">{t('history.review')}</a>}
                </span>
              )}
            </li>
          );
        })}
      </ol>
      {open && <VersionDialog version={open} newest={open.id === data.items[0]?.id} readOnly={readOnly} onClose={() => setOpen(null)} onDetail={(detail) => { setOpen(null); onDetail(detail); }} />}
    </>
  );
}

function VersionDialog({ version, newest, readOnly, onClose, onDetail }: { version: SkillVersion; newest: boolean; readOnly: boolean; onClose: () => void; onDetail: (detail: SkillDetail) => void }): ReactNode {
  const { t } = useTranslation(['skills', 'app']);
  const format = useFormat();
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const [against, setAgainst] = useState<'previous' | 'now'>('previous');
  const [busy, setBusy] = useState(false);
  const { data, error, reload } = useLoad((c, signal) => c.skills.diff({ versionId: version.id, against }, { signal }), [version.id, against]);
  const restore = (): void => {
    setBusy(true);
    client.skills.restore({ versionId: version.id }).then(
      (detail) => {
        toast({ title: t('history.restored', { when: format.ago(version.createdAt) }), kind: 'good' });
        onDetail(detail);
      },
      (refused: unknown) => {
        setBusy(false);
        toast({ title: errorText(refused), kind: 'bad' });
      },
    );
  };
  const then = format.dateTime(version.createdAt);
  return (
    <DiffDialog
      title={t('history.version', { when: then })}
      description={[`${actionText(version.action, t)} ${t('history.by', { who: t(`author.${version.author}`) })}`, version.reason].filter(Boolean).join(' · ')}
      files={data?.files ?? null}
      labels={against === 'previous' ? [t('history.before'), t('history.after')] : [t('history.after'), t('history.now')]}
      above={
        <div className="flex shrink-0 items-center gap-3">
          {!newest && <Segmented label={t('history.against')} value={against} onChange={setAgainst} options={[{ value: 'previous', label: t('history.againstPrevious') }, { value: 'now', label: t('history.againstNow') }]} />}
          {error !== null && <span role="alert" className="text-sm text-bad">{errorText(error)} <button type="button" onClick={reload} className="underline">{t('app:action.retry')}</button></span>}
        </div>
      }
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('app:action.close')}</Button>
          {!newest && !readOnly && <Button variant="primary" icon={RotateCcw} busy={busy} onClick={restore}>{t('history.restore')}</Button>}
        </>
      }
    />
  );
}

const ACTIONS = ['found', 'create', 'patch', 'edit', 'write_file', 'remove_file', 'rename', 'delete', 'restore', 'import', 'revert'] as const;

function actionText(action: string, t: (key: `action.${(typeof ACTIONS)[number]}`) => string): string {
  const known = ACTIONS.find((name) => name === action);
  return known ? t(`action.${known}`) : action;
}
