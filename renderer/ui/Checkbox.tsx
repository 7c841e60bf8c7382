import { Checkbox as Base } from '@base-ui/react/checkbox';
import { Check, Minus } from 'lucide-react';
import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';

/** A check box with its label, and at the right a count when given. */
export function Checkbox({
  checked,
  onChange,
  label,
  count,
  hint,
  disabled = false,
  indeterminate = false,
}: {
  checked: boolean;
  onChange: (checked: boolean) => void;
  label: ReactNode;
  count?: ReactNode;
  hint?: ReactNode;
  disabled?: boolean;
  indeterminate?: boolean;
}): ReactNode {
  return (
    <label
      className={cx(
        'flex min-h-[23px] min-w-0 items-center gap-2 text-sm',
        disabled ? 'opacity-50' : 'hover:text-fg',
        checked ? 'text-fg' : 'text-fg-2',
      )}
    >
      <Base.Root
        checked={checked}
        indeterminate={indeterminate}
        onCheckedChange={(value) => onChange(value)}
        disabled={disabled}
        // It would take Enter for itself, and with it the key of the main button.
        onKeyDown={(event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && event.preventBaseUIHandler()}
        className="grid size-3.5 shrink-0 place-items-center rounded-[3px] border-[1.5px] border-line-strong bg-raised data-checked:border-accent data-checked:bg-accent data-indeterminate:border-accent data-indeterminate:bg-accent"
      >
        <Base.Indicator className="text-on-accent">
          {indeterminate ? <Minus className="size-2.5" strokeWidth={3.5} /> : <Check className="size-2.5" strokeWidth={3.5} />}
        </Base.Indicator>
      </Base.Root>
      <span className="min-w-0 flex-1">
        <span className="block truncate">{label}</span>
        {hint && <span className="block text-xs whitespace-normal text-fg-3">{hint}</span>}
      </span>
      {count !== undefined && <span className="num text-xs text-fg-3">{count}</span>}
    </label>
  );
}
