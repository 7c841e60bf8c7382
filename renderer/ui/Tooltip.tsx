import { Tooltip as Base } from '@base-ui/react/tooltip';
import type { ReactElement, ReactNode } from 'react';
import { Kbd } from './Kbd.tsx';

/** A hint on hover and focus. The child must take a ref and spread props; its own accessible name stays its own. */
export function Tooltip({
  content,
  keys,
  side = 'bottom',
  children,
}: {
  content: ReactNode;
  keys?: string;
  side?: 'top' | 'bottom' | 'left' | 'right';
  children: ReactElement;
}): ReactNode {
  return (
    <Base.Root>
      <Base.Trigger render={children as ReactElement<Record<string, unknown>>} />
      <Base.Portal>
        <Base.Positioner side={side} sideOffset={6} className="z-50">
          <Base.Popup className="flex max-w-80 items-center gap-2 rounded-m border border-line bg-raised px-2 py-1 text-xs text-fg-2 shadow-pop transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0">
            {content}
            {keys && <Kbd keys={keys} />}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/** Once around the page: neighbours open without delay after the first. */
export function TooltipProvider({ children }: { children: ReactNode }): ReactNode {
  return <Base.Provider delay={450}>{children}</Base.Provider>;
}
