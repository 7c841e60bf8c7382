import { Search, X } from 'lucide-react';
import { useRef, type InputHTMLAttributes, type ReactNode, type Ref } from 'react';
import { useTranslation } from 'react-i18next';
import { useCommands } from '../lib/commands.tsx';
import { cx } from '../lib/cx.ts';
import { Kbd } from './Kbd.tsx';

const BOX = 'w-full min-w-0 rounded-m border border-line-strong bg-raised px-2 text-sm text-fg aria-invalid:border-bad disabled:opacity-60';

export function Input({
  className,
  mono = false,
  ...rest
}: InputHTMLAttributes<HTMLInputElement> & { mono?: boolean; ref?: Ref<HTMLInputElement> }): ReactNode {
  return <input type="text" spellCheck={false} autoComplete="off" {...rest} className={cx(BOX, 'h-7', mono && 'font-mono', className)} />;
}

/** Whole numbers as text, so that a half-typed value is never rewritten under the hand. */
export function NumberInput({
  value,
  onChange,
  className,
  ...rest
}: Omit<InputHTMLAttributes<HTMLInputElement>, 'value' | 'onChange'> & { value: string; onChange: (text: string) => void }): ReactNode {
  return (
    <Input
      inputMode="numeric"
      {...rest}
      value={value}
      onChange={(e) => onChange(e.target.value.replace(/[^\d]/g, ''))}
      className={cx('num', className)}
    />
  );
}

/** A search box. `hotkey` (usually "/") focuses it; Esc clears, then leaves it; `onEnter` hands the focus on. */
export function SearchInput({
  value,
  onChange,
  label,
  placeholder,
  hotkey,
  onEnter,
  className,
}: {
  value: string;
  onChange: (text: string) => void;
  label: string;
  placeholder?: string;
  hotkey?: string;
  onEnter?: () => void;
  className?: string;
}): ReactNode {
  const { t } = useTranslation('app');
  const own = useRef<HTMLInputElement>(null);
  useCommands(
    t('keys.screen'),
    hotkey ? [{ id: 'focus', label, keys: hotkey, run: () => { own.current?.focus(); own.current?.select(); } }] : [],
    hotkey !== undefined,
  );
  return (
    <div
      className={cx('flex h-[26px] items-center gap-2 rounded-m border border-line bg-raised px-2 focus-within:border-accent', className)}
    >
      <Search className="size-3.5 shrink-0 text-fg-3" aria-hidden="true" />
      <input
        ref={own}
        type="text"
        role="searchbox"
        aria-label={label}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        value={value}
        onChange={(e) => onChange(e.target.value)}
        onKeyDown={(e) => {
          if (e.nativeEvent.isComposing) return;
          if (e.key === 'Escape') {
            if (value) onChange('');
            else e.currentTarget.blur();
          } else if (e.key === 'Enter') onEnter?.();
        }}
        className="min-w-0 flex-1 bg-transparent text-sm outline-none"
      />
      {value ? (
        <button type="button" aria-label={t('action.clear')} onClick={() => onChange('')} className="rounded-s text-fg-3 hover:text-fg">
          <X className="size-3.5" aria-hidden="true" />
        </button>
      ) : (
        hotkey && <Kbd keys={hotkey} />
      )}
    </div>
  );
}
