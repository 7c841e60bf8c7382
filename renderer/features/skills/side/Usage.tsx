import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { OUTCOMES } from '#shared/trajectory.ts';
import { useLoad } from '../../../lib/engine-context.tsx';
import { useFormat } from '../../../lib/i18n.ts';
import { OutcomeIcon } from '../../../ui/Chip.tsx';
import { ErrorState, Meter, Skeleton } from '../../../ui/Feedback.tsx';
import { useAgain } from '../use-skills.ts';

const COLORS: Record<(typeof OUTCOMES)[number], string> = { completed: 'var(--cell-good)', partial: 'var(--cell-warn)', failed: 'var(--cell-bad)', discarded: 'var(--cell-mute)', running: 'var(--accent)' };

/** Which trajectories read, ran or changed a skill, and how they ended. */
export function Usage({ id, generation }: { id: string; generation: number }): ReactNode {
  const { t } = useTranslation(['skills', 'app']);
  const format = useFormat();
  const { data, error, reload, loading } = useLoad((client, signal) => client.skills.usage({ id }, { signal }), [id]);
  useAgain({ reload, loading }, generation);
  if (error !== null && !data) return <ErrorState error={error} onRetry={reload} />;
  if (!data) return <div className="grid gap-2 p-3"><Skeleton className="h-8" /><Skeleton className="h-11" /><Skeleton className="h-11" /></div>;
  if (data.items.length === 0) return <p className="p-4 text-fg-3">{t('usage.none')}</p>;
  const sums = { view: 0, run: 0, manage: 0 };
  for (const item of data.items) sums[item.how] += item.count;
  const known = OUTCOMES.filter((outcome) => (data.outcomes[outcome] ?? 0) > 0);
  const total = known.reduce((sum, outcome) => sum + (data.outcomes[outcome] ?? 0), 0);
  return (
    <div>
      <dl className="grid grid-cols-3 gap-3 px-3 pt-3 pb-2">
        {(['view', 'run', 'manage'] as const).map((how) => (
          <div key={how}>
            <dt className="text-xs text-fg-3">{t(`usage.${how}`)}</dt>
            <dd className="num text-lg font-semibold">{format.exact(sums[how])}</dd>
          </div>
        ))}
      </dl>
      {total > 0 && (
        <div className="grid gap-1.5 px-3 pb-3">
          <Meter label={known.map((outcome) => `${t(`app:outcome.${outcome}`)} ${data.outcomes[outcome]}`).join(', ')} total={total} parts={known.map((outcome) => ({ key: outcome, value: data.outcomes[outcome] ?? 0, color: COLORS[outcome] }))} />
          <p className="num flex flex-wrap gap-x-3 text-xs text-fg-2">
            {known.map((outcome) => <span key={outcome} className="inline-flex items-center gap-1"><OutcomeIcon state={outcome} /> {t(`app:outcome.${outcome}`)} {format.exact(data.outcomes[outcome] ?? 0)}</span>)}
          </p>
        </div>
      )}
      <ul aria-label={t('usage.label')} className="border-t border-line">
        {data.items.map((item) => (
          <li key={`${item.trajectoryId} ${item.how}`}>
            <a href={`#/library/${encodeURIComponent(item.trajectoryId)}`} className="focus-inset flex items-start gap-2 border-b border-line px-3 py-1.5 text-sm no-underline hover:bg-hover">
              <span className="mt-0.5"><OutcomeIcon state={item.outcome} /></span>
              <span className="min-w-0 flex-1">
                <span className="block truncate text-fg">{item.title || t('usage.untitled')}</span>
                <span className="block text-xs text-fg-3">{t(`usage.how.${item.how}`)}{item.count > 1 ? ` ×${format.exact(item.count)}` : ''}</span>
              </span>
              <span className="num shrink-0 text-xs text-fg-3" title={format.dateTime(item.at)}>{format.ago(item.at)}</span>
            </a>
          </li>
        ))}
      </ul>
    </div>
  );
}
