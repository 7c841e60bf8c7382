import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { PromptState } from '#shared/contract/runs.ts';
import { useCommands } from '../../lib/commands.tsx';
import { cx } from '../../lib/cx.ts';
import { useFormat } from '../../lib/i18n.ts';
import { OutcomeIcon } from '../../ui/Chip.tsx';
import { Skeleton } from '../../ui/Feedback.tsx';
import type { PromptPages } from './prompt-pages.ts';
import { indexesIn, type RunView } from './run-codes.ts';
import { reasonText } from './reasons.ts';
import { STATE_ORDER } from './states.ts';

const ROW_PX = 30;
const LIST_HEIGHT_PX = 300;

/** The prompts one by one, filtered by state: the grid for the keyboard, and for reading. */
export function PromptList({ view, pages, onOpen }: { view: RunView; pages: PromptPages; onOpen: (index: number) => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const [states, setStates] = useState<readonly PromptState[]>([]);
  const [current, setCurrent] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const { codes, version } = view;
  // `codes` changes in place: its version says when.
  const indexes = useMemo(() => (version >= 0 ? indexesIn(codes, states) : []), [codes, version, states]);
  const rows = useVirtualizer({ count: indexes.length, getScrollElement: () => scroller.current, estimateSize: () => ROW_PX, overscan: 8 });

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

  return (
    <div className="flex flex-1 flex-col">
      <div className="flex flex-wrap items-center gap-1 px-2.5 pt-1.5 pb-2" role="group" aria-label={t('list.filter')}>
        <FilterButton pressed={states.length === 0} onClick={() => setStates([])}>
          {t('list.all')} {f.exact(codes.length)}
        </FilterButton>
        {STATE_ORDER.map((state) => {
          const count = view.run.states[state];
          if (count === 0 && !states.includes(state)) return null;
          const on = states.includes(state);
          return (
            <FilterButton key={state} pressed={on} onClick={() => setStates(on ? states.filter((s) => s !== state) : [...states, state])}>
              {t(`app:outcome.${state}`)} {f.exact(count)}
            </FilterButton>
          );
        })}
      </div>
      {/* Out of the flow, so that its rows never make the page longer: it takes the room that is left, and no less than LIST_HEIGHT_PX. */}
      <div className="relative flex-1" style={{ minHeight: Math.min(LIST_HEIGHT_PX, Math.max(1, indexes.length) * ROW_PX) }}>
        <div
          ref={scroller}
          role="listbox"
          data-keys="shared"
          aria-label={t('list.title')}
          aria-activedescendant={indexes.length > 0 ? `prompt-${indexes[at]}` : undefined}
          tabIndex={0}
          className="focus-inset absolute inset-0 overflow-y-auto rounded-b-[9px] border-t border-line"
        >
          {indexes.length === 0 && <p className="px-3.5 py-1.5 text-sm text-fg-3">{t('list.empty')}</p>}
          <div style={{ height: rows.getTotalSize(), position: 'relative' }} role="presentation">
            {rows.getVirtualItems().map((row) => {
              const index = indexes[row.index];
              const state = index === undefined ? undefined : codes[index];
              if (index === undefined || state === undefined) return null;
              const item = pages.get(index, state);
              return (
                <div
                  key={index}
                  id={`prompt-${index}`}
                  role="option"
                  aria-selected={row.index === at}
                  aria-setsize={indexes.length}
                  aria-posinset={row.index + 1}
                  onClick={() => {
                    setCurrent(row.index);
                    onOpen(index);
                  }}
                  style={{ position: 'absolute', top: 0, left: 0, right: 0, height: ROW_PX, transform: `translateY(${row.start}px)` }}
                  className={cx(
                    'flex items-center gap-2.5 border-b border-line px-3.5 text-sm hover:bg-hover',
                    row.index === at && 'bg-selected shadow-[inset_2px_0_var(--accent)]',
                  )}
                >
                  <OutcomeIcon state={state} />
                  <span className="num w-10 shrink-0 text-right text-xs text-fg-3">#{index}</span>
                  {item ? <span className="min-w-0 flex-1 truncate">{item.prompt}</span> : <Skeleton className="h-3 flex-1" />}
                  {item?.reason && (
                    <span title={item.reason} className="max-w-[45%] truncate text-xs text-fg-3">
                      {reasonText(item.reason, t)}
                    </span>
                  )}
                </div>
              );
            })}
          </div>
        </div>
      </div>
    </div>
  );
}

function FilterButton({ pressed, onClick, children }: { pressed: boolean; onClick: () => void; children: ReactNode }): ReactNode {
  return (
    <button
      type="button"
      aria-pressed={pressed}
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
