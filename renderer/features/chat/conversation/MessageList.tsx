import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState, type ReactNode, type Ref } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { MessageRow } from './MessageRow.tsx';
import { estimateRow, type Row } from './rows.ts';

export interface MessageListHandle {
  focus: () => void;
  toEnd: () => void;
  toStart: () => void;
  /** Puts the row at the top. */
  go: (index: number) => void;
  /** The first row that can be read now. */
  firstSeen: () => number;
}

/** How near the end still counts as reading along, px. */
const AT_END_PX = 40;
/** So far from the first row that is here, older ones are asked for, px. */
const OLDER_PX = 2_000;

/** The rows, of which only those on screen exist. Reads along at the end unless one has scrolled away; never moves what is being read. */
export function MessageList({ rows, last, end, loading, onOlder, ref }: {
  rows: readonly Row[];
  /** Seq of the newest message. */
  last: number;
  /** What stands below the last message. */
  end: ReactNode;
  /** Older ones are still to come. */
  loading: boolean;
  /** One comes near the first row. */
  onOlder: () => void;
  ref: Ref<MessageListHandle>;
}): ReactNode {
  const { t } = useTranslation('chat');
  const format = useFormat();
  const scroller = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  /** The newest message there was when one left the end. */
  const [left, setLeft] = useState(last);
  const lastTop = useRef(0);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (i) => estimateRow(rows[i]),
    getItemKey: useCallback((i: number) => rows[i]?.key ?? i, [rows]),
    anchorTo: 'end',
    overscan: 8,
    paddingStart: 12,
    scrollPaddingStart: 8,
  });
  useEffect(() => {
    // A row that is measured first while it comes in from above, or lies wholly above, must not push what is read;
    // one that a person unfolds grows downwards from where it was pressed.
    virtual.shouldAdjustScrollPositionOnItemSizeChange = (item, _delta, instance) => {
      const top = instance.scrollOffset ?? 0;
      return item.end <= top || (item.start < top && !instance.itemSizeCache.has(item.key));
    };
  }, [virtual]);
  const items = virtual.getVirtualItems();

  // Reading along: whatever makes the list longer, the end stays in sight.
  const size = virtual.getTotalSize();
  useLayoutEffect(() => {
    const el = scroller.current;
    if (el && follows) el.scrollTop = el.scrollHeight;
  }, [follows, size, rows.length]);

  // Only a hand on the scroll position ends reading along, and at once: the next piece of text must not pull it back.
  const leaveEnd = (): void => {
    if (follows) setLeft(last);
    setFollows(false);
  };
  useImperativeHandle(ref, () => ({
    focus: () => scroller.current?.focus({ preventScroll: true }),
    toEnd: () => setFollows(true),
    toStart: () => {
      setLeft(last);
      setFollows(false);
      virtual.scrollToIndex(0, { align: 'start' });
    },
    go: (index) => {
      if (follows) setLeft(last);
      setFollows(false);
      virtual.scrollToIndex(index, { align: 'start' });
    },
    firstSeen: () => virtual.getVirtualItemForOffset((scroller.current?.scrollTop ?? 0) + 16)?.index ?? 0,
  }), [virtual, last, follows]);

  const onScroll = (): void => {
    const el = scroller.current;
    if (!el) return;
    const down = el.scrollTop > lastTop.current;
    lastTop.current = el.scrollTop;
    if (down && el.scrollHeight - el.scrollTop - el.clientHeight < AT_END_PX) setFollows(true);
    if (el.scrollTop < OLDER_PX) onOlder();
  };
  const fresh = rows.filter((row) => row.head && row.seq > left).length;
  return (
    <div className="relative h-full min-h-0" aria-busy={loading || undefined}>
      <div
        ref={scroller}
        tabIndex={0}
        role="log"
        aria-live="off"
        aria-label={t('conversation.label')}
        onScroll={onScroll}
        onWheel={(e) => e.deltaY < 0 && leaveEnd()}
        onTouchMove={leaveEnd}
        onPointerDown={(e) => e.target === e.currentTarget && leaveEnd()}
        onKeyDown={(e) => (e.key === 'ArrowUp' || e.key === 'PageUp' || (e.key === ' ' && e.shiftKey)) && leaveEnd()}
        className="focus-inset h-full overflow-x-hidden overflow-y-auto [overflow-anchor:none]"
      >
        <div className="relative mx-auto w-full max-w-[784px] px-4" style={{ height: size }}>
          <div className="absolute inset-x-4 top-0" style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
            {items.map((item) => {
              const row = rows[item.index];
              return (
                <div key={item.key} ref={virtual.measureElement} data-index={item.index} className="group/line flow-root">
                  {row && (row.kind === 'end' ? end : <MessageRow row={row} />)}
                </div>
              );
            })}
          </div>
        </div>
      </div>
      {!follows && (
        <div className="pointer-events-none absolute inset-x-0 bottom-3 flex justify-center">
          <Button icon={ArrowDown} className="pointer-events-auto rounded-full! shadow-pop" onClick={() => setFollows(true)}>
            {fresh > 0 ? t('conversation.fresh', { count: fresh, shown: format.exact(fresh) }) : t('conversation.toEnd')}
          </Button>
        </div>
      )}
    </div>
  );
}
