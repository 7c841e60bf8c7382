import { Dialog as Base } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../lib/cx.ts';
import { Button, IconButton } from './Button.tsx';
import { Field } from './Field.tsx';
import { Input } from './Input.tsx';

export interface DialogProps {
  open: boolean;
  onClose: () => void;
  title: string;
  description?: ReactNode;
  /** Buttons, the main one last. */
  footer?: ReactNode;
  width?: 'sm' | 'md' | 'lg';
  /** Hides the title bar visually (the palette). */
  bare?: boolean;
  children?: ReactNode;
}

const WIDTHS = { sm: 'max-w-[440px]', md: 'max-w-[600px]', lg: 'max-w-[860px]' };

/** A modal dialog: Esc and the backdrop close it, the focus returns to where it was. */
export function Dialog({ open, onClose, title, description, footer, width = 'md', bare = false, children }: DialogProps): ReactNode {
  const { t } = useTranslation('app');
  return (
    <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Base.Portal>
        <Base.Backdrop className="fixed inset-0 z-40 bg-shade transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0" />
        <Base.Viewport className="fixed inset-0 z-40 grid justify-items-center overflow-y-auto p-4 pt-[min(12vh,7rem)]" data-cover="">
          <Base.Popup
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
                  {description && <Base.Description render={<div />} className="mt-0.5 text-fg-2">{description}</Base.Description>}
                </div>
                <IconButton icon={X} label={t('action.close')} size="sm" onClick={onClose} />
              </header>
            )}
            <div className={cx('min-h-0 flex-1', !bare && 'overflow-y-auto px-4 py-3')}>{children}</div>
            {footer && <footer className="flex flex-wrap justify-end gap-2 border-t border-line px-4 py-3">{footer}</footer>}
          </Base.Popup>
        </Base.Viewport>
      </Base.Portal>
    </Base.Root>
  );
}

/** Asks before something that cannot be undone; with `typeName` the name must be typed first. */
export function ConfirmDialog({ open, onClose, title, children, confirm, typeName, busy = false, onConfirm }: {
  open: boolean; onClose: () => void; title: string; children: ReactNode; confirm: string; typeName?: string; busy?: boolean; onConfirm: () => void;
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
            {(props) => <Input {...props} mono value={typed} onChange={(e) => setTyped(e.target.value)} onKeyDown={(e) => e.key === 'Enter' && allowed && !busy && onConfirm()} />}
          </Field>
        )}
      </div>
    </Dialog>
  );
}
