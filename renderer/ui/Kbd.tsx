import { Fragment, type ReactNode } from 'react';
import { useCommandRegistry } from '../lib/commands.tsx';
import { cx } from '../lib/cx.ts';
import { keyCaps } from '../lib/keymap.ts';

/** Shows a key combination. It owns nothing: see `hotkey` of Button, or useCommands. */
export function Kbd({ keys, onAccent = false }: { keys: string; onAccent?: boolean }): ReactNode {
  const { mac } = useCommandRegistry();
  return (
    <span className="inline-flex items-center gap-1" aria-hidden="true">
      {keyCaps(keys, mac).map((caps, i) => (
        <Fragment key={i}>
          {caps.map((cap) => (
            <kbd
              key={cap}
              className={cx(
                'min-w-4 rounded-s border border-b-2 px-1 text-center font-mono text-[10px] leading-[14px] font-medium',
                onAccent ? 'border-on-accent/35 text-on-accent' : 'border-line-strong bg-raised text-fg-3',
              )}
            >
              {cap}
            </kbd>
          ))}
        </Fragment>
      ))}
    </span>
  );
}
