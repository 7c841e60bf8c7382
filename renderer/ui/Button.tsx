import type { LucideIcon } from 'lucide-react';
import { useRef, type ButtonHTMLAttributes, type ReactNode, type Ref } from 'react';
import { useTranslation } from 'react-i18next';
import { useCommands } from '../lib/commands.tsx';
import { cx } from '../lib/cx.ts';
import { Spinner } from './Spinner.tsx';
import { Kbd } from './Kbd.tsx';
import { Tooltip } from './Tooltip.tsx';

export type ButtonVariant = 'primary' | 'default' | 'ghost' | 'danger';

const VARIANTS: Record<ButtonVariant, string> = {
  primary: 'bg-accent text-on-accent border-transparent hover:not-disabled:brightness-110',
  default: 'bg-raised text-fg border-line-strong hover:not-disabled:bg-hover',
  ghost: 'bg-transparent text-fg-2 border-transparent hover:not-disabled:bg-hover hover:not-disabled:text-fg',
  danger: 'bg-raised text-bad border-line-strong hover:not-disabled:bg-bad-soft',
};

const BASE =
  'inline-flex h-[26px] shrink-0 items-center justify-center gap-1.5 rounded-m border px-2.5 text-sm font-medium whitespace-nowrap transition-colors select-none disabled:opacity-50 aria-disabled:opacity-50';

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  variant?: ButtonVariant;
  icon?: LucideIcon;
  /** Shown on the button, owned by it, and listed in the palette and the key sheet. */
  hotkey?: string;
  /** What the key sheet says, when the button's text alone would not do. */
  hotkeyLabel?: string;
  hotkeyInDialog?: boolean;
  /** Shows a spinner and ignores presses, keeping the width. */
  busy?: boolean;
  /** Looks disabled but takes presses: for an action that answers with what is still missing. */
  dim?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

/** A push button. One `primary` per screen, named with its count. */
export function Button({
  variant = 'default',
  icon: Icon,
  hotkey,
  hotkeyLabel,
  hotkeyInDialog,
  busy = false,
  dim = false,
  className,
  children,
  ref,
  ...rest
}: ButtonProps): ReactNode {
  const own = useRef<HTMLButtonElement | null>(null);
  const label = hotkeyLabel ?? (typeof children === 'string' ? children : (rest['aria-label'] ?? ''));
  useHotkeyOf(own, hotkey, label, (rest.disabled ?? false) || busy, hotkeyInDialog);
  return (
    <button
      type="button"
      {...rest}
      ref={(node) => {
        own.current = node;
        if (typeof ref === 'function') ref(node);
        else if (ref) ref.current = node;
      }}
      aria-disabled={busy || dim || undefined}
      aria-busy={busy || undefined}
      onClick={busy ? undefined : rest.onClick}
      className={cx(BASE, VARIANTS[variant], className)}
    >
      {busy ? <Spinner /> : Icon && <Icon className="size-3.5" aria-hidden="true" />}
      {children}
      {hotkey && <Kbd keys={hotkey} onAccent={variant === 'primary'} />}
    </button>
  );
}

function useHotkeyOf(
  own: { current: HTMLElement | null },
  hotkey: string | undefined,
  label: string,
  disabled: boolean,
  inDialog: boolean | undefined,
): void {
  const { t } = useTranslation('app');
  useCommands(
    t('keys.screen'),
    hotkey
      ? [{ id: 'press', label, keys: hotkey, disabled, inDialog, whileTyping: hotkey.startsWith('mod+'), run: () => own.current?.click() }]
      : [],
    hotkey !== undefined,
  );
}

export interface IconButtonProps extends Omit<ButtonProps, 'children' | 'icon' | 'busy'> {
  icon: LucideIcon;
  /** Read aloud and shown on hover. */
  label: string;
  size?: 'sm' | 'md';
  pressed?: boolean;
}

/** A button that is only an icon: its label is the tooltip and the accessible name. */
export function IconButton({
  icon: Icon,
  label,
  size = 'md',
  variant = 'ghost',
  hotkey,
  hotkeyLabel,
  hotkeyInDialog,
  pressed,
  className,
  ref,
  ...rest
}: IconButtonProps): ReactNode {
  const own = useRef<HTMLButtonElement | null>(null);
  useHotkeyOf(own, hotkey, hotkeyLabel ?? label, rest.disabled ?? false, hotkeyInDialog);
  return (
    <Tooltip content={label} {...(hotkey ? { keys: hotkey } : {})}>
      <button
        type="button"
        aria-label={label}
        aria-pressed={pressed}
        {...rest}
        ref={(node) => {
          own.current = node;
          if (typeof ref === 'function') ref(node);
          else if (ref) ref.current = node;
        }}
        className={cx(
          'inline-grid shrink-0 place-items-center rounded-m border transition-colors disabled:opacity-50',
          size === 'sm' ? 'size-[22px]' : 'size-[26px]',
          VARIANTS[variant],
          pressed && 'bg-hover text-fg',
          className,
        )}
      >
        <Icon className="size-3.5" aria-hidden="true" />
      </button>
    </Tooltip>
  );
}

/** A link of the page ("/library?run=x") that looks like a button. */
export function LinkButton({
  to,
  variant = 'default',
  icon: Icon,
  hotkey,
  className,
  children,
}: {
  to: string;
  variant?: ButtonVariant;
  icon?: LucideIcon;
  hotkey?: string;
  className?: string;
  children: ReactNode;
}): ReactNode {
  const own = useRef<HTMLAnchorElement | null>(null);
  useHotkeyOf(own, hotkey, typeof children === 'string' ? children : '', false, undefined);
  return (
    <a ref={own} href={`#${to}`} className={cx(BASE, VARIANTS[variant], 'no-underline', className)}>
      {Icon && <Icon className="size-3.5" aria-hidden="true" />}
      {children}
      {hotkey && <Kbd keys={hotkey} onAccent={variant === 'primary'} />}
    </a>
  );
}
