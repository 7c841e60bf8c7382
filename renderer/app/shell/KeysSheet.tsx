import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useCommandLayers, useCommandRegistry, type Command } from '../../lib/commands.tsx';
import { cx } from '../../lib/cx.ts';
import { keyCaps } from '../../lib/keymap.ts';
import { Dialog } from '../../ui/Dialog.tsx';
import { Kbd } from '../../ui/Kbd.tsx';

/** A group of at most so many keys stays in one column. */
const WHOLE = 8;

/** All keys that work now, newest layer first: read from the keymap itself, so it cannot be wrong. */
export function KeysSheet({ open, onClose }: { open: boolean; onClose: () => void }): ReactNode {
  const { t } = useTranslation('app');
  const layers = useCommandLayers();
  const { mac } = useCommandRegistry();
  const groups = new Map<string, Command[]>();
  for (const layer of layers.toReversed()) {
    const commands = layer.commands.filter((c) => c.keys && !c.disabled && !c.inDialog);
    if (commands.length > 0) groups.set(layer.title, [...(groups.get(layer.title) ?? []), ...commands]);
  }
  const everywhere = t('keys.everywhere');
  const sorted = [...groups].toSorted(([a], [b]) => Number(a === everywhere) - Number(b === everywhere));
  return (
    <Dialog open={open} onClose={onClose} title={t('keys.title')} width="lg">
      <div className="gap-x-10 sm:columns-2">
        {sorted.map(([title, commands]) => (
          <section key={title} className={cx('mb-4', commands.length <= WHOLE && 'break-inside-avoid')}>
            <h3 className="mb-1 break-after-avoid text-xs font-semibold text-fg-3">{title}</h3>
            <dl>
              {commands.map((c) => (
                <div
                  key={`${c.id}${c.keys}`}
                  className="flex break-inside-avoid items-baseline gap-4 border-b border-line py-1 text-sm last:border-0"
                >
                  <dt className="min-w-0 flex-1">{c.label}</dt>
                  <dd className="flex w-28 shrink-0 items-center gap-2">
                    <span className="sr-only">{[c.keys ?? '', ...(c.also ?? [])].map((keys) => keyCaps(keys, mac).map((caps) => caps.join(' ')).join(' ')).join(', ')}</span>
                    {[c.keys ?? '', ...(c.also ?? [])].map((keys) => (
                      <Kbd key={keys} keys={keys} />
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  );
}
