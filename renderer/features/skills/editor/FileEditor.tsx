import { ORPCError } from '@orpc/client';
import { ChevronRight, GitCompare, Save } from 'lucide-react';
import { lazy, Suspense, useCallback, useEffect, useImperativeHandle, useLayoutEffect, useRef, useState, type ReactNode, type Ref } from 'react';
import { useTranslation } from 'react-i18next';
import type { SkillDetail } from '#shared/contract/skills.ts';
import { useClient } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { Button } from '../../../ui/Button.tsx';
import { Banner, Skeleton } from '../../../ui/Feedback.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';
import { DiffDialog } from '../dialogs/DiffDialog.tsx';
import { draftOf, keepDraft } from '../drafts.ts';
import { MAIN_FILE, type Note } from '../notes.ts';
import type { EditorHandle } from './CodeEditor.tsx';
import { hashOf, withEndsOf, withPlainEnds } from './lines.ts';

const CodeEditor = lazy(() => import('./CodeEditor.tsx').then((module) => ({ default: module.CodeEditor })));

/** How long after the last key the rest of the screen (preview, form, lint) learns of it … */
const TELL_AFTER_MS = 200;
/** … and how long at most, however fast the keys come. */
const TELL_AT_LEAST_MS = 2_000;

export interface FileEditorProps {
  id: string;
  path: string;
  disk: { text: string; hash: string | null };
  readOnly: boolean;
  notes: readonly Note[];
  /** The newest text, a moment after it was typed. */
  onText: (text: string) => void;
  onSaved: (detail: SkillDetail) => void;
  /** Reads the file again: somebody else changed it. */
  onStale: () => void;
  onBack: (() => void) | null;
  onLeave: () => void;
  ref: Ref<EditorHandle>;
}

/** One file of a skill: what is typed stays until it is saved, and what others do to the file meanwhile is never overwritten unseen. */
export function FileEditor({ id, path, disk, readOnly, notes, onText, onSaved, onStale, onBack, onLeave, ref }: FileEditorProps): ReactNode {
  const { t } = useTranslation('skills');
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const editor = useRef<EditorHandle>(null);
  const waiting = useRef<{ timer: ReturnType<typeof setTimeout>; since: number } | null>(null);
  const [begin] = useState(() => {
    const draft = readOnly ? null : draftOf(id, path);
    const text = withPlainEnds(disk.text);
    return { text: draft?.text ?? text, base: { text: disk.text, plain: text, hash: draft ? draft.baseHash : disk.hash } };
  });
  const base = useRef(begin.base);
  const seen = useRef(disk.hash);
  const [dirty, setDirty] = useState(begin.text !== begin.base.plain);
  const [conflict, setConflict] = useState(() => begin.text !== begin.base.plain && begin.base.hash !== disk.hash);
  const [comparing, setComparing] = useState(false);
  const [saving, setSaving] = useState(false);
  const newest = useRef({ onText });
  useEffect(() => {
    newest.current = { onText };
  });

  const keep = useCallback((): string | undefined => {
    if (waiting.current) clearTimeout(waiting.current.timer);
    waiting.current = null;
    const text = editor.current?.text();
    if (text === undefined) return undefined;
    const changed = text !== base.current.plain;
    setDirty(changed);
    if (!changed) setConflict(false);
    keepDraft(id, path, changed ? { text, baseHash: base.current.hash } : null);
    return text;
  }, [id, path]);
  const tell = useCallback((): void => {
    const text = keep();
    if (text !== undefined) newest.current.onText(text);
  }, [keep]);
  const onChange = useCallback((): void => {
    setDirty(true);
    const now = performance.now();
    const since = waiting.current?.since ?? now;
    if (waiting.current) clearTimeout(waiting.current.timer);
    waiting.current = { timer: setTimeout(tell, Math.min(TELL_AFTER_MS, since + TELL_AT_LEAST_MS - now)), since };
  }, [tell]);
  useEffect(() => newest.current.onText(begin.text), [begin]);
  // What was typed last is kept before the editor, or the page, is gone: later effects find no editor any more.
  useLayoutEffect(() => {
    const keepLast = (): void => void (waiting.current !== null && keep());
    window.addEventListener('pagehide', keepLast, { capture: true });
    return () => {
      window.removeEventListener('pagehide', keepLast, { capture: true });
      keepLast();
    };
  }, [keep]);

  // The file is another one than before: taken over when nothing was typed, told of when something was.
  useEffect(() => {
    if (disk.hash === seen.current && disk.text === base.current.text) return;
    seen.current = disk.hash;
    const plain = withPlainEnds(disk.text);
    const mine = editor.current?.text() ?? begin.text;
    if (mine === base.current.plain || mine === plain) {
      base.current = { text: disk.text, plain, hash: disk.hash };
      editor.current?.replace(plain);
      tell();
    } else if (plain !== base.current.plain) setConflict(true);
  }, [disk, begin, tell]);

  const takeTheirs = (): void => {
    base.current = { text: disk.text, plain: withPlainEnds(disk.text), hash: disk.hash };
    editor.current?.replace(base.current.plain);
    setConflict(false);
    setComparing(false);
    tell();
    editor.current?.focus();
  };
  const save = (overwrite = false): void => {
    const text = editor.current?.text();
    if (text === undefined || saving || readOnly) return;
    if (conflict && !overwrite) return setComparing(true);
    if (text === base.current.plain && !overwrite) return;
    const written = withEndsOf(text, base.current.text);
    setSaving(true);
    client.skills.save({ id, text: written, baseHash: overwrite ? disk.hash : base.current.hash, ...(path === MAIN_FILE ? {} : { path }) }).then(
      async (detail) => {
        const hash = path === MAIN_FILE ? detail.hash : await hashOf(written);
        base.current = { text: written, plain: text, hash };
        seen.current = hash;
        setConflict(false);
        setComparing(false);
        setSaving(false);
        tell();
        onSaved(detail);
      },
      (error: unknown) => {
        setSaving(false);
        if (error instanceof ORPCError && error.code === 'CONFLICT') {
          setConflict(true);
          onStale();
        } else toast({ title: t('editor.notSaved'), description: errorText(error), kind: 'bad' });
      },
    );
  };

  useImperativeHandle(ref, () => ({
    focus: () => editor.current?.focus(),
    text: () => editor.current?.text() ?? begin.text,
    replace: (text) => editor.current?.replace(text),
    apply: (changes) => {
      editor.current?.apply(changes);
      tell();
    },
    goTo: (line) => editor.current?.goTo(line),
  }), [begin, tell]);

  return (
    <section aria-label={path} className="flex h-full min-h-0 flex-col">
      <header className="flex h-[34px] shrink-0 items-center gap-1.5 border-b border-line pr-2 pl-3 text-sm">
        {onBack && (
          <>
            <button type="button" onClick={onBack} className="rounded-s font-mono text-xs text-fg-2 hover:text-fg">{MAIN_FILE}</button>
            <ChevronRight aria-hidden="true" className="size-3 shrink-0 text-fg-3" />
          </>
        )}
        <span className="min-w-0 truncate font-mono text-xs">{path}</span>
        <span aria-live="polite" className="min-w-0 flex-1 truncate text-xs text-fg-3">{readOnly ? t('editor.readOnly') : dirty ? t('editor.unsaved') : ''}</span>
        {!readOnly && (
          <Button variant="primary" icon={Save} hotkey="mod+s" hotkeyLabel={t('editor.save')} busy={saving} disabled={!dirty} onClick={() => save()}>
            {t('editor.save')}
          </Button>
        )}
      </header>
      {conflict && (
        <div className="shrink-0 p-2">
          <Banner live tone="warn" title={t('conflict.title')} action={<Button icon={GitCompare} onClick={() => setComparing(true)}>{t('conflict.compare')}</Button>}>
            {t('conflict.text')}
          </Banner>
        </div>
      )}
      <div className="min-h-0 flex-1">
        <Suspense fallback={<TextSkeleton />}>
          <CodeEditor ref={editor} initial={begin.text} path={path} label={t('editor.label', { path })} readOnly={readOnly} notes={notes} onChange={onChange} onLeave={onLeave} />
        </Suspense>
      </div>
      {comparing && (
        <DiffDialog
          title={t('conflict.title')}
          description={t('conflict.choose')}
          files={[{ path, before: withPlainEnds(disk.text), after: editor.current?.text() ?? '', binary: false }]}
          labels={[t('conflict.theirs'), t('conflict.mine')]}
          onClose={() => setComparing(false)}
          footer={
            <>
              <Button onClick={() => setComparing(false)}>{t('conflict.later')}</Button>
              <Button onClick={takeTheirs}>{t('conflict.takeTheirs')}</Button>
              <Button variant="primary" busy={saving} onClick={() => save(true)}>{t('conflict.saveMine')}</Button>
            </>
          }
        />
      )}
    </section>
  );
}

export function TextSkeleton(): ReactNode {
  return (
    <div aria-hidden="true" className="grid gap-2 p-4">
      {['w-2/5', 'w-4/5', 'w-3/5', 'w-5/6', 'w-1/2', 'w-3/4'].map((width) => <Skeleton key={width} className={`h-3 ${width}`} />)}
    </div>
  );
}
