import type { ReactNode } from 'react';
import { cx } from '../lib/cx.ts';

/** A turning ring, the size of an icon. With `label` it is announced; without, it is decoration. */
export function Spinner({ label, className }: { label?: string; className?: string }): ReactNode {
  return (
    <span
      role={label ? 'status' : undefined}
      aria-label={label}
      aria-hidden={label ? undefined : true}
      className={cx(
        'inline-block size-3.5 shrink-0 animate-spin rounded-full border-[1.5px] border-current border-r-transparent opacity-80',
        className,
      )}
    />
  );
}
