import { Menu as Base } from '@base-ui/react/menu';
import type { LucideIcon } from 'lucide-react';
import type { ReactElement, ReactNode } from 'react';
import { cx } from '../lib/cx.ts';

export interface MenuItem {
  id: string;
  label: string;
  icon?: LucideIcon;
  danger?: boolean;
  disabled?: boolean;
  run: () => void;
}

/** A menu on a button. `null` among the items draws a line. */
export function Menu({
  trigger,
  items,
  align = 'end',
}: {
  trigger: ReactElement;
  items: readonly (MenuItem | null)[];
  align?: 'start' | 'end';
}): ReactNode {
  return (
    <Base.Root>
      <Base.Trigger render={trigger as ReactElement<Record<string, unknown>>} />
      <Base.Portal>
        <Base.Positioner align={align} sideOffset={4} className="z-50" data-cover="">
          <Base.Popup className="min-w-44 rounded-m border border-line bg-raised p-1 shadow-pop outline-none">
            {items.map((item, i) =>
              item === null ? (
                <Base.Separator key={`line-${i}`} className="my-1 h-px bg-line" />
              ) : (
                <Base.Item
                  key={item.id}
                  disabled={item.disabled ?? false}
                  onClick={item.run}
                  className={cx(
                    'flex h-7 cursor-default items-center gap-2 rounded-s px-2 text-sm select-none data-disabled:opacity-50 data-highlighted:bg-hover',
                    item.danger ? 'text-bad' : 'text-fg',
                  )}
                >
                  {item.icon && <item.icon className="size-3.5" aria-hidden="true" />}
                  {item.label}
                </Base.Item>
              ),
            )}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
