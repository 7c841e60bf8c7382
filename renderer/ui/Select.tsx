import { Autocomplete } from '@base-ui/react/autocomplete';
import { Select as Base } from '@base-ui/react/select';
import { Check, ChevronsUpDown } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { cx } from '../lib/cx.ts';

const POPUP =
  'max-h-[min(22rem,var(--available-height))] min-w-[var(--anchor-width)] overflow-y-auto rounded-m border border-line bg-raised p-1 shadow-pop outline-none';
const ITEM =
  'flex min-h-7 cursor-default items-center gap-2 rounded-s px-2 py-1 text-sm text-fg select-none data-highlighted:bg-hover data-disabled:opacity-50';

export interface Option<T extends string> {
  value: T;
  label: string;
  /** Second line. */
  hint?: string;
}

/** A closed list of choices. Give `label` when no Field names it. */
export function Select<T extends string>({
  value,
  onChange,
  options,
  label,
  placeholder,
  className,
  ...aria
}: {
  value: T;
  onChange: (value: T) => void;
  options: readonly Option<T>[];
  label?: string;
  /** Shown while the value is none of the options. */
  placeholder?: string;
  className?: string;
  id?: string;
  'aria-describedby'?: string | undefined;
  'aria-invalid'?: true | undefined;
}): ReactNode {
  return (
    <Base.Root
      value={placeholder !== undefined && !options.some((o) => o.value === value) ? null : value}
      onValueChange={(next) => next !== null && onChange(next)}
      items={options.map((o) => ({ value: o.value, label: o.label }))}
    >
      <Base.Trigger
        {...aria}
        aria-label={label}
        className={cx(
          'inline-flex h-7 min-w-0 items-center justify-between gap-2 rounded-m border border-line-strong bg-raised px-2 text-sm text-fg hover:bg-hover aria-invalid:border-bad',
          className,
        )}
      >
        <span className="min-w-0 truncate">
          <Base.Value placeholder={placeholder} />
        </span>
        <Base.Icon className="text-fg-3">
          <ChevronsUpDown className="size-3.5" aria-hidden="true" />
        </Base.Icon>
      </Base.Trigger>
      <Base.Portal>
        <Base.Positioner alignItemWithTrigger={false} sideOffset={4} className="z-50" data-cover="">
          <Base.Popup className={POPUP}>
            {options.map((o) => (
              <Base.Item key={o.value} value={o.value} className={ITEM}>
                <span className="grid size-3.5 shrink-0 place-items-center">
                  <Base.ItemIndicator>
                    <Check className="size-3.5 text-accent" aria-hidden="true" />
                  </Base.ItemIndicator>
                </span>
                <span className="min-w-0">
                  <Base.ItemText>{o.label}</Base.ItemText>
                  {o.hint && <span className="block max-w-[44ch] text-xs text-fg-3">{o.hint}</span>}
                </span>
              </Base.Item>
            ))}
          </Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  );
}

/** Free text with suggestions, e.g. a model name from the provider's list. */
export function SuggestInput({
  value,
  onChange,
  suggestions,
  placeholder,
  empty,
  ...aria
}: {
  value: string;
  onChange: (value: string) => void;
  suggestions: readonly string[];
  placeholder?: string;
  empty?: string;
  id?: string;
  'aria-describedby'?: string | undefined;
  'aria-invalid'?: true | undefined;
}): ReactNode {
  const [open, setOpen] = useState(false);
  // An open list without a line in it would only cut off the rest of the page from screen readers.
  const matches = empty !== undefined || suggestions.some((s) => s.toLowerCase().includes(value.trim().toLowerCase()));
  return (
    <Autocomplete.Root
      items={suggestions}
      value={value}
      onValueChange={onChange}
      open={open && matches}
      onOpenChange={setOpen}
      openOnInputClick
      limit={200}
    >
      <Autocomplete.Input
        {...aria}
        placeholder={placeholder}
        spellCheck={false}
        className="h-7 w-full min-w-0 rounded-m border border-line-strong bg-raised px-2 font-mono text-sm text-fg aria-invalid:border-bad"
      />
      <Autocomplete.Portal>
        <Autocomplete.Positioner sideOffset={4} className="z-50">
          <Autocomplete.Popup className={POPUP}>
            {empty && <Autocomplete.Empty className="px-2 py-1 text-xs text-fg-3 empty:p-0">{empty}</Autocomplete.Empty>}
            <Autocomplete.List>
              {(item: string) => (
                <Autocomplete.Item key={item} value={item} className={cx(ITEM, 'font-mono')}>
                  {item}
                </Autocomplete.Item>
              )}
            </Autocomplete.List>
          </Autocomplete.Popup>
        </Autocomplete.Positioner>
      </Autocomplete.Portal>
    </Autocomplete.Root>
  );
}

/** Two to four choices side by side, moved through by arrow keys. */
export function Segmented<T extends string>({
  value,
  onChange,
  options,
  label,
}: {
  value: T;
  onChange: (value: T) => void;
  options: readonly { value: T; label: string }[];
  label: string;
}): ReactNode {
  const move = (from: number, step: number, el: HTMLElement): void => {
    const at = (from + step + options.length) % options.length;
    const next = options[at];
    if (!next) return;
    onChange(next.value);
    (el.parentElement?.children[at] as HTMLElement | undefined)?.focus();
  };
  return (
    <div role="radiogroup" aria-label={label} className="inline-flex w-fit rounded-m border border-line-strong bg-sunken p-0.5">
      {options.map((o, i) => (
        <button
          key={o.value}
          type="button"
          role="radio"
          aria-checked={o.value === value}
          tabIndex={o.value === value ? 0 : -1}
          onClick={() => onChange(o.value)}
          onKeyDown={(e) => {
            const step = e.key === 'ArrowRight' || e.key === 'ArrowDown' ? 1 : e.key === 'ArrowLeft' || e.key === 'ArrowUp' ? -1 : 0;
            if (step === 0) return;
            e.preventDefault();
            move(i, step, e.currentTarget);
          }}
          className={cx(
            'h-[22px] rounded-[5px] px-2.5 text-sm whitespace-nowrap',
            o.value === value ? 'bg-raised font-medium text-fg shadow-[0_1px_2px_rgb(0_0_0/0.12)]' : 'text-fg-2 hover:text-fg',
          )}
        >
          {o.label}
        </button>
      ))}
    </div>
  );
}
