import { useLayoutEffect, useRef, useState, type KeyboardEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../../lib/cx.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { Kbd } from '../../ui/Kbd.tsx';
import { countChars } from './order.ts';

/** Writes or edits one entry, in its place. */
export function EntryForm({
  initial,
  free,
  label,
  note,
  onSave,
  onCancel,
}: {
  initial: string;
  /** Characters that this entry may have. */
  free: number;
  label: string;
  note?: string;
  /** Why it could not be kept; null when it was. */
  onSave: (text: string) => Promise<string | null>;
  onCancel: () => void;
}): ReactNode {
  const { t } = useTranslation(['memory', 'app']);
  const f = useFormat();
  const [text, setText] = useState(initial);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const area = useRef<HTMLTextAreaElement>(null);
  useLayoutEffect(() => {
    area.current?.focus();
    area.current?.setSelectionRange(initial.length, initial.length);
  }, [initial]);
  const used = countChars(text.trim());
  const over = used - free;
  const same = text.trim() === initial.trim();
  const save = async (): Promise<void> => {
    if (busy || text.trim() === '') return;
    if (same) return onCancel();
    setBusy(true);
    const why = await onSave(text);
    setBusy(false);
    setError(why);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'Escape') {
      event.preventDefault();
      event.stopPropagation();
      onCancel();
    } else if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) {
      event.preventDefault();
      void save();
    }
  };
  return (
    <div className="grid gap-2 py-2">
      {note && <p className="text-sm text-warn">{note}</p>}
      <textarea
        ref={area}
        aria-label={label}
        aria-invalid={error !== null || undefined}
        value={text}
        rows={Math.min(12, Math.max(2, text.split('\n').length + Math.floor(text.length / 110)))}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        className="w-full resize-y rounded-m border border-line-strong bg-raised px-2.5 py-1.5 leading-[1.5] text-fg aria-invalid:border-bad"
      />
      {error && (
        <p role="alert" className="text-sm break-words text-bad">
          {error}
        </p>
      )}
      <div className="flex items-center gap-2">
        <span className={cx('num flex-1 text-xs', over > 0 ? 'text-bad' : 'text-fg-3')} aria-live="polite">
          {over > 0 ? t('form.over', { count: over, shown: f.exact(over) }) : t('form.left', { count: free - used, shown: f.exact(free - used) })}
        </span>
        <Button variant="ghost" onClick={onCancel}>
          {t('app:action.cancel')}
          <Kbd keys="Escape" />
        </Button>
        <Button variant="primary" busy={busy} disabled={text.trim() === ''} onClick={() => void save()}>
          {t('app:action.save')}
          <Kbd keys="mod+Enter" onAccent />
        </Button>
      </div>
    </div>
  );
}
