import { useVirtualizer } from '@tanstack/react-virtual';
import { useCallback, useEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ComparedRow, Quadrant } from '#shared/contract/dashboards.ts';
import type { RunSummary } from '#shared/contract/runs.ts';
import { cx } from '../../../lib/cx.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { OutcomeIcon } from '../../../ui/Chip.tsx';
import { short } from '../DashboardCards.tsx';
import { Card } from '../RunCards.tsx';

const ROW_PX = 30;
const PAGE = 100;
const AHEAD = 20;
const COLUMNS = 'grid grid-cols-[minmax(0,1fr)_minmax(96px,150px)_minmax(96px,150px)] items-center gap-3 px-3.5';

/** The rows of a quadrant (all that were compared without one), with what each run made of them. */
export function ComparedRows({ a, b, quadrant, threshold, total }: { a: RunSummary; b: RunSummary; quadrant: Quadrant | null; threshold: number | null; total: number }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const scroller = useRef<HTMLDivElement>(null);
  const errorText = useErrorText();
  const { rows, problem, more } = useRows(a.id, b.id, quadrant, threshold);
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => scroller.current, estimateSize: () => ROW_PX, overscan: 8 });
  const shown = virtual.getVirtualItems();
  const last = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last + AHEAD >= rows.length) more();
  }, [last, rows.length, more]);
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
  }, [quadrant, threshold, a.id, b.id]);
  const name = quadrant === null ? t('compare.allRows') : quadrant === 'onlyA' ? t('compare.only', { name: a.name }) : quadrant === 'onlyB' ? t('compare.only', { name: b.name }) : t(`compare.${quadrant}`);
  return (
    <Card title={name} aside={t('compare.rows', { count: total, shown: f.exact(total) })} className="flex min-h-[320px] flex-1 flex-col">
      <div role="table" aria-label={name} aria-rowcount={total + 1} className="mt-2 flex flex-1 flex-col border-t border-line">
        <div role="row" aria-rowindex={1} className={cx(COLUMNS, 'h-7 border-b border-line text-xs text-fg-3')}>
          <span role="columnheader">{t('compare.prompt')}</span>
          {[a, b].map((run, i) => (
            <span key={i} role="columnheader" className="truncate" title={run.name}>
              {run.name}
            </span>
          ))}
        </div>
        <div className="relative min-h-[240px] flex-1">
          <div ref={scroller} tabIndex={0} role="rowgroup" aria-label={name} className="focus-inset absolute inset-0 overflow-y-auto rounded-b-[9px]">
            {rows.length === 0 && <p className="px-3.5 py-1.5 text-sm text-fg-3">{problem !== null ? errorText(problem) : (total === 0 ? t('compare.none') : '…')}</p>}
            <div style={{ height: virtual.getTotalSize(), position: 'relative' }} role="presentation">
              {shown.map((item) => {
                const row = rows[item.index];
                return (
                  row && (
                    <div
                      key={row.place}
                      role="row"
                      aria-rowindex={item.index + 2}
                      className={cx(COLUMNS, 'border-b border-line text-sm hover:bg-hover')}
                      style={{ position: 'absolute', top: 0, left: 0, right: 0, height: ROW_PX, transform: `translateY(${item.start}px)` }}
                    >
                      <span role="cell" className="truncate" title={row.prompt}>
                        {row.prompt}
                      </span>
                      <SideCell run={a} side={row.a} />
                      <SideCell run={b} side={row.b} />
                    </div>
                  )
                );
              })}
            </div>
          </div>
        </div>
      </div>
    </Card>
  );
}

function SideCell({ run, side }: { run: RunSummary; side: ComparedRow['a'] }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const solved = side.solved > 0;
  const text = (
    <>
      <OutcomeIcon state={solved ? 'completed' : 'failed'} />
      <span className="num min-w-0 truncate">
        {[side.ended > 1 || run.spec.rollouts > 1 ? `${side.solved}/${side.ended}` : null, side.reward === null ? null : short(side.reward)].filter((part) => part !== null).join(' · ') ||
          t(solved ? 'compare.isSolved' : 'compare.notSolved')}
      </span>
    </>
  );
  return (
    <span role="cell" className="min-w-0">
      {side.trajectoryId === null ? (
        <span className="flex items-center gap-1.5 text-fg-3">{text}</span>
      ) : (
        <a
          href={`#/library/${encodeURIComponent(side.trajectoryId)}?run=${encodeURIComponent(run.id)}`}
          className="flex items-center gap-1.5 text-fg-2 no-underline hover:text-accent hover:underline"
        >
          {text}
          <span className="sr-only">{t('compare.open1', { name: run.name, result: t(solved ? 'compare.isSolved' : 'compare.notSolved') })}</span>
        </a>
      )}
    </span>
  );
}

function useRows(a: string, b: string, quadrant: Quadrant | null, threshold: number | null): { rows: readonly ComparedRow[]; problem: unknown; more: () => void } {
  const client = useClient();
  const key = JSON.stringify([a, b, quadrant, threshold]);
  const [state, setState] = useState<{ key: string; rows: ComparedRow[]; more: boolean; problem: unknown }>({ key, rows: [], more: true, problem: null });
  const busy = useRef<string | null>(null);
  const mine = state.key === key ? state : { key, rows: [], more: true, problem: null };
  const newest = useRef({ key, mine });
  useEffect(() => {
    newest.current = { key, mine };
  });
  const more = useCallback(() => {
    const { mine: now } = newest.current;
    if (busy.current === key || newest.current.key !== key || !now.more || now.problem !== null) return;
    busy.current = key;
    client.dashboards
      .compare({ a, b, ...(threshold === null ? {} : { threshold }), ...(quadrant === null ? {} : { quadrant }), after: now.rows.at(-1)?.place ?? -1, limit: PAGE })
      .then(
        (page) => newest.current.key === key && setState({ key, rows: [...now.rows, ...page.items], more: page.more, problem: null }),
        (error: unknown) => newest.current.key === key && setState({ ...now, key, problem: error }),
      )
      .finally(() => {
        if (busy.current === key) busy.current = null;
      });
  }, [client, key, a, b, threshold, quadrant]);
  useEffect(() => more(), [more]);
  return { rows: mine.rows, problem: mine.problem, more };
}
