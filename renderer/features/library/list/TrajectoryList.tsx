import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown, ArrowUp, ArrowUpDown } from 'lucide-react';
import { useEffect, useImperativeHandle, useMemo, useRef, type MouseEvent, type ReactNode, type Ref } from 'react';
import { useTranslation } from 'react-i18next';
import { TRAJECTORY_SORTS, type TrajectorySort } from '#shared/contract/trajectories.ts';
import { cx } from '../../../lib/cx.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button, IconButton } from '../../../ui/Button.tsx';
import { ChoiceMenu } from '../../../ui/Menu.tsx';
import { COLUMNS, Row, ROW_PX, rowDomId, SCORED_COLUMNS, wideOnly } from './Row.tsx';
import { termsOf } from './highlight.ts';
import { isSelected, selectedCount, type Selection } from './selection.ts';
import type { LibraryList } from './use-library-list.ts';

export interface ListHandle {
  focus: () => void;
  reveal: (index: number) => void;
  /** Indexes of the rows on screen. */
  visible: () => { first: number; last: number };
}

export interface TrajectoryListProps {
  list: LibraryList | null;
  /** The open trajectory. */
  openId: string | null;
  selection: Selection;
  /** Matching trajectories that came after the list was made. */
  fresh: number;
  /** All that match now: what a selection of everything means. */
  matching: number;
  stale: boolean;
  /** Something in it has a reward. */
  scored: boolean;
  sort: TrajectorySort;
  onSort: (sort: TrajectorySort) => void;
  onOpen: (index: number) => void;
  onToggle: (index: number) => void;
  onRange: (index: number) => void;
  onSelectAll: () => void;
  onClearSelection: () => void;
  onReload: () => void;
  ref: Ref<ListHandle>;
}

const SKELETON_ROWS = 30;

/** The virtual list of trajectories. Only rows on screen exist; the scrollbar is right from the start because the total is known. */
export function TrajectoryList({ list, openId, selection, fresh, matching, stale, scored, sort, onSort, onOpen, onToggle, onRange, onSelectAll, onClearSelection, onReload, ref }: TrajectoryListProps): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const scroller = useRef<HTMLDivElement>(null);
  const count = list ? list.total : SKELETON_ROWS;
  const virtual = useVirtualizer({ count, getScrollElement: () => scroller.current, estimateSize: () => ROW_PX, overscan: 20 });
  const items = virtual.getVirtualItems();
  const first = items[0]?.index ?? 0;
  const last = items.at(-1)?.index ?? 0;
  const window = list?.window;
  useEffect(() => {
    window?.want(first, last);
  }, [window, first, last]);
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
  }, [window]);
  useImperativeHandle(ref, () => ({
    focus: () => scroller.current?.focus({ preventScroll: true }),
    reveal: (index) => virtual.scrollToIndex(index, { align: 'auto' }),
    visible: () => {
      const top = scroller.current?.scrollTop ?? 0;
      const height = scroller.current?.clientHeight ?? 0;
      return { first: Math.ceil(top / ROW_PX), last: Math.max(0, Math.floor((top + height) / ROW_PX) - 1) };
    },
  }), [virtual]);

  const query = list?.filter.query ?? '';
  const terms = useMemo(() => termsOf(query), [query]);
  const rows = items.map((item) => ({ item, row: window?.get(item.index) }));
  const openOnScreen = rows.some(({ row }) => row !== undefined && row.id === openId);
  const chosen = selectedCount(selection, matching);
  const RewardArrow = sort === 'reward_low' ? ArrowUp : ArrowDown;

  const onClick = (event: MouseEvent): void => {
    const at = (event.target as Element).closest<HTMLElement>('[data-index]');
    if (!at) return;
    const index = Number(at.dataset.index);
    if (event.shiftKey) onRange(index);
    else if (event.metaKey || event.ctrlKey || (event.target as Element).closest('[data-mark]')) onToggle(index);
    else onOpen(index);
  };

  return (
    <section aria-label={t('list.label')} className="@container flex h-full min-h-0 flex-col" aria-busy={list === null || stale}>
      <div className="flex h-[34px] shrink-0 items-center gap-2 border-b border-line px-3 text-sm text-fg-2">
        <span className="num min-w-0 flex-1 truncate" aria-live="polite">
          {list === null ? t('list.loading') : chosen > 0 ? t('list.selected', { count: chosen, shown: format.exact(chosen) }) : t('status.trajectories', { ns: 'app', count, shown: format.exact(count) })}
        </span>
        {chosen > 0 && <Button variant="ghost" onClick={onClearSelection}>{t('list.clearSelection')}</Button>}
        {list !== null && chosen < matching && <Button variant="ghost" onClick={onSelectAll}>{t('list.selectAll', { shown: format.exact(matching) })}</Button>}
        {/* Nothing to choose by until something has a reward. */}
        {(scored || sort !== 'newest') && (
          <ChoiceMenu
            label={t('sort.label')}
            trigger={<IconButton icon={ArrowUpDown} label={t('sort.now', { order: t(`sort.${sort}`) })} className={cx('-mr-1.5', sort !== 'newest' && 'bg-hover text-fg')} />}
            value={sort}
            onChange={onSort}
            options={TRAJECTORY_SORTS.map((value) => ({ value, label: t(`sort.${value}`) }))}
          />
        )}
      </div>
      <div aria-hidden="true" className={`${scored ? SCORED_COLUMNS : COLUMNS} h-7 shrink-0 border-b border-line text-xs text-fg-3`}>
        <span />
        <span>{t('list.task')}</span>
        <span className={`text-right ${wideOnly(scored)}`}>{t('list.turns')}</span>
        <span className={`text-right ${scored ? wideOnly(scored) : ''}`}>{t('list.tokens')}</span>
        <span className={`text-right ${wideOnly(scored)}`}>{t('list.time')}</span>
        {scored && (
          <span className="flex min-w-0 items-center justify-end gap-0.5">
            {sort !== 'newest' && <RewardArrow className="size-3 shrink-0" />}
            <span className="truncate">{t('list.reward')}</span>
          </span>
        )}
      </div>
      <div className="relative min-h-0 flex-1">
        {fresh > 0 && (
          <div className="absolute inset-x-0 top-2 z-10 flex justify-center" role="status">
            <Button variant="primary" icon={ArrowUp} hotkey="." hotkeyLabel={t('keys.reload')} className="rounded-full! shadow-pop" title={t('list.freshHint')} onClick={onReload}>
              {t('list.fresh', { count: fresh, shown: format.exact(fresh) })}
            </Button>
          </div>
        )}
        <div
          ref={scroller}
          role="listbox"
          aria-multiselectable="true"
          aria-label={t('list.label')}
          aria-activedescendant={openOnScreen && openId !== null ? rowDomId(openId) : undefined}
          tabIndex={0}
          data-keys="shared"
          onClick={onClick}
          className={`focus-inset isolate h-full overflow-y-auto select-none [overflow-anchor:none] ${stale ? 'opacity-60' : ''}`}
        >
          {/* Below the list's own ring, which a row that is open would cover. */}
          <div role="presentation" className="relative -z-1" style={{ height: virtual.getTotalSize() }}>
            <div role="presentation" className="absolute inset-x-0 top-0" style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
              {rows.map(({ item, row }) => (
                <Row key={item.key} row={row} index={item.index} total={count} open={row !== undefined && row.id === openId} chosen={row !== undefined && isSelected(selection, row.id)} terms={terms} scored={scored} />
              ))}
            </div>
          </div>
        </div>
      </div>
    </section>
  );
}
