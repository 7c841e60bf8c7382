import { useEffect, useLayoutEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { PROMPT_STATES } from '#shared/contract/runs.ts';
import { gridLayout, type GridLayout } from './grid-layout.ts';
import { rolloutName, type RunView } from './run-codes.ts';
import type { PromptPages } from './prompt-pages.ts';
import { reasonText } from './reasons.ts';
import { CELL_VARIABLES } from './states.ts';

/** Height that the grid fills before its cells shrink, px. */
const GRID_HEIGHT_PX = 196;
/** Height of the part that is seen of a grid that does not fit with the smallest cells, px. */
const WINDOW_HEIGHT_PX = 220;

/**
 * Every rollout as one cell, those of a prompt side by side. Only what is seen is drawn, on one canvas, so that 100,000 of them cost no
 * more than a few thousand. The list below is the way for the keyboard.
 */
export function PromptGrid({ view, pages, onOpen }: { view: RunView; pages: PromptPages; onOpen: (index: number) => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [theme, setTheme] = useState(0);
  const [top, setTop] = useState(0);
  const [hover, setHover] = useState<{ index: number; x: number; y: number } | null>(null);
  const count = view.codes.length;
  const { rollouts } = view.run.spec;

  useLayoutEffect(() => {
    const el = box.current;
    if (!el) return;
    setWidth(el.clientWidth);
    const observer = new ResizeObserver(() => setWidth(el.clientWidth));
    observer.observe(el);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    const observer = new MutationObserver(() => setTheme((n) => n + 1));
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
    return () => observer.disconnect();
  }, []);

  const layout = useMemo(() => gridLayout(count, rollouts, width, GRID_HEIGHT_PX), [count, rollouts, width]);
  const height = Math.min(layout.height, WINDOW_HEIGHT_PX);
  useLayoutEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, view, layout, top, height);
  }, [view, view.version, layout, top, height, width, theme]);

  const indexAt = (event: { clientX: number; clientY: number }): number | null => {
    const rect = canvas.current?.getBoundingClientRect();
    // where it is scrolled to now: what is drawn follows a moment later
    return rect ? layout.at(event.clientX - rect.left, event.clientY - rect.top + (box.current?.scrollTop ?? 0)) : null;
  };

  const hovered = hover ? view.codes[hover.index] : undefined;
  const prompt = hover ? pages.get(hover.index, hovered) : undefined;
  return (
    <div className="relative">
      <div
        ref={box}
        data-grid=""
        className="overflow-x-hidden overflow-y-auto"
        style={{ height }}
        onScroll={(e) => {
          setTop(e.currentTarget.scrollTop);
          setHover(null);
        }}
      >
        <div style={{ height: layout.height }}>
          <canvas
            ref={canvas}
            role="img"
            aria-label={t('grid.label', { count })}
            style={{ width: '100%', height }}
            className="sticky top-0 block"
            onPointerMove={(e) => {
              const index = indexAt(e);
              const rect = box.current?.getBoundingClientRect();
              setHover(index === null || !rect ? null : { index, x: e.clientX - rect.left, y: e.clientY - rect.top });
            }}
            onPointerLeave={() => setHover(null)}
            onClick={(e) => {
              const index = indexAt(e);
              if (index !== null) onOpen(index);
            }}
          />
        </div>
      </div>
      {hover && hovered && (
        <div
          className="pointer-events-none absolute z-10 max-w-80 rounded-m border border-line bg-raised px-2 py-1 text-xs shadow-pop"
          style={{ left: Math.min(hover.x + 10, Math.max(0, width - 320)), top: hover.y + 14 }}
        >
          <div className="num text-fg-3">
            {rolloutName(hover.index, rollouts)} · {t(`app:outcome.${hovered}`)}
          </div>
          <div className="line-clamp-2 break-words text-fg">{prompt?.prompt ?? '…'}</div>
          {prompt?.reason && <div className="line-clamp-2 text-fg-2">{reasonText(prompt.reason, t)}</div>}
        </div>
      )}
    </div>
  );
}

/** Draws the stretch of the grid from `top` on, as high as the canvas. */
function draw(canvas: HTMLCanvasElement, view: RunView, layout: GridLayout, top: number, height: number): void {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.round(canvas.clientWidth * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d');
  if (!context) return;
  context.scale(ratio, ratio);
  context.translate(0, -top);
  const style = getComputedStyle(canvas);
  const cell = layout.size - layout.gap;
  const radius = cell >= 10 ? 2 : cell >= 6 ? 1 : 0;
  const { from, to } = layout.between(top, top + height);
  // One path per state: thousands of single fills would be slow.
  for (const state of PROMPT_STATES) {
    context.fillStyle = style.getPropertyValue(CELL_VARIABLES[state]);
    context.beginPath();
    for (let i = from; i < to; i++) {
      if (view.codes[i] !== state) continue;
      const { x, y } = layout.cell(i);
      if (radius > 0) context.roundRect(x, y, cell, cell, radius);
      else context.rect(x, y, cell, cell);
    }
    context.fill();
  }
}
