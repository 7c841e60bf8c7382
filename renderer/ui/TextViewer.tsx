import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, type ReactNode } from 'react';
import { cx } from '../lib/cx.ts';
import { splitLines } from './text-lines.ts';

const LINE_PX = 18;

/**
 * Long plain text, read fast: only the lines on screen exist. Lines wrap; very long ones are broken into pieces.
 * Whole-text copying belongs to a button beside it, since a selection ends at what is on screen.
 * @param label says what the region is @param firstLine number of the first line; null = no numbers
 * @param className must give it a height (or a maximum)
 */
export function TextViewer({ text, label, firstLine = null, className }: {
  text: string; label: string; firstLine?: number | null; className?: string;
}): ReactNode {
  const lines = useMemo(() => splitLines(text), [text]);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => LINE_PX,
    overscan: 20,
  });
  const items = virtual.getVirtualItems();
  return (
    <div ref={scroller} tabIndex={0} role="region" aria-label={label} className={cx('focus-inset overflow-auto bg-code font-mono text-xs leading-[18px] text-fg-2', className)}>
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        <div className="absolute inset-x-0 top-0 px-2.5" style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
          {items.map((item) => {
            const line = lines[item.index];
            return (
              <div key={item.key} ref={virtual.measureElement} data-index={item.index} className="flex min-h-[18px] gap-3">
                {firstLine !== null && (
                  <span className="num w-9 shrink-0 text-right text-fg-3 select-none" aria-hidden="true">
                    {line && line.number !== null ? firstLine + line.number : ''}
                  </span>
                )}
                <span className="min-w-0 flex-1 wrap-anywhere whitespace-pre-wrap">{line?.text}</span>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
