import { useVirtualizer } from '@tanstack/react-virtual';
import { X } from 'lucide-react';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { PromptItem, PromptState } from '#shared/contract/runs.ts';
import { useCommands } from '../../lib/commands.tsx';
import { cx } from '../../lib/cx.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Chip, OutcomeIcon } from '../../ui/Chip.tsx';
import { Skeleton } from '../../ui/Feedback.tsx';
import { short } from './DashboardCards.tsx';
import type { PromptPages } from './prompt-pages.ts';
import { indexesIn, rolloutName, type RunView } from './run-codes.ts';
import { causeText, reasonText } from './reasons.ts';
import { STATE_ORDER } from './states.ts';
import { useCauseRows } from './use-cause-rows.ts';

const ROW_PX = 30;
const LIST_HEIGHT_PX = 300;
/** So close to the end of what is known of a cause, the next rows are asked for. */
const AHEAD = 20;

/** Which rollouts the list shows: those in some states (all when none is named), or of one cause in one state. */
export interface ListFilter {
  states: readonly PromptState[];
  cause: string | null;
}

export const EVERYTHING: ListFilter = { states: [], cause: null };

/** The rollouts one by one: the grid for the keyboard, and for reading. `actions` are those of the row that is chosen. */
export function PromptList({
  view,
  pages,
  filter,
  onFilter,
  onOpen,
  actions,
}: {
  view: RunView;
  pages: PromptPages;
  filter: ListFilter;
  onFilter: (filter: ListFilter) => void;
  onOpen: (index: number) => void;
  actions?: (index: number, state: PromptState) => ReactNode;
}): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const [current, setCurrent] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const { codes, version } = view;
  const { states, cause } = filter;
  const [causeState] = states;
  const causeRows = useCauseRows(view.run.id, cause !== null && causeState ? { state: causeState, cause } : null, version);
  // `codes` changes in place: its version says when.
  const byState = useMemo(() => (version >= 0 ? indexesIn(codes, states) : []), [codes, version, states]);
  const indexes = causeRows?.indexes ?? byState;
  const rows = useVirtualizer({ count: indexes.length, getScrollElement: () => scroller.current, estimateSize: () => ROW_PX, overscan: 8 });
  const shown = rows.getVirtualItems();

  const filterKey = JSON.stringify(filter);
  useEffect(() => {
    setCurrent(0);
    scroller.current?.scrollTo({ top: 0 });
  }, [filterKey]);
  const last = shown.at(-1)?.index ?? 0;
  const askMore = causeRows !== null && last + AHEAD >= indexes.length ? causeRows.more : null;
  useEffect(() => askMore?.());

  const at = Math.min(current, Math.max(0, indexes.length - 1));
  const move = (to: number): void => {
    const next = Math.max(0, Math.min(indexes.length - 1, to));
    setCurrent(next);
    rows.scrollToIndex(next);
  };
  const open = (): void => {
    const index = indexes[at];
    if (index !== undefined) onOpen(index);
  };
  useCommands(t('list.title'), [
    { id: 'down', label: t('list.next'), keys: 'j', also: ['ArrowDown'], repeats: true, keysOnly: true, run: () => move(at + 1) },
    { id: 'up', label: t('list.previous'), keys: 'k', also: ['ArrowUp'], repeats: true, keysOnly: true, run: () => move(at - 1) },
    { id: 'first', label: t('list.first'), keys: 'g g', keysOnly: true, run: () => move(0) },
    { id: 'last', label: t('list.last'), keys: 'shift+g', keysOnly: true, run: () => move(indexes.length - 1) },
    { id: 'open', label: t('list.open'), keys: 'Enter', also: ['o'], keysOnly: true, run: open },
  ]);
  const chosen = indexes[at];
  const chosenState = chosen === undefined ? undefined : codes[chosen];

  return (
    <div className="flex flex-1 flex-col">
      <div className="flex min-h-[34px] flex-wrap items-center gap-1 px-2.5 pt-1 pb-1.5">
        <div className="flex flex-wrap items-center gap-1" role="group" aria-label={t('list.filter')}>
          <FilterButton pressed={states.length === 0} onClick={() => onFilter(EVERYTHING)}>
            {t('list.all')} {f.exact(codes.length)}
          </FilterButton>
          {STATE_ORDER.map((state) => {
            const count = view.run.states[state];
            if (count === 0 && !states.includes(state)) return null;
            const on = states.includes(state);
            return (
              <FilterButton
                key={state}
                pressed={on}
                onClick={() => onFilter({ states: on ? states.filter((s) => s !== state) : [...(cause === null ? states : []), state], cause: null })}
              >
                {t(`app:outcome.${state}`)} {f.exact(count)}
              </FilterButton>
            );
          })}
          {cause !== null && (
            <FilterButton pressed label={t('list.dropCause', { name: causeText(cause, t) })} onClick={() => onFilter({ states, cause: null })}>
              {causeText(cause, t)}
              <X className="ml-1 inline size-3 align-[-2px]" aria-hidden="true" />
            </FilterButton>
          )}
        </div>
        {chosen !== undefined && chosenState && actions && <div className="ml-auto flex gap-1">{actions(chosen, chosenState)}</div>}
      </div>
      {/* Out of the flow, so that its rows never make the page longer: it takes the room that is left, and no less than LIST_HEIGHT_PX. */}
      <div className="relative flex-1" style={{ minHeight: Math.min(LIST_HEIGHT_PX, Math.max(1, indexes.length) * ROW_PX) }}>
        <div
          ref={scroller}
          role="listbox"
          data-keys="shared"
          aria-label={t('list.title')}
          aria-activedescendant={chosen === undefined ? undefined : `prompt-${chosen}`}
          tabIndex={0}
          className="focus-inset absolute inset-0 overflow-y-auto rounded-b-[9px] border-t border-line"
        >
          {indexes.length === 0 && <p className="px-3.5 py-1.5 text-sm text-fg-3">{t('list.empty')}</p>}
          <div style={{ height: rows.getTotalSize(), position: 'relative' }} role="presentation">
            {shown.map((row) => {
              const index = indexes[row.index];
              const state = index === undefined ? undefined : codes[index];
              if (index === undefined || state === undefined) return null;
              return (
                <div
                  key={index}
                  id={`prompt-${index}`}
                  role="option"
                  aria-selected={row.index === at}
                  aria-setsize={indexes.length}
                  aria-posinset={row.index + 1}
                  onClick={() => setCurrent(row.index)}
                  onDoubleClick={() => onOpen(index)}
                  style={{ position: 'absolute', top: 0, left: 0, right: 0, height: ROW_PX, transform: `translateY(${row.start}px)` }}
                  className={cx(
                    'flex items-center gap-2.5 border-b border-line px-3.5 text-sm hover:bg-hover',
                    row.index === at && 'bg-selected shadow-[inset_2px_0_var(--accent)]',
                  )}
                >
                  <Row index={index} state={state} rollouts={view.run.spec.rollouts} scored={view.run.rewards !== null} item={causeRows?.items.get(index) ?? pages.get(index, state)} />
                </div>
              );
            })}
          </div>
        </div>
      </div>
    </div>
  );
}

function Row({ index, state, rollouts, scored, item }: { index: number; state: PromptState; rollouts: number; scored: boolean; item: PromptItem | undefined }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  return (
    <>
      <OutcomeIcon state={state} />
      <span className={cx('num shrink-0 text-right text-xs text-fg-3', rollouts > 1 ? 'w-14' : 'w-11')}>{rolloutName(index, rollouts)}</span>
      {item ? <span className="min-w-0 flex-1 truncate">{item.prompt}</span> : <Skeleton className="h-3 flex-1" />}
      {item?.removed && <Chip title={t('list.removedHint')}>{t('list.removed')}</Chip>}
      {item?.reason && (
        <span title={item.reason} className="max-w-[45%] truncate text-xs text-fg-3">
          {item.cause && state !== 'partial' ? causeText(item.cause, t) : reasonText(item.reason, t)}
        </span>
      )}
      {scored && (
        <span title={t('list.reward')} className="num w-9 shrink-0 text-right text-xs text-fg-2">
          {item && item.reward !== null ? short(item.reward) : ''}
        </span>
      )}
    </>
  );
}

function FilterButton({ pressed, label, onClick, children }: { pressed: boolean; label?: string; onClick: () => void; children: ReactNode }): ReactNode {
  return (
    <button
      type="button"
      aria-pressed={pressed}
      aria-label={label}
      onClick={onClick}
      className={cx(
        'num h-[22px] rounded-full px-2 text-xs',
        pressed ? 'bg-hover font-medium text-fg' : 'text-fg-2 hover:bg-hover hover:text-fg',
      )}
    >
      {children}
    </button>
  );
}
