import { lazy, Suspense, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ChangedFile } from '#shared/contract/skills.ts';
import { cx } from '../../../lib/cx.ts';
import { Dialog } from '../../../ui/Dialog.tsx';
import { Skeleton } from '../../../ui/Feedback.tsx';

const SideBySide = lazy(() => import('../editor/SideBySide.tsx'));

/** Files side by side, before and after. `files` null while they are on their way. */
export function DiffDialog({ title, description, files, labels, footer, above, onClose }: {
  title: string; description?: ReactNode; files: readonly ChangedFile[] | null; labels: [before: string, after: string]; footer?: ReactNode; above?: ReactNode; onClose: () => void;
}): ReactNode {
  const { t } = useTranslation('skills');
  const [path, setPath] = useState<string | null>(null);
  const file = files?.find((f) => f.path === path) ?? files?.[0];
  return (
    <Dialog open onClose={onClose} title={title} description={description} width="xl" footer={footer}>
      <div className="flex h-[min(62dvh,640px)] flex-col gap-2">
        {above}
        {files && files.length > 1 && (
          <div role="group" aria-label={t('diff.files')} className="flex shrink-0 flex-wrap gap-1">
            {files.map((f) => (
              <button key={f.path} type="button" aria-pressed={f === file} onClick={() => setPath(f.path)} className={cx('h-[22px] rounded-m border px-2 font-mono text-xs', f === file ? 'border-line-strong bg-selected text-fg' : 'border-transparent text-fg-2 hover:bg-hover')}>
                {f.path}
              </button>
            ))}
          </div>
        )}
        <div className="grid shrink-0 grid-cols-2 gap-3 text-xs text-fg-2">
          <span className="truncate">{labels[0]}{file?.before === null && ` · ${t('diff.absent')}`}</span>
          <span className="truncate">{labels[1]}{file?.after === null && ` · ${t('diff.absent')}`}</span>
        </div>
        <div className="min-h-0 flex-1 overflow-hidden rounded-m border border-line">
          {files === null ? <Skeleton className="h-full" /> : !file ? <p className="p-4 text-fg-3">{t('diff.same')}</p> : file.binary ? <p className="p-4 text-fg-3">{t('diff.binary')}</p> : file.before === file.after ? <p className="p-4 text-fg-3">{t('diff.same')}</p> : (
            <Suspense fallback={<Skeleton className="h-full" />}>
              <SideBySide key={file.path} before={file.before ?? ''} after={file.after ?? ''} path={file.path} labels={labels} />
            </Suspense>
          )}
        </div>
      </div>
    </Dialog>
  );
}
