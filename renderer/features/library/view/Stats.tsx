import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { TrajectoryDetail } from '#shared/trajectory.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { discardText } from './ViewHeader.tsx';

/** What the run of the agent came to, below its last turn. */
export function Stats({ detail }: { detail: TrajectoryDetail }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const { usage } = detail;
  const rows: [string, ReactNode][] = [
    [t('stats.exit'), detail.exitReason === null ? t('exit.running') : t(`exit.${detail.exitReason}`)],
    ...(detail.discardReason === null ? [] : [['', discardText(detail.discardReason, t)] as [string, ReactNode]]),
    [t('stats.input'), format.exact(usage.promptTokens)],
    [t('stats.cached'), format.exact(usage.cachedTokens)],
    [t('stats.output'), format.exact(usage.completionTokens)],
    [t('stats.reasoning'), format.exact(usage.reasoningTokens)],
    [t('stats.cost'), detail.costUsd === null ? t('stats.none') : format.money(detail.costUsd)],
    [t('stats.apiCalls'), format.exact(detail.apiCalls)],
    [t('stats.time'), detail.endedAt === null ? t('stats.none') : format.duration(detail.endedAt - detail.createdAt)],
    [t('stats.started'), format.dateTime(detail.createdAt)],
    [t('stats.ended'), detail.endedAt === null ? t('stats.none') : format.dateTime(detail.endedAt)],
    [t('stats.model'), detail.model],
    [t('stats.provider'), detail.provider],
    [t('stats.toolsets'), detail.toolsets.join(', ') || t('stats.none')],
    [t('stats.id'), <code key="id" className="font-mono">{detail.id}</code>],
  ];
  const tools = Object.entries(detail.toolStats);
  return (
    <section aria-label={t('stats.title')} className="grid gap-3 pt-4 pb-8 text-sm">
      <h3 className="text-xs font-semibold text-fg-3">{t('stats.title')}</h3>
      <dl className="grid grid-cols-[repeat(auto-fill,minmax(230px,1fr))] gap-x-6 gap-y-1">
        {rows.map(([name, value], i) => (
          <div key={i} className="num flex min-w-0 justify-between gap-3">
            <dt className="shrink-0 text-fg-3">{name}</dt>
            <dd className="min-w-0 text-right wrap-anywhere">{value}</dd>
          </div>
        ))}
      </dl>
      {tools.length > 0 && (
        <table className="num max-w-[440px] border-collapse text-right">
          <thead>
            <tr className="text-xs text-fg-3">
              <th scope="col" className="py-0.5 text-left font-medium">{t('stats.tool')}</th>
              <th scope="col" className="font-medium">{t('stats.calls')}</th>
              <th scope="col" className="font-medium">{t('stats.succeeded')}</th>
              <th scope="col" className="font-medium">{t('stats.failed')}</th>
            </tr>
          </thead>
          <tbody>
            {tools.map(([name, stat]) => (
              <tr key={name} className="border-t border-line">
                <th scope="row" className="py-0.5 text-left font-mono text-xs font-normal">{name}</th>
                <td>{format.exact(stat.count)}</td>
                <td>{format.exact(stat.success)}</td>
                <td className={stat.failure > 0 ? 'text-bad' : undefined}>{format.exact(stat.failure)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
