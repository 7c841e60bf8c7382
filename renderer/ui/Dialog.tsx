import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../lib/cx.ts';
import { Button } from './Button.tsx';
import { Field } from './Field.tsx';
import { Input } from './Input.tsx';

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  /** Buttons, the main one last. */
  footer?: ReactNode;
  width?: 'sm' | 'md' | 'lg' | 'xl';
  /** Hides the title bar visually (the palette). */
  bare?: boolean;
  children?: ReactNode;
}

const WIDTHS = { sm: 'max-w-[440px]', md: 'max-w-[600px]', lg: 'max-w-[860px]', xl: 'max-w-[1240px]' };

/** A modal dialog: Esc and the backdrop close it, the focus returns to where it was. */
export function Dialog({ open, onClose, title, description, footer, width = 'md', bare = false, children }: DialogProps): ReactNode {
  const { t } = useTranslation('app');
  const popup = useRef<HTMLDivElement>(null);
  const before = useRef<Element | null>(null);
  useLayoutEffect(() => {
    if (open) before.current = document.activeElement;
  }, [open]);
  // Base UI would press on to the first link inside a screen that had the focus as a whole; Enter would then follow that link.
  const lastFocus = (): HTMLElement | false => {
    const el = before.current;
    // Already moved on while the dialog faded out (to the search box by its key): that is where it stays.
    const now = document.activeElement;
    if (now && now !== document.body && !now.closest('[data-cover]')) return false;
    if (!(el instanceof HTMLElement) || el === document.body || !el.isConnected) return false;
    if (el.tabIndex >= 0) return el;
    queueMicrotask(() => el.focus({ preventScroll: true }));
    return false;
  };
  // A field first, else the dialog itself: a button would show its hint, and Esc would close only that.
  const firstFocus = (): HTMLElement | null =>
    popup.current?.querySelector<HTMLElement>('[data-dialog-body] :is(input, textarea, [role="combobox"]):not([tabindex="-1"])') ??
    popup.current;
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        {/* also over a dialog that asks before something: else the two look like one */}
        <Base.Backdrop forceRender className="fixed inset-0 z-40 bg-shade transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Base.Viewport className="fixed inset-0 z-40 grid justify-items-center overflow-y-auto p-4 pt-[min(12vh,7rem)]" data-cover="">
          <Base.Popup
            ref={popup}
            initialFocus={firstFocus}
            finalFocus={lastFocus}
            className={cx(
              'flex h-fit max-h-[calc(100dvh-min(12vh,7rem)-1rem)] w-full flex-col rounded-l border border-line bg-raised shadow-pop outline-none transition-[opacity,translate] data-ending-style:opacity-0 data-starting-style:-translate-y-1 data-starting-style:opacity-0',
              WIDTHS[width],
            )}
          >
            {bare ? (
              <Base.Title className="sr-only">{title}</Base.Title>
            ) : (
              <header className="flex items-start gap-3 px-4 pt-3">
                <div className="min-w-0 flex-1">
                  <Base.Title className="text-lg font-semibold">{title}</Base.Title>
                  {description && (
                    <Base.Description render={<div />} className="mt-0.5 text-fg-2">
                      {description}
                    </Base.Description>
                  )}
                </div>
                <button
                  type="button"
                  aria-label={t('action.close')}
                  onClick={onClose}
                  className="grid size-[22px] shrink-0 place-items-center rounded-m text-fg-2 hover:bg-hover hover:text-fg"
                >
                  <X className="size-3.5" aria-hidden="true" />
                </button>
              </header>
            )}
            <div data-dialog-body="" className={cx('min-h-0 flex-1', !bare && 'overflow-y-auto px-4 py-3')}>
              {children}
            </div>
            {footer && <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-4 py-3">{footer}</footer>}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}

/** Asks before something that cannot be undone; with `typeName` the name must be typed first. */
export function ConfirmDialog({
  open,
  onClose,
  title,
  children,
  confirm,
  typeName,
  busy = false,
  onConfirm,
}: {
  open: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  confirm: string;
  typeName?: string;
  busy?: boolean;
  onConfirm: () => void;
}): ReactNode {
  const { t } = useTranslation('app');
  const [typed, setTyped] = useState('');
  const allowed = typeName === undefined || typed.trim() === typeName;
  const close = (): void => {
    setTyped('');
    onClose();
  };
  return (
    <Dialog
      open={open}
      onClose={close}
      title={title}
      width="sm"
      footer={
        <>
          <Button onClick={close}>{t('action.cancel')}</Button>
          <Button variant="danger" disabled={!allowed} busy={busy} onClick={onConfirm}>
            {confirm}
          </Button>
        </>
      }
    >
      <div className="grid gap-3 text-fg-2">
        {children}
        {typeName !== undefined && (
          <Field label={t('confirm.typeName', { name: typeName })}>
            {(props) => (
              <Input
                {...props}
                mono
                value={typed}
                onChange={(e) => setTyped(e.target.value)}
                onKeyDown={(e) => e.key === 'Enter' && allowed && !busy && onConfirm()}
              />
            )}
          </Field>
        )}
      </div>
    </Dialog>
  );
}
