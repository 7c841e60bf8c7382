import type { LucideIcon } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../../../lib/cx.ts';

/** An icon button without the tooltip machinery: turns are made by the dozen while scrolling, and must be cheap. */
export function PlainIconButton({ icon: Icon, label, pressed, className, onClick }: { icon: LucideIcon; label: string; pressed?: boolean; className?: string; onClick: () => void }): ReactNode {
  return (
    <button type="button" aria-label={label} title={label} aria-pressed={pressed} onClick={onClick} className={cx('grid size-[22px] shrink-0 place-items-center rounded-m text-fg-2 hover:bg-hover hover:text-fg', pressed && 'bg-hover text-fg', className)}>
      <Icon className="size-3.5" aria-hidden="true" />
    </button>
  );
}
