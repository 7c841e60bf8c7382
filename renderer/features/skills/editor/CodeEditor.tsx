import { defaultKeymap, history, historyKeymap, isolateHistory } from '@codemirror/commands';
import { bracketMatching } from '@codemirror/language';
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint';
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';
import { Compartment, EditorState } from '@codemirror/state';
import { EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useImperativeHandle, useRef, type ReactNode, type Ref } from 'react';
import { useTranslation } from 'react-i18next';
import type { TextChange } from '../properties/frontmatter.ts';
import { languageOf } from './languages.ts';
import { looks, styleNonce } from './theme.ts';
import { usePhrases } from './phrases.ts';

/** A remark on a line, from 1. */
export interface LineNote {
  line: number;
  severity: 'error' | 'warning' | 'info';
  message: string;
}

export interface EditorHandle {
  focus: () => void;
  text: () => string;
  /** One step of undo; the cursor stays where it can. */
  replace: (text: string) => void;
  apply: (changes: readonly TextChange[]) => void;
  goTo: (line: number) => void;
}

export interface CodeEditorProps {
  /** What it begins with; later ones are put in by `replace`. */
  initial: string;
  path: string;
  label: string;
  readOnly: boolean;
  notes: readonly LineNote[];
  /** At every change, before anything is painted: must be quick. */
  onChange: () => void;
  /** Esc, when it means nothing within. */
  onLeave: () => void;
  ref: Ref<EditorHandle>;
}

/** A text in an editor of its own: what is typed goes through no state of the page. Lines end with "\n" in it. */
export function CodeEditor({ initial, path, label, readOnly, notes, onChange, onLeave, ref }: CodeEditorProps): ReactNode {
  const { t } = useTranslation('skills');
  const phrases = usePhrases();
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const newest = useRef({ onChange, onLeave });
  const parts = useRef({ words: new Compartment(), locked: new Compartment() });
  const first = useRef({ initial, path });
  useEffect(() => {
    newest.current = { onChange, onLeave };
  });

  useEffect(() => {
    const { words, locked } = parts.current;
    const made = new EditorView({
      parent: place.current!,
      state: EditorState.create({
        doc: first.current.initial,
        extensions: [
          styleNonce(),
          looks,
          lineNumbers(),
          highlightActiveLine(),
          highlightActiveLineGutter(),
          history(),
          bracketMatching(),
          highlightSelectionMatches({ minSelectionLength: 3 }),
          search({ top: true }),
          lintGutter(),
          EditorView.lineWrapping,
          languageOf(first.current.path),
          // Tab moves on, as everywhere in the page; Ctrl+] indents.
          keymap.of([...searchKeymap, ...defaultKeymap, ...historyKeymap, { key: 'Escape', run: () => (newest.current.onLeave(), true) }]),
          words.of([]),
          locked.of([]),
          EditorView.updateListener.of((update) => update.docChanged && newest.current.onChange()),
        ],
      }),
    });
    view.current = made;
    return () => {
      view.current = null;
      made.destroy();
    };
  }, []);

  useEffect(() => {
    const { words, locked } = parts.current;
    view.current?.dispatch({
      effects: [
        words.reconfigure([EditorState.phrases.of(phrases), EditorView.contentAttributes.of({ 'aria-label': label, 'data-editor': '' })]),
        locked.reconfigure(readOnly ? [EditorState.readOnly.of(true), EditorView.editorAttributes.of({ class: 'cm-locked' })] : []),
      ],
    });
  }, [phrases, label, readOnly]);

  useEffect(() => {
    const made = view.current;
    if (!made) return;
    made.dispatch(setDiagnostics(made.state, notes.flatMap((note) => diagnosticOf(note, made.state))));
  }, [notes]);

  useImperativeHandle(ref, () => ({
    focus: () => view.current?.focus(),
    text: () => view.current?.state.doc.toString() ?? '',
    replace: (text) => {
      const made = view.current;
      if (!made) return;
      const change = changeBetween(made.state.doc.toString(), text);
      // a step of undo of its own, however soon it comes behind what was typed
      if (change) made.dispatch({ changes: change, annotations: isolateHistory.of('full') });
    },
    apply: (changes) => view.current?.dispatch({ changes: [...changes] }),
    goTo: (line) => {
      const made = view.current;
      if (!made) return;
      const at = made.state.doc.line(Math.max(1, Math.min(line, made.state.doc.lines)));
      made.dispatch({ selection: { anchor: at.from + (/^\s*/.exec(at.text)?.[0].length ?? 0) }, effects: EditorView.scrollIntoView(at.from, { y: 'center' }) });
      made.focus();
    },
  }), []);

  return <div ref={place} aria-label={t('editor.region')} role="group" className="h-full min-h-0 overflow-hidden" />;
}

function diagnosticOf({ line, severity, message }: LineNote, state: EditorState): Diagnostic[] {
  if (line < 1 || line > state.doc.lines) return [];
  const { from, to, text } = state.doc.line(line);
  const start = from + (/^\s*/.exec(text)?.[0].length ?? 0);
  return [{ from: Math.min(start, to), to: Math.min(to, start + 500), severity, message }];
}

/** What lies between a common beginning and a common end; null for the same text. */
function changeBetween(before: string, after: string): TextChange | null {
  if (before === after) return null;
  let from = 0;
  const most = Math.min(before.length, after.length);
  while (from < most && before.charCodeAt(from) === after.charCodeAt(from)) from += 1;
  let end = 0;
  while (end < most - from && before.charCodeAt(before.length - 1 - end) === after.charCodeAt(after.length - 1 - end)) end += 1;
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) };
}
