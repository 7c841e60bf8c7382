import { Menu as Base } from '@base-ui/react/menu';
import { Check, type LucideIcon } from 'lucide-react';
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

const POPUP = 'min-w-44 rounded-m border border-line bg-raised p-1 shadow-pop outline-none';
const ITEM = 'flex h-7 cursor-default items-center gap-2 rounded-s px-2 text-sm select-none data-disabled:opacity-50 data-highlighted:bg-hover';

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
          <Base.Popup className={POPUP}>
            {items.map((item, i) =>
              item === null ? (
                <Base.Separator key={`line-${i}`} className="my-1 h-px bg-line" />
              ) : (
                <Base.Item
                  key={item.id}
                  disabled={item.disabled ?? false}
                  onClick={item.run}
                  className={cx(ITEM, item.danger ? 'text-bad' : 'text-fg')}
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

/** One of a few choices behind a button, where a Select has no room. */
export function ChoiceMenu<T extends string>({
  trigger,
  label,
  value,
  onChange,
  options,
}: {
  trigger: ReactElement;
  label: string;
  value: T;
  onChange: (value: T) => void;
  options: readonly { value: T; label: string }[];
}): ReactNode {
  return (
    <Base.Root>
      <Base.Trigger render={trigger as ReactElement<Record<string, unknown>>} />
      <Base.Portal>
        <Base.Positioner align="end" sideOffset={4} className="z-50" data-cover="">
          <Base.Popup className={POPUP} aria-label={label}>
            <Base.RadioGroup value={value} onValueChange={(next: T) => onChange(next)}>
              {options.map((o) => (
                <Base.RadioItem key={o.value} value={o.value} closeOnClick className={cx(ITEM, 'text-fg')}>
                  <span className="grid size-3.5 shrink-0 place-items-center">
                    <Base.RadioItemIndicator>
                      <Check className="size-3.5 text-accent" aria-hidden="true" />
                    </Base.RadioItemIndicator>
                  </span>
                  {o.label}
                </Base.RadioItem>
              ))}
            </Base.RadioGroup>
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}
