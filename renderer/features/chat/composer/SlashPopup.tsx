import { useEffect, useRef, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../../../lib/cx.ts';
import type { Offers } from '../commands/slash.ts';

type Item = Offers['items'][number];

const optionId = (list: string, name: string): string => `${list}-${name}`;

const nameOf = (item: Item): string => ('skill' in item ? item.skill : item.name);

export const offerId = (list: string, item: Item): string => optionId(list, `${'skill' in item ? 'skill-' : ''}${nameOf(item)}`);

/** The commands and skills that fit what is typed. The text field keeps the focus and moves through them. */
export function SlashPopup({ id, commands, at, onPick, onHover }: { id: string; commands: readonly Item[]; at: number; onPick: (item: Item) => void; onHover: (at: number) => void }): ReactNode {
  const { t } = useTranslation('chat');
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[at]?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  return (
    <div ref={list} id={id} role="listbox" tabIndex={0} aria-label={t('slash.label')} className="focus-inset absolute inset-x-0 bottom-full z-20 mb-1.5 max-h-72 overflow-y-auto rounded-m border border-line bg-raised p-1 shadow-pop">
      {commands.map((command, i) => (
        <div
          key={offerId(id, command)}
          id={offerId(id, command)}
          role="option"
          aria-selected={i === at}
          onMouseMove={() => i !== at && onHover(i)}
          onMouseDown={(e) => e.preventDefault()}
          onClick={() => onPick(command)}
          className={cx('flex min-w-0 items-baseline gap-2.5 rounded-s px-2 py-1 text-sm', i === at && 'bg-hover')}
        >
          {'skill' in command ? (
            <>
              <span className="max-w-1/2 min-w-20 shrink-0 truncate font-mono text-role-agent">/{command.skill}</span>
              <span className="min-w-0 flex-1 truncate text-fg-2">{command.description}</span>
              <span className="shrink-0 text-xs text-fg-3">{t('slash.skill')}</span>
            </>
          ) : (
            <>
              <span className="w-20 shrink-0 font-mono text-role-tool">/{command.name}</span>
              {command.args !== 'none' && <span className="shrink-0 font-mono text-xs text-fg-3">{t(`slash.args.${command.name as 'new' | 'background' | 'model' | 'tools' | 'compress' | 'retry' | 'export' | 'title'}`)}</span>}
              <span className="min-w-0 flex-1 truncate text-fg-2">{t(`slash.about.${command.name}`)}</span>
              {command.aliases.length > 0 && <span className="shrink-0 font-mono text-xs text-fg-3">{command.aliases.map((a) => `/${a}`).join(' ')}</span>}
            </>
          )}
        </div>
      ))}
    </div>
  );
}
