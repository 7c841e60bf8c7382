import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { PROMPT_STATES } from '#shared/contract/runs.ts';
import { gapOf, gridShape, type RunView } from './run-codes.ts';
import type { PromptPages } from './prompt-pages.ts';
import { reasonText } from './reasons.ts';
import { CELL_VARIABLES } from './states.ts';

/** Height that the grid fills before its cells shrink, px. */
const GRID_HEIGHT_PX = 196;

/** Every prompt as one cell, drawn on a canvas so that 10,000 of them cost nothing. The list below is the way for the keyboard. */
export function PromptGrid({ view, pages, onOpen }: { view: RunView; pages: PromptPages; onOpen: (index: number) => void }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [theme, setTheme] = useState(0);
  const [hover, setHover] = useState<{ index: number; x: number; y: number } | null>(null);

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

  const { size, columns, rows } = gridShape(view.codes.length, width, GRID_HEIGHT_PX);
  useLayoutEffect(() => {
    if (canvas.current && width > 0) draw(canvas.current, view, size, columns, rows);
  }, [view, view.version, size, columns, rows, width, theme]);

  const indexAt = (event: { clientX: number; clientY: number }): number | null => {
    const rect = canvas.current?.getBoundingClientRect();
    if (!rect) return null;
    const column = Math.floor((event.clientX - rect.left) / size);
    const index = Math.floor((event.clientY - rect.top) / size) * columns + column;
    return column >= 0 && column < columns && index >= 0 && index < view.codes.length ? index : null;
  };

  const hovered = hover ? view.codes[hover.index] : undefined;
  const prompt = hover ? pages.get(hover.index, hovered) : undefined;
  return (
    <div ref={box} className="relative">
      <canvas
        ref={canvas}
        role="img"
        aria-label={t('grid.label', { count: view.codes.length })}
        style={{ width: '100%', height: rows * size - gapOf(size) }}
        className="block"
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
      {hover && hovered && (
        <div
          className="pointer-events-none absolute z-10 max-w-80 rounded-m border border-line bg-raised px-2 py-1 text-xs shadow-pop"
          style={{ left: Math.min(hover.x + 10, Math.max(0, width - 320)), top: hover.y + 14 }}
        >
          <div className="num text-fg-3">
            #{hover.index} · {t(`app:outcome.${hovered}`)}
          </div>
          <div className="line-clamp-2 break-words text-fg">{prompt?.prompt ?? '…'}</div>
          {prompt?.reason && <div className="line-clamp-2 text-fg-2">{reasonText(prompt.reason, t)}</div>}
        </div>
      )}
    </div>
  );
}

function draw(canvas: HTMLCanvasElement, view: RunView, size: number, columns: number, rows: number): void {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth;
  const height = rows * size - gapOf(size);
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  const context = canvas.getContext('2d');
  if (!context) return;
  context.scale(ratio, ratio);
  const style = getComputedStyle(canvas);
  const cell = size - gapOf(size);
  const radius = cell >= 10 ? 2 : cell >= 6 ? 1 : 0;
  // One path per state: ten thousand single fills would be slow.
  for (const state of PROMPT_STATES) {
    context.fillStyle = style.getPropertyValue(CELL_VARIABLES[state]);
    context.beginPath();
    for (let i = 0; i < view.codes.length; i++) {
      if (view.codes[i] !== state) continue;
      const x = (i % columns) * size;
      const y = Math.floor(i / columns) * size;
      if (radius > 0) context.roundRect(x, y, cell, cell, radius);
      else context.rect(x, y, cell, cell);
    }
    context.fill();
  }
}
