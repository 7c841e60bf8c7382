import { ChevronDown, ChevronUp, X } from 'lucide-react';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '../../../lib/i18n.ts';
import { IconButton } from '../../../ui/Button.tsx';
import { Input } from '../../../ui/Input.tsx';
import { findInTurns } from './find.ts';
import { setOpen, type FoldStore } from './folds.ts';
import type { Turn } from './turns.ts';

/** Finds text in the open trajectory; the browser's own find cannot see turns that are not on screen. */
export function FindBar({ turns, asked, complete, query, onQuery, current, folds, onGo, onClose }: {
  turns: readonly Turn[]; asked: number; complete: boolean; query: string; onQuery: (query: string) => void; current: number; folds: FoldStore; onGo: (turn: number) => void; onClose: () => void;
}): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const input = useRef<HTMLInputElement>(null);
  const hits = useMemo(() => findInTurns(turns, query), [turns, query]);
  const [at, setAt] = useState(-1);
  useEffect(() => input.current?.select(), [asked]);

  const go = (index: number): void => {
    const hit = hits[index];
    if (!hit) return;
    setAt(index);
    setOpen(folds, hit.parts, true);
    onGo(hit.turn);
  };
  const step = (by: 1 | -1): void => {
    if (hits.length === 0) return;
    // The first step goes on from where one reads.
    if (at < 0 || at >= hits.length) go(by > 0 ? Math.max(0, hits.findIndex((h) => h.turn >= current)) : hits.length - 1);
    else go((at + by + hits.length) % hits.length);
  };
  const say = query.trim() === '' ? '' : hits.length === 0 ? (complete ? t('find.none') : t('find.searching')) : at < 0 || at >= hits.length ? t('find.turns', { count: hits.length, shown: format.exact(hits.length) }) : t('find.place', { at: format.exact(at + 1), total: format.exact(hits.length) });
  return (
    <search className="absolute top-2 right-4 z-10 flex items-center gap-1 rounded-m border border-line-strong bg-raised p-1 shadow-pop">
      <Input
        ref={input}
        aria-label={t('find.label')}
        placeholder={t('find.label')}
        value={query}
        className="w-44"
        onChange={(e) => {
          setAt(-1);
          onQuery(e.target.value);
        }}
        onKeyDown={(e) => {
          if (e.nativeEvent.isComposing) return;
          if (e.key === 'Enter') step(e.shiftKey ? -1 : 1);
          else if (e.key === 'Escape') onClose();
          else return;
          e.preventDefault();
        }}
      />
      <span className="num min-w-20 text-center text-xs text-fg-3" aria-live="polite">{say}</span>
      <IconButton icon={ChevronUp} size="sm" label={t('find.previous')} disabled={hits.length === 0} onClick={() => step(-1)} />
      <IconButton icon={ChevronDown} size="sm" label={t('find.next')} disabled={hits.length === 0} onClick={() => step(1)} />
      <IconButton icon={X} size="sm" label={t('find.close')} onClick={onClose} />
    </search>
  );
}
