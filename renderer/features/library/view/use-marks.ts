import { useEffect, type RefObject } from 'react';
import './marks.css';

const NAME = 'found';
/** More marks than this help nobody and cost time. */
const MAX_MARKS = 2_000;

/** Marks every place of a text inside an element, also as it changes, without touching its elements (CSS custom highlights). */
export function useMarks(root: RefObject<HTMLElement | null>, query: string): void {
  useEffect(() => {
    const el = root.current;
    const text = query.trim().toLowerCase();
    if (!el || text === '' || !('highlights' in CSS)) return;
    let frame = 0;
    const mark = (): void => {
      frame = 0;
      CSS.highlights.set(NAME, new Highlight(...rangesOf(el, text)));
    };
    const later = (): void => {
      frame ||= requestAnimationFrame(mark);
    };
    const observer = new MutationObserver(later);
    observer.observe(el, { childList: true, subtree: true, characterData: true });
    mark();
    return () => {
      observer.disconnect();
      cancelAnimationFrame(frame);
      CSS.highlights.delete(NAME);
    };
  }, [root, query]);
}

/** The places of a text (lower case) within single text nodes. */
export function rangesOf(el: Node, text: string): Range[] {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(el, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node && ranges.length < MAX_MARKS; node = walker.nextNode()) {
    const lower = (node.nodeValue ?? '').toLowerCase();
    for (let at = lower.indexOf(text); at >= 0; at = lower.indexOf(text, at + text.length)) {
      const range = document.createRange();
      range.setStart(node, at);
      range.setEnd(node, Math.min(at + text.length, node.nodeValue?.length ?? 0));
      ranges.push(range);
    }
  }
  return ranges;
}
