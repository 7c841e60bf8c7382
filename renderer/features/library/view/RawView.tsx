import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useLoad } from '../../../lib/engine-context.tsx';
import { CopyButton, ErrorState, Skeleton } from '../../../ui/Feedback.tsx';
import { TextViewer } from '../../../ui/TextViewer.tsx';

/** The trajectory as the store has it. @param version asks anew when it changes (messages were added) */
export function RawView({ id, version }: { id: string; version: number }): ReactNode {
  const { t } = useTranslation('library');
  const raw = useLoad((client, signal) => client.trajectories.raw({ id }, { signal }), [id, version]);
  if (raw.error !== null && !raw.data) return <ErrorState error={raw.error} onRetry={raw.reload} />;
  const { data } = raw;
  if (!data) return <div className="grid gap-2 p-4">{[60, 80, 72, 40].map((w) => <Skeleton key={w} className="h-3 w-3/4" />)}</div>;
  return (
    <div className="flex h-full min-h-0 flex-col">
      <div className="flex h-[34px] shrink-0 items-center justify-end gap-2 border-b border-line px-3 text-sm text-fg-2">
        {data.truncated && <span className="flex-1">{t('view.rawTruncated')}</span>}
        <CopyButton text={() => data.json} label={t('view.copyRaw')} />
      </div>
      <TextViewer text={data.json} label={t('view.raw')} firstLine={1} className="min-h-0 flex-1" />
    </div>
  );
}
