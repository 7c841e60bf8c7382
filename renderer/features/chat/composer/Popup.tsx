import { Popover } from '@base-ui/react/popover';
import type { ReactElement, ReactNode } from 'react';
import { cx } from '../../../lib/cx.ts';

/** A small panel on a button, e.g. a picker. The button keeps its own name. */
export function Popup({ open, onOpenChange, trigger, label, className, children }: { open: boolean; onOpenChange: (open: boolean) => void; trigger: ReactElement; label: string; className?: string; children: ReactNode }): ReactNode {
  return (
    <Popover.Root open={open} onOpenChange={(next) => onOpenChange(next)}>
      <Popover.Trigger render={trigger as ReactElement<Record<string, unknown>>} />
      <Popover.Portal>
        <Popover.Positioner side="top" align="start" sideOffset={6} className="z-40" data-cover="">
          <Popover.Popup aria-label={label} className={cx('max-h-[min(30rem,var(--available-height))] w-[min(24rem,calc(100vw-2rem))] rounded-m border border-line bg-raised shadow-pop outline-none', className)}>
            {children}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}

/** The quiet buttons at the foot of the composer. */
export const FOOT_BUTTON = 'inline-flex h-[26px] min-w-0 items-center gap-1 truncate rounded-m px-1.5 text-xs text-fg-2 hover:bg-hover hover:text-fg';
