import { useVirtualizer } from '@tanstack/react-virtual';
import { useDeferredValue, useMemo, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { MarkdownPiece } from '../../../ui/Markdown.tsx';
import { splitPieces, type Piece } from '../../../ui/markdown-pieces.ts';
import { frontmatterRange } from '../properties/frontmatter.ts';

const LINE_PX = 20;
const LINE_CHARS = 60;

/** The text as it reads, piece by piece: only pieces on screen are made, and only changed ones anew. */
export function Preview({ text }: { text: string }): ReactNode {
  const { t } = useTranslation('skills');
  const shown = useDeferredValue(text);
  const pieces = useMemo(() => splitPieces(shown.slice(frontmatterRange(shown)?.body ?? 0)), [shown]);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: pieces.length,
    getScrollElement: () => scroller.current,
    estimateSize: (i) => heightOf(pieces[i]),
    overscan: 3,
    paddingStart: 12,
    paddingEnd: 40,
  });
  const items = virtual.getVirtualItems();
  if (pieces.length === 0) return <p className="p-4 text-fg-3">{t('preview.empty')}</p>;
  return (
    <div ref={scroller} tabIndex={0} role="region" aria-label={t('preview.label')} className="focus-inset h-full overflow-x-hidden overflow-y-auto px-4">
      <div className="relative" style={{ height: virtual.getTotalSize() }}>
        <div className="absolute inset-x-0 top-0" style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
          {items.map((item) => {
            const piece = pieces[item.index];
            return (
              <div key={item.key} ref={virtual.measureElement} data-index={item.index} className="pb-2">
                {piece && <MarkdownPiece piece={piece} />}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}

function heightOf(piece: Piece | undefined): number {
  if (!piece) return 40;
  const lines = piece.text.split('\n');
  if (piece.kind === 'code') return 36 + lines.length * 17;
  return 10 + lines.reduce((sum, line) => sum + Math.ceil(line.length / LINE_CHARS) * LINE_PX, 0);
}
