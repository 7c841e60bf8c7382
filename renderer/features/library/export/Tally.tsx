import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ExportPreview } from '#shared/contract/exports.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { frequentSizes } from './group-form.ts';
import { isExitReason, recogniseReason } from './reasons.ts';

type Items = ExportPreview['leftOut'];
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
  if (known.key === 'ofGroup') return t('export.reason.ofGroup', { reason: reasonText(known.detail, t) });
  return t(`export.reason.${known.key}`, { detail: known.detail });
}

/** Written, left out and remarked on, each with its reason and one example to look at. */
export function Tally({ summary, onLeave }: { summary: ExportPreview; onLeave: () => void }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const out = summary.leftOut.reduce((sum, item) => sum + item.count, 0);
  return (
    <div className="num grid gap-2 text-sm">
      {summary.groups && <Groups groups={summary.groups} tokens={summary.tokens} written={summary.written} onLeave={onLeave} />}
      <Line name={t(summary.groups ? 'export.groups.rollouts' : 'export.written')} count={format.exact(summary.written)} tone={summary.written > 0 ? 'text-good' : 'text-bad'} />
      {out > 0 && <Line name={t(summary.groups ? 'export.groups.rolloutsLeftOut' : 'export.leftOut')} count={format.exact(out)} tone="text-fg"><Reasons items={summary.leftOut} onLeave={onLeave} /></Line>}
      {summary.warnings.length > 0 && (
        <Line name={t('export.warnings')} count={format.exact(summary.warnings.reduce((sum, item) => sum + item.count, 0))} tone="text-warn">
          <Reasons items={summary.warnings} onLeave={onLeave} />
        </Line>
      )}
    </div>
  );
}

/** "38 groups of 4 · 2 groups left out". */
export function groupsText(groups: NonNullable<ExportPreview['groups']>, t: T, exact: (n: number) => string): string {
  const out = groups.leftOut.reduce((sum, item) => sum + item.count, 0);
  return [...sizesText(groups, t, exact), ...(out > 0 ? [t('export.groups.out', { count: out, shown: exact(out) })] : [])].join(' · ');
}

function sizesText(groups: NonNullable<ExportPreview['groups']>, t: T, exact: (n: number) => string): string[] {
  const { sizes, others } = frequentSizes(groups);
  const listed = sizes.map(({ size, count }) => t('export.groups.ofSize', { count, shown: exact(count), size: exact(size) }));
  return others > 0 ? [...listed, t('export.groups.ofOthers', { count: others, shown: exact(others) })] : listed;
}

/** "38 groups of 4", those left out, and how many tokens they have. */
function Groups({ groups, tokens, written, onLeave }: { groups: NonNullable<ExportPreview['groups']>; tokens: ExportPreview['tokens']; written: number; onLeave: () => void }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const out = groups.leftOut.reduce((sum, item) => sum + item.count, 0);
  const listed = sizesText(groups, t, format.exact);
  return (
    <>
      <Line name={t('export.groups.written')} count={format.exact(groups.written)} tone={groups.written > 0 ? 'text-good' : 'text-bad'}>
        {listed.length > 0 && <p className="text-fg-2">{listed.join(' · ')}</p>}
        {tokens && tokens.rollouts > 0 && (
          <p className="text-fg-2">
            {t('export.groups.tokenCount', { total: format.exact(tokens.total), trained: format.exact(tokens.trained), way: t(`export.groups.way.${tokens.algorithm}`), template: tokens.template })}
            {tokens.rollouts < written && ` ${t('export.groups.tokensOf', { rollouts: format.exact(tokens.rollouts) })}`}
          </p>
        )}
      </Line>
      {out > 0 && <Line name={t('export.groups.leftOut')} count={format.exact(out)} tone="text-fg"><Reasons items={groups.leftOut} onLeave={onLeave} /></Line>}
    </>
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
