import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ExportSummary } from '#shared/contract/exports.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { isExitReason, recogniseReason } from './reasons.ts';

type Items = ExportSummary['leftOut'];
type T = ReturnType<typeof useTranslation<'library'>>['t'];

export function reasonText(reason: string, t: T): string {
  const known = recogniseReason(reason);
  if (!known) return reason;
  if (known.key === 'partial') return t('export.reason.partial', { reason: isExitReason(known.detail) ? t(`exitShort.${known.detail}`) : known.detail });
  if (known.key === 'discarded') {
    const discard = known.detail === 'no_reasoning' || known.detail === 'corrupted' ? t(`discard.${known.detail}`) : known.detail;
    return t('export.reason.discarded', { reason: discard });
  }
  if (known.key === 'secret') return t('export.reason.secret', { kind: known.detail });
  return t(`export.reason.${known.key}`);
}

/** Written, left out and remarked on, each with its reason and one example to look at. */
export function Tally({ summary, onLeave }: { summary: Pick<ExportSummary, 'written' | 'leftOut' | 'warnings'>; onLeave: () => void }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const out = summary.leftOut.reduce((sum, item) => sum + item.count, 0);
  return (
    <div className="num grid gap-2 text-sm">
      <Line name={t('export.written')} count={format.exact(summary.written)} tone={summary.written > 0 ? 'text-good' : 'text-bad'} />
      {out > 0 && <Line name={t('export.leftOut')} count={format.exact(out)} tone="text-fg"><Reasons items={summary.leftOut} onLeave={onLeave} /></Line>}
      {summary.warnings.length > 0 && (
        <Line name={t('export.warnings')} count={format.exact(summary.warnings.reduce((sum, item) => sum + item.count, 0))} tone="text-warn">
          <Reasons items={summary.warnings} onLeave={onLeave} />
        </Line>
      )}
    </div>
  );
}

function Line({ name, count, tone, children }: { name: string; count: string; tone: string; children?: ReactNode }): ReactNode {
  return (
    <div className="grid gap-1">
      <div className="flex justify-between gap-3 font-medium">
        <span>{name}</span>
        <span className={tone}>{count}</span>
      </div>
      {children}
    </div>
  );
}

function Reasons({ items, onLeave }: { items: Items; onLeave: () => void }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  return (
    <ul className="grid gap-1">
      {items.map((item) => (
        <li key={item.reason} className="flex items-baseline gap-3 border-l-2 border-line pl-2.5 text-fg-2">
          <span className="min-w-0 flex-1 wrap-anywhere">{reasonText(item.reason, t)}</span>
          <a href={`#/library/${encodeURIComponent(item.exampleId)}`} onClick={onLeave} aria-label={`${t('export.example')}: ${reasonText(item.reason, t)}`} className="shrink-0 text-xs text-accent underline underline-offset-2">
            {t('export.example')}
          </a>
          <span className="w-14 shrink-0 text-right">{format.exact(item.count)}</span>
        </li>
      ))}
    </ul>
  );
}
