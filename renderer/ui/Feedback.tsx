import { Info, TriangleAlert, type LucideIcon } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../lib/cx.ts';
import { errorText } from '../lib/errors.ts';
import { Button } from './Button.tsx';

/** A grey stand-in with the final size of what is loading: give it that size by `className`. */
export function Skeleton({ className }: { className: string }): ReactNode {
  return <span aria-hidden="true" className={cx('block animate-pulse rounded-s bg-hover', className)} />;
}

/** What belongs here, and the one next step. */
export function EmptyState({
  icon: Icon,
  title,
  children,
  action,
}: {
  icon: LucideIcon;
  title: string;
  children?: ReactNode;
  action?: ReactNode;
}): ReactNode {
  return (
    <div className="grid h-full place-content-center justify-items-center gap-2 p-6 text-center">
      <Icon className="mb-1 size-7 text-fg-3" strokeWidth={1.5} aria-hidden="true" />
      <h2 className="text-lg font-semibold">{title}</h2>
      {children && <div className="max-w-[46ch] text-fg-2">{children}</div>}
      {action && <div className="mt-2 flex flex-wrap justify-center gap-2">{action}</div>}
    </div>
  );
}

/** A failed load: what happened, another try, and the details one click away. */
export function ErrorState({ error, onRetry, title }: { error: unknown; onRetry?: () => void; title?: string }): ReactNode {
  const { t } = useTranslation('app');
  return (
    <div role="alert" className="grid h-full place-content-center justify-items-center gap-2 p-6 text-center">
      <TriangleAlert className="mb-1 size-7 text-bad" strokeWidth={1.5} aria-hidden="true" />
      <h2 className="text-lg font-semibold">{title ?? t('error.title')}</h2>
      <p className="max-w-[56ch] break-words text-fg-2">{errorText(error, t)}</p>
      <div className="mt-2 flex gap-2">
        {onRetry && <Button onClick={onRetry}>{t('action.retry')}</Button>}
        <CopyButton text={() => errorDetails(error)} />
      </div>
    </div>
  );
}

/** Everything known about an error, for a report. */
export function errorDetails(error: unknown): string {
  if (error instanceof Error)
    return [error.stack ?? `${error.name}: ${error.message}`, error.cause === undefined ? '' : `Cause: ${errorDetails(error.cause)}`]
      .filter(Boolean)
      .join('\n');
  return String(error);
}

/** Copies a text and says so on itself. */
export function CopyButton({ text, label }: { text: () => string; label?: string }): ReactNode {
  const { t } = useTranslation('app');
  const [state, setState] = useState<'idle' | 'done' | 'failed'>('idle');
  const copy = (): void => {
    navigator.clipboard.writeText(text()).then(
      () => setState('done'),
      () => setState('failed'),
    );
    setTimeout(() => setState('idle'), 2000);
  };
  return (
    <Button variant="ghost" onClick={copy}>
      <span aria-live="polite">
        {state === 'done' ? t('action.copied') : state === 'failed' ? t('action.copyFailed') : (label ?? t('action.copyDetails'))}
      </span>
    </Button>
  );
}

const BANNERS = { info: 'bg-info-soft text-fg', warn: 'bg-warn-soft text-fg', bad: 'bg-bad-soft text-fg', good: 'bg-good-soft text-fg' };
const BANNER_ICONS = { info: 'text-info', warn: 'text-warn', bad: 'text-bad', good: 'text-good' };

/** A message that belongs to the whole screen. */
export function Banner({
  tone,
  title,
  children,
  action,
  live = false,
}: {
  tone: keyof typeof BANNERS;
  title: ReactNode;
  children?: ReactNode;
  action?: ReactNode;
  live?: boolean;
}): ReactNode {
  const Icon = tone === 'info' ? Info : TriangleAlert;
  return (
    <div role={live ? 'status' : undefined} className={cx('flex items-start gap-2.5 rounded-m px-3 py-2', BANNERS[tone])}>
      <Icon className={cx('mt-0.5 size-4 shrink-0', BANNER_ICONS[tone])} aria-hidden="true" />
      <div className="min-w-0 flex-1">
        <div className="font-medium break-words">{title}</div>
        {children && <div className="mt-0.5 text-sm break-words text-fg-2">{children}</div>}
      </div>
      {action && <div className="flex shrink-0 flex-wrap gap-2">{action}</div>}
    </div>
  );
}

/** A bar made of parts, e.g. outcomes. @param parts shares in any unit @param total the whole, in the same unit */
export function Meter({
  parts,
  total,
  label,
  className,
}: {
  parts: readonly { key: string; value: number; color: string }[];
  total: number;
  label: string;
  className?: string;
}): ReactNode {
  return (
    <div role="img" aria-label={label} className={cx('flex h-2 overflow-hidden rounded-full bg-hover', className)}>
      {parts.map(
        (p) =>
          p.value > 0 && (
            <i
              key={p.key}
              className="block h-full transition-[width]"
              style={{ width: `${(p.value / Math.max(1, total)) * 100}%`, background: p.color }}
            />
          ),
      )}
    </div>
  );
}

/** Plain progress of one piece of work; `value` null = unknown. */
export function Progress({ value, label }: { value: number | null; label: string }): ReactNode {
  return (
    <div
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={value === null ? undefined : Math.round(value * 100)}
      className="h-1.5 overflow-hidden rounded-full bg-hover"
    >
      <i
        className={cx('block h-full rounded-full bg-accent transition-[width]', value === null && 'w-1/3 animate-pulse')}
        style={value === null ? undefined : { width: `${value * 100}%` }}
      />
    </div>
  );
}
