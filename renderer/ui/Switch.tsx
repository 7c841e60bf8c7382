import { Switch as Base } from '@base-ui/react/switch';
import type { ReactNode } from 'react';

/** On or off at once, without a button to confirm. Named by `label`, which is not shown: the row says it. */
export function Switch({ checked, onChange, label, disabled = false }: { checked: boolean; onChange: (checked: boolean) => void; label: string; disabled?: boolean }): ReactNode {
  return (
    <Base.Root
      checked={checked}
      onCheckedChange={(value) => onChange(value)}
      disabled={disabled}
      aria-label={label}
      className="flex h-4 w-7 shrink-0 items-center rounded-full border border-line-strong bg-sunken p-px transition-colors data-checked:border-accent data-checked:bg-accent data-disabled:opacity-50"
    >
      <Base.Thumb className="size-3 rounded-full bg-fg-3 transition-transform data-checked:translate-x-3 data-checked:bg-on-accent" />
    </Base.Root>
  );
}
