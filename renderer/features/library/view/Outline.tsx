import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../../../lib/cx.ts';
import type { OutlineEntry } from './outline.ts';

const ENTRY_PX = 21;
const DOTS = { human: 'bg-role-human', agent: 'bg-role-agent', tool: 'bg-role-tool', harness: 'bg-line-strong', system: 'bg-line-strong' };

/** The steps at the left of the turns; the current one is marked and kept in sight. */
export const Outline = memo(function Outline({ entries, current, onGo }: { entries: readonly OutlineEntry[]; current: number; onGo: (turn: number) => void }): ReactNode {
  const { t } = useTranslation('library');
  const scroller = useRef<HTMLElement>(null);
  const virtual = useVirtualizer<HTMLElement, HTMLButtonElement>({ count: entries.length, getScrollElement: () => scroller.current, estimateSize: () => ENTRY_PX, overscan: 10, paddingStart: 10, paddingEnd: 10 });
  const at = entries.findIndex((e) => e.turn === current);
  useEffect(() => {
    if (at >= 0) virtual.scrollToIndex(at, { align: 'auto' });
  }, [virtual, at]);
  const items = virtual.getVirtualItems();
  return (
    <nav ref={scroller} aria-label={t('view.outline')} tabIndex={0} className="focus-inset h-full overflow-x-hidden overflow-y-auto border-r border-line text-xs text-fg-3">
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        <div className="absolute inset-x-0 top-0" style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
          {items.map((item) => {
            const entry = entries[item.index];
            if (!entry) return null;
            const text = labelText(entry, t);
            return (
              <button
                key={item.key}
                type="button"
                tabIndex={-1}
                title={text}
                aria-current={entry.turn === current ? 'step' : undefined}
                onClick={() => onGo(entry.turn)}
                className={cx('flex h-[21px] w-full min-w-0 items-center gap-1.5 px-2.5 text-left hover:text-fg', entry.turn === current && 'bg-hover text-fg', entry.failed && 'text-bad')}
              >
                <i aria-hidden="true" className={cx('size-1.5 shrink-0 rounded-[2px]', entry.failed ? 'bg-bad' : DOTS[entry.role])} />
                <span className="num shrink-0">{item.index + 1}</span>
                <span className="truncate">{text}</span>
              </button>
            );
          })}
        </div>
      </div>
    </nav>
  );
});

function labelText({ label }: OutlineEntry, t: ReturnType<typeof useTranslation<'library'>>['t']): string {
  switch (label.is) {
    case 'tool':
      return label.times > 1 ? `${label.name} ×${label.times}` : label.name;
    case 'exit':
      return t('outline.exit', { code: label.code });
    case 'hits':
      return t('outline.hits', { count: label.count });
    default:
      return t(`outline.${label.is}`);
  }
}
