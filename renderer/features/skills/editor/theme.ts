import { HighlightStyle, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { EditorView } from '@codemirror/view';
import { tags } from '@lezer/highlight';

const STYLE = HighlightStyle.define([
  { tag: tags.heading, fontWeight: '600', color: 'var(--fg)' },
  { tag: [tags.processingInstruction, tags.contentSeparator, tags.meta], color: 'var(--fg-3)' },
  { tag: tags.strong, fontWeight: '600' },
  { tag: tags.emphasis, fontStyle: 'italic' },
  { tag: tags.strikethrough, textDecoration: 'line-through' },
  { tag: [tags.monospace, tags.string], color: 'var(--good)' },
  { tag: tags.quote, color: 'var(--fg-2)' },
  { tag: [tags.link, tags.url], color: 'var(--accent)' },
  { tag: [tags.definition(tags.propertyName), tags.propertyName], color: 'var(--info)' },
  { tag: [tags.keyword, tags.atom, tags.bool], color: 'var(--role-tool)' },
  { tag: tags.number, color: 'var(--warn)' },
  { tag: [tags.comment, tags.labelName], color: 'var(--fg-3)' },
]);

const THEME = EditorView.theme({
  '&': { height: '100%', backgroundColor: 'var(--bg)', color: 'var(--fg)', fontSize: 'var(--text-md)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-mono)', fontSize: '12.5px', lineHeight: '1.6', overflowX: 'auto' },
  '.cm-content': { fontVariantLigatures: 'none', padding: '8px 0 40px', caretColor: 'var(--fg)' },
  '.cm-line': { padding: '0 14px 0 8px' },
  '.cm-gutters': { backgroundColor: 'var(--bg)', color: 'var(--fg-3)', border: '0', fontSize: 'var(--text-xs)' },
  '.cm-lineNumbers .cm-gutterElement': { padding: '0 6px 0 8px', minWidth: '34px', lineHeight: '20px', fontVariantNumeric: 'tabular-nums' },
  '.cm-gutter-lint': { width: '12px' },
  '.cm-gutter-lint .cm-gutterElement': { padding: '5px 1px' },
  '.cm-lint-marker': { width: '9px', height: '9px', borderRadius: '50%' },
  '.cm-lint-marker-error': { content: 'none', backgroundColor: 'var(--bad)' },
  '.cm-lint-marker-warning': { content: 'none', backgroundColor: 'var(--warn)' },
  '.cm-lint-marker-info': { content: 'none', backgroundColor: 'var(--info)' },
  '.cm-lintRange': { backgroundImage: 'none', paddingBottom: '0', textDecoration: 'underline wavy', textDecorationSkipInk: 'none', textUnderlineOffset: '3px', textDecorationThickness: '1px' },
  '.cm-lintRange-error': { textDecorationColor: 'var(--bad)' },
  '.cm-lintRange-warning': { textDecorationColor: 'var(--warn)' },
  '.cm-lintRange-info': { textDecorationColor: 'var(--info)' },
  '.cm-lintRange-active': { backgroundColor: 'transparent' },
  '.cm-lintPoint:after': { display: 'none' },
  '&.cm-focused .cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--bg-hover) 55%, transparent)' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '.cm-activeLineGutter': { backgroundColor: 'transparent', color: 'var(--fg)' },
  '.cm-cursor': { borderLeftColor: 'var(--fg)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': { background: 'var(--accent-soft)' },
  '.cm-selectionMatch': { backgroundColor: 'var(--bg-hover)' },
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)', outline: '1px solid var(--warn)' },
  '.cm-searchMatch-selected': { backgroundColor: 'var(--accent-soft)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--bg-hover)' },
  '.cm-tooltip': { backgroundColor: 'var(--bg-raised)', border: '1px solid var(--line)', borderRadius: 'var(--radius-m)', boxShadow: 'var(--shadow-pop)', overflow: 'hidden', maxWidth: '52ch' },
  '.cm-diagnostic': { padding: '4px 10px', borderLeft: '3px solid', fontFamily: 'var(--font-sans)', fontSize: 'var(--text-sm)' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-diagnostic-warning': { borderLeftColor: 'var(--warn)' },
  '.cm-diagnostic-info': { borderLeftColor: 'var(--info)' },
  '.cm-panels': { backgroundColor: 'var(--bg-sunken)', color: 'var(--fg)' },
  '.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panels-bottom': { borderTop: '1px solid var(--line)' },
  '.cm-panel.cm-search': { padding: '5px 28px 5px 8px', fontSize: 'var(--text-sm)' },
  '.cm-panel.cm-search label': { fontSize: 'var(--text-xs)', color: 'var(--fg-2)' },
  '.cm-panel.cm-search [name=close]': { color: 'var(--fg-2)', width: '20px', fontSize: '15px' },
  '.cm-textfield': { backgroundColor: 'var(--bg-raised)', border: '1px solid var(--line-strong)', borderRadius: 'var(--radius-s)', fontSize: 'var(--text-sm)', padding: '2px 6px' },
  '.cm-button': { backgroundImage: 'none', backgroundColor: 'var(--bg-raised)', border: '1px solid var(--line-strong)', borderRadius: 'var(--radius-s)', fontSize: 'var(--text-xs)', padding: '2px 7px' },
  '.cm-button:active': { backgroundImage: 'none', backgroundColor: 'var(--bg-hover)' },
  // Side by side.
  '.cm-changedLine, &.cm-merge-a .cm-changedLine': { backgroundColor: 'var(--bad-soft)' },
  '&.cm-merge-b .cm-changedLine': { backgroundColor: 'var(--good-soft)' },
  '&.cm-merge-a .cm-changedText': { background: 'none', backgroundColor: 'color-mix(in srgb, var(--bad) 24%, transparent)' },
  '&.cm-merge-b .cm-changedText': { background: 'none', backgroundColor: 'color-mix(in srgb, var(--good) 24%, transparent)' },
  '.cm-collapsedLines': { background: 'none', backgroundColor: 'var(--bg-sunken)', color: 'var(--fg-2)', padding: '3px 8px', fontFamily: 'var(--font-sans)', fontSize: 'var(--text-xs)' },
  // Its own mark is in few fonts.
  '.cm-collapsedLines::before, .cm-collapsedLines::after': { content: 'none' },
  '.cm-changeGutter': { width: '3px', paddingLeft: '1px' },
  '&.cm-merge-a .cm-changedLineGutter': { background: 'var(--bad)' },
  '&.cm-merge-b .cm-changedLineGutter': { background: 'var(--good)' },
});

/** The looks of all our editors, from the tokens, so that light and dark need no second one. */
export const looks: Extension = [THEME, syntaxHighlighting(STYLE)];

/** The nonce that lets an editor's own style elements in; none where the page sends no policy. */
export function styleNonce(): Extension {
  const nonce = document.querySelector<HTMLMetaElement>('meta[name="talaria-style-nonce"]')?.content;
  return nonce ? EditorView.cspNonce.of(nonce) : [];
}
