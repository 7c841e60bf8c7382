import { MergeView } from '@codemirror/merge';
import { EditorState } from '@codemirror/state';
import { EditorView, lineNumbers } from '@codemirror/view';
import { useEffect, useRef, type ReactNode } from 'react';
import { languageOf } from './languages.ts';
import { usePhrases } from './phrases.ts';
import { looks, styleNonce } from './theme.ts';

/** Longer texts are compared roughly, so that the page never waits. */
const SCAN_LIMIT = 2_000;

/** Two texts side by side, the newer one at the right; what is the same over many lines is folded. Nothing can be edited. */
export default function SideBySide({ before, after, path, labels }: { before: string; after: string; path: string; labels: [before: string, after: string] }): ReactNode {
  const phrases = usePhrases();
  const place = useRef<HTMLDivElement>(null);
  const [left, right] = labels;
  useEffect(() => {
    const side = (doc: string, label: string): { doc: string; extensions: readonly import('@codemirror/state').Extension[] } => ({
      doc,
      extensions: [styleNonce(), looks, lineNumbers(), EditorView.lineWrapping, languageOf(path), EditorState.readOnly.of(true), EditorState.phrases.of(phrases), EditorView.contentAttributes.of({ 'aria-label': label, 'aria-readonly': 'true' })],
    });
    const view = new MergeView({
      a: side(before, left),
      b: side(after, right),
      parent: place.current!,
      gutter: true,
      highlightChanges: true,
      collapseUnchanged: { margin: 3, minSize: 6 },
      diffConfig: { scanLimit: SCAN_LIMIT, timeout: 500 },
    });
    return () => view.destroy();
  }, [before, after, path, left, right, phrases]);
  return <div ref={place} className="h-full min-h-0 overflow-auto bg-bg" />;
}
