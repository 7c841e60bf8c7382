import { useVirtualizer } from '@tanstack/react-virtual';
import { ArrowDown } from 'lucide-react';
import { useEffect, useImperativeHandle, useLayoutEffect, useRef, useState, type ReactNode, type Ref } from 'react';
import { useTranslation } from 'react-i18next';
import type { TrajectoryDetail } from '#shared/trajectory.ts';
import { Button } from '../../../ui/Button.tsx';
import { Spinner } from '../../../ui/Feedback.tsx';
import { LiveTail } from './LiveTail.tsx';
import { Stats } from './Stats.tsx';
import { TurnBlock } from './TurnBlock.tsx';
import type { Transcript } from './transcript.ts';
import { answerIndex, type Turn } from './turns.ts';

export interface TurnListHandle {
  focus: () => void;
  go: (turn: number) => void;
}

/** How near the end still counts as reading along, px. */
const AT_END_PX = 40;

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

  useImperativeHandle(ref, () => ({
    focus: () => scroller.current?.focus({ preventScroll: true }),
    go: (turn) => {
      setFollows(false);
      pinned.current = turn;
      virtual.scrollToIndex(turn, { align: 'start' });
      onCurrent(turn);
    },
  }), [virtual, onCurrent]);

  const onScroll = (): void => {
    const el = scroller.current;
    if (!el) return;
    const fromEnd = el.scrollHeight - el.scrollTop - el.clientHeight;
    if (running && fromEnd < AT_END_PX && pinned.current === null) setFollows(true);
    if (pinned.current !== null || follows) return;
    const top = virtual.getVirtualItemForOffset(el.scrollTop + 24);
    if (top) onCurrent(Math.min(top.index, turns.length - 1));
  };
  // Only a hand on the scroll position ends reading along; growth of the text does not.
  const onHand = (): void => {
    pinned.current = null;
    const el = scroller.current;
    if (el && follows) requestAnimationFrame(() => setFollows(el.scrollHeight - el.scrollTop - el.clientHeight < AT_END_PX));
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
        onWheel={onHand}
        onTouchMove={onHand}
        onPointerDown={onHand}
        onKeyDown={(e) => ['ArrowUp', 'ArrowDown', 'PageUp', 'PageDown', 'Home', 'End', ' '].includes(e.key) && onHand()}
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
            className="rounded-full shadow-pop"
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
