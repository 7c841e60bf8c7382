import { Tabs as Base } from '@base-ui/react/tabs';
import type { ReactNode } from 'react';

export interface TabItem<T extends string> {
  value: T;
  label: ReactNode;
  content: ReactNode;
}

/** A strip of tabs over panels; arrows move, the panel follows the focus. */
export function Tabs<T extends string>({
  value,
  onChange,
  items,
  label,
}: {
  value: T;
  onChange: (value: T) => void;
  items: readonly TabItem<T>[];
  label: string;
}): ReactNode {
  return (
    <Base.Root value={value} onValueChange={(next: T) => onChange(next)} className="flex min-h-0 flex-1 flex-col">
      <Base.List aria-label={label} activateOnFocus className="relative flex shrink-0 gap-4 border-b border-line px-4">
        {items.map((item) => (
          <Base.Tab
            key={item.value}
            value={item.value}
            className="focus-inset -mb-px h-8 border-b-2 border-transparent text-sm text-fg-2 hover:text-fg data-active:border-accent data-active:font-medium data-active:text-fg"
          >
            {item.label}
          </Base.Tab>
        ))}
      </Base.List>
      {items.map((item) => (
        <Base.Panel key={item.value} value={item.value} className="min-h-0 flex-1 overflow-y-auto">
          {item.content}
        </Base.Panel>
      ))}
    </Base.Root>
  );
}
