import { Toast, type ToastManager } from '@base-ui/react/toast';
import { CircleAlert, CircleCheck, Info, X } from 'lucide-react';
import { createContext, use, useCallback, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../lib/cx.ts';

export interface ToastOptions {
  /** A toast of the same id is replaced; `useCloseToast` takes it away. */
  id?: string;
  title: string;
  description?: string;
  kind?: 'info' | 'good' | 'bad';
  /** Usually "Undo". Pressing it also closes the toast. */
  action?: { label: string; run: () => void };
  /** Runs when the toast is gone without its action: the moment a deferred removal becomes real. */
  onGone?: () => void;
  /** ms on screen; with an action longer by default. Hover and focus hold it. */
  timeout?: number;
}

interface ToastData {
  kind: 'info' | 'good' | 'bad';
}

const ToastContext = createContext<ToastManager<ToastData> | null>(null);

const ICONS = { info: Info, good: CircleCheck, bad: CircleAlert };
const TONES = { info: 'text-info', good: 'text-good', bad: 'text-bad' };

/** Holds the toasts of the page; put once around it, with a manager made at the root. */
export function ToastProvider({ manager, children }: { manager: ToastManager<ToastData>; children: ReactNode }): ReactNode {
  const { t } = useTranslation('app');
  return (
    <ToastContext value={manager}>
      <Toast.Provider toastManager={manager} timeout={5000} limit={4}>
        {children}
        <Toast.Portal>
          <Toast.Viewport aria-label={t('toasts')} className="fixed right-3 bottom-[calc(var(--status)+var(--toasts-clear))] z-50 flex w-[min(380px,calc(100vw-24px))] flex-col-reverse gap-2 outline-none">
            <ToastList />
          </Toast.Viewport>
        </Toast.Portal>
      </Toast.Provider>
    </ToastContext>
  );
}

function ToastList(): ReactNode {
  const { t } = useTranslation('app');
  const { toasts } = Toast.useToastManager<ToastData>();
  return toasts.map((toast) => {
    const kind = toast.data?.kind ?? 'info';
    const Icon = ICONS[kind];
    return (
      <Toast.Root
        key={toast.id}
        toast={toast}
        swipeDirection="right"
        className="rounded-m border border-line bg-raised shadow-pop transition-opacity data-ending-style:opacity-0 data-limited:hidden data-starting-style:opacity-0"
      >
        <Toast.Content className="flex items-start gap-2.5 px-3 py-2.5">
          <Icon className={cx('mt-0.5 size-4 shrink-0', TONES[kind])} aria-hidden="true" />
          <div className="min-w-0 flex-1">
            <Toast.Title className="font-medium break-words" />
            <Toast.Description className="text-sm break-words text-fg-2" />
          </div>
          <Toast.Action className="h-[22px] shrink-0 rounded-m border border-line-strong px-2 text-sm font-medium hover:bg-hover" />
          <Toast.Close
            aria-label={t('action.close')}
            className="grid size-[22px] shrink-0 place-items-center rounded-m text-fg-3 hover:bg-hover hover:text-fg"
          >
            <X className="size-3.5" aria-hidden="true" />
          </Toast.Close>
        </Toast.Content>
      </Toast.Root>
    );
  });
}

/** Takes away a toast that was given an id. */
export function useCloseToast(): (id: string) => void {
  const manager = use(ToastContext);
  if (!manager) throw new Error('ToastProvider is missing.');
  return manager.close;
}

/** Says something in passing. What must not be missed belongs in the screen, not in a toast. */
export function useToasts(): (options: ToastOptions) => string {
  const manager = use(ToastContext);
  if (!manager) throw new Error('ToastProvider is missing.');
  return useCallback(
    ({ id: wanted, title, description, kind = 'info', action, onGone, timeout }) => {
      let acted = false;
      const id = manager.add({
        ...(wanted === undefined ? {} : { id: wanted }),
        title,
        description,
        data: { kind },
        timeout: timeout ?? (action ? 9000 : kind === 'bad' ? 9000 : 5000),
        priority: kind === 'bad' ? 'high' : 'low',
        ...(onGone ? { onClose: () => !acted && onGone() } : {}),
        ...(action
          ? {
              actionProps: {
                children: action.label,
                onClick: () => {
                  acted = true;
                  manager.close(id);
                  action.run();
                },
              },
            }
          : {}),
      });
      return id;
    },
    [manager],
  );
}
