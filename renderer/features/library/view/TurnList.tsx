import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState, type ReactNode, type Ref } from 'react';
import { useTranslation } from 'react-i18next';
import type { TrajectoryDetail } from '#shared/trajectory.ts';
import { Button } from '../../../ui/Button.tsx';
import { Spinner } from '../../../ui/Spinner.tsx';
import { LiveTail } from './LiveTail.tsx';
import { Stats } from './Stats.tsx';
import { TurnBlock } from './TurnBlock.tsx';
import type { Transcript } from './transcript.ts';
import { answerIndex, type Turn } from './turns.ts';
import { rangesOf } from './use-marks.ts';

export interface TurnListHandle {
  focus: () => void;
  go: (turn: number) => void;
  /** To the last turn, also when it has yet to be loaded. */
  goEnd: () => void;
  /** Scrolls to the first place of a text within a turn, when it is out of sight. */
  reveal: (turn: number, text: string) => void;
}

/** How near the end still counts as reading along, px. */
const AT_END_PX = 40;
const SCROLL_KEYS = new Set(['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End', ' ']);

/** A guess that only has to be near: what is measured replaces it. */
function estimate(turn: Turn | undefined): number {
  if (!turn) return 240;
  if (turn.kind === 'system') return 60;
  const text = Math.ceil(Math.min(turn.message.content.length, 12_000) / 90) * 20;
  if (turn.kind !== 'assistant') return 48 + text;
  return 48 + text + (turn.message.reasoning ? 28 : 0) + turn.calls.length * 150;
}

/** The turns, of which only those on screen exist. While it runs it reads along at the end, unless one has scrolled away. */
export function TurnList({ transcript, turns, detail, complete, current, onCurrent, onCopy, ref }: {
  transcript: Transcript; turns: readonly Turn[]; detail: TrajectoryDetail; complete: boolean; current: number; onCurrent: (turn: number) => void; onCopy: (turn: Turn) => void; ref: Ref<TurnListHandle>;
}): ReactNode {
  const { t } = useTranslation('library');
  const scroller = useRef<HTMLDivElement>(null);
  const running = detail.state === 'running';
  const [follows, setFollows] = useState(running);
  const pinned = useRef<number | null>(null);
  const lastTop = useRef(0);
  const endWanted = useRef(false);
  const count = turns.length + 1;
  const virtual = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: (i) => estimate(turns[i]),
    getItemKey: (i) => turns[i]?.key ?? 'end',
    overscan: 4,
    paddingStart: 4,
    scrollPaddingStart: 4,
  });
  useEffect(() => {
    // A turn that is measured first while it comes in from above, or lies wholly above, must not push what is read;
    // one that a person unfolds grows downwards from where it was pressed.
    virtual.shouldAdjustScrollPositionOnItemSizeChange = (item, _delta, instance) => {
      const top = instance.scrollOffset ?? 0;
      return item.end <= top || (item.start < top && !instance.itemSizeCache.has(item.key));
    };
  }, [virtual]);
  const items = virtual.getVirtualItems();
  const answer = running ? -1 : answerIndex(turns);
  const task = turns.findIndex((turn) => turn.kind === 'user' && !turn.message.synthetic);
  const lastStep = turns.findLast((turn) => turn.kind === 'assistant')?.step ?? 0;

  // Reading along: whatever makes the list longer, the end stays in sight.
  const size = virtual.getTotalSize();
  useLayoutEffect(() => {
    const el = scroller.current;
    if (el && follows) el.scrollTop = el.scrollHeight;
  }, [follows, size, count]);

  const go = useCallback((turn: number) => {
    setFollows(false);
    pinned.current = turn;
    virtual.scrollToIndex(turn, { align: 'start' });
    onCurrent(turn);
  }, [virtual, onCurrent]);
  useImperativeHandle(ref, () => ({
    focus: () => scroller.current?.focus({ preventScroll: true }),
    go: (turn) => {
      endWanted.current = false;
      go(turn);
    },
    goEnd: () => {
      endWanted.current = !complete;
      go(turns.length - 1);
    },
    reveal: (turn, text) => {
      const el = scroller.current;
      const block = el?.querySelector(`[data-index="${turn}"]`);
      const place = block && rangesOf(block, text.trim().toLowerCase())[0]?.getBoundingClientRect();
      if (!el || !place) return;
      const box = el.getBoundingClientRect();
      if (place.top < box.top || place.bottom > box.bottom) el.scrollTop += place.top - box.top - box.height / 3;
    },
  }), [go, complete, turns.length]);
  useEffect(() => {
    if (endWanted.current) go(turns.length - 1);
    if (complete) endWanted.current = false;
  }, [go, complete, turns.length]);

  const onScroll = (): void => {
    const el = scroller.current;
    if (!el) return;
    const down = el.scrollTop > lastTop.current;
    lastTop.current = el.scrollTop;
    if (running && down && pinned.current === null && el.scrollHeight - el.scrollTop - el.clientHeight < AT_END_PX) setFollows(true);
    if (pinned.current !== null || follows) return;
    const top = virtual.getVirtualItemForOffset(el.scrollTop + 24);
    if (top) onCurrent(Math.min(top.index, turns.length - 1));
  };
  // Only a hand on the scroll position ends reading along, and at once: the next piece of text must not pull it back.
  const onHand = (towardsStart: boolean): void => {
    pinned.current = null;
    endWanted.current = false;
    if (towardsStart) setFollows(false);
  };
  useEffect(() => {
    if (follows && turns.length > 0) onCurrent(turns.length - 1);
  }, [follows, turns.length, onCurrent]);

  return (
    <div className="relative min-h-0 min-w-0 flex-1">
      <div
        ref={scroller}
        tabIndex={0}
        role="region"
        aria-label={t('view.turns')}
        onScroll={onScroll}
        onWheel={(e) => onHand(e.deltaY < 0)}
        onTouchMove={() => onHand(true)}
        onPointerDown={(e) => onHand(e.target === e.currentTarget)}
        onKeyDown={(e) => SCROLL_KEYS.has(e.key) && onHand(e.key !== 'ArrowDown' && e.key !== 'PageDown' && e.key !== 'End')}
        className="focus-inset h-full overflow-x-hidden overflow-y-auto px-4 [overflow-anchor:none]"
      >
        <div className="relative" style={{ height: size }}>
          <div className="absolute inset-x-0 top-0" style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
            {items.map((item) => {
              const turn = turns[item.index];
              return (
                <div key={item.key} ref={virtual.measureElement} data-index={item.index}>
                  {turn ? (
                    <TurnBlock turn={turn} isAnswer={item.index === answer} isTask={item.index === task} current={item.index === current} running={running && item.index === turns.length - 1} tools={detail.tools} onCopy={onCopy} />
                  ) : running && complete ? (
                    <LiveTail transcript={transcript} step={lastStep + 1} />
                  ) : complete ? (
                    <Stats detail={detail} />
                  ) : (
                    <p className="flex h-16 items-center gap-2 text-sm text-fg-3"><Spinner /> {t('view.loadingMore')}</p>
                  )}
                </div>
              );
            })}
          </div>
        </div>
      </div>
      {running && !follows && (
        <div className="absolute inset-x-0 bottom-3 flex justify-center">
          <Button
            icon={ArrowDown}
            className="rounded-full! shadow-pop"
            onClick={() => {
              pinned.current = null;
              setFollows(true);
            }}
          >
            {t('view.follow')}
          </Button>
        </div>
      )}
    </div>
  );
}
