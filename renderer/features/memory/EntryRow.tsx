import { Pencil, ShieldAlert, Trash2, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { MemoryEntry } from '#shared/contract/memory.ts';
import { cx } from '../../lib/cx.ts';
import { useFormat } from '../../lib/i18n.ts';
import { IconButton } from '../../ui/Button.tsx';
import { Checkbox } from '../../ui/Checkbox.tsx';
import { Chip } from '../../ui/Chip.tsx';
import { EntryText } from './EntryText.tsx';
import { countChars } from './order.ts';
import { useAuthor, useSign } from './words.ts';

/** One entry: its text, where it came from, how often it was used, and what is wrong with it. */
export function EntryRow({
  entry,
  domId,
  current,
  picked,
  onPick,
  onCurrent,
  onEdit,
  onRemove,
}: {
  entry: MemoryEntry;
  domId: string;
  current: boolean;
  picked: boolean;
  onPick: () => void;
  onCurrent: () => void;
  onEdit: () => void;
  onRemove: () => void;
}): ReactNode {
  const { t } = useTranslation(['memory', 'app']);
  const short = entry.text.slice(0, 60);
  return (
    <li
      id={domId}
      aria-current={current || undefined}
      onClick={onCurrent}
      className={cx('group grid grid-cols-[14px_minmax(0,1fr)_auto] gap-x-3 border-b border-line px-4 py-2 hover:bg-hover', current && 'bg-selected shadow-[inset_2px_0_var(--accent)]')}
    >
      <div className="h-5">
        <Checkbox checked={picked} onChange={onPick} label={<span className="sr-only">{t('select', { text: short })}</span>} />
      </div>
      <div className="grid min-w-0 grid-cols-1 gap-1">
        <EntryText text={entry.text} />
        <Marks entry={entry} />
        <Facts entry={entry} />
      </div>
      <div className={cx('flex h-fit gap-0.5 opacity-0 group-focus-within:opacity-100 group-hover:opacity-100', current && 'opacity-100')}>
        <IconButton size="sm" icon={Pencil} label={t('edit')} onClick={onEdit} />
        <IconButton size="sm" icon={Trash2} label={t('app:action.remove')} onClick={onRemove} />
      </div>
    </li>
  );
}

/** What is wrong with it, and what to do. */
function Marks({ entry }: { entry: MemoryEntry }): ReactNode {
  const { t } = useTranslation('memory');
  const sign = useSign();
  const found = entry.warnings.map(sign).join(t('listSeparator'));
  if (entry.blocked)
    return (
      <p className="flex items-start gap-1.5 text-sm text-bad">
        <ShieldAlert className="mt-[3px] size-3.5 shrink-0" aria-hidden="true" />
        <span>{t('blocked', { found })}</span>
      </p>
    );
  return (
    <>
      {entry.warnings.length > 0 && (
        <p className="flex items-start gap-1.5 text-sm text-warn">
          <TriangleAlert className="mt-[3px] size-3.5 shrink-0" aria-hidden="true" />
          <span>{t('warned', { found })}</span>
        </p>
      )}
      {entry.inPrompt !== 'whole' && (
        <p>
          <Chip tone="warn">{entry.inPrompt === 'cut' ? t('cut') : t('leftOut')}</Chip>
        </p>
      )}
    </>
  );
}

function Facts({ entry }: { entry: MemoryEntry }): ReactNode {
  const { t } = useTranslation('memory');
  const f = useFormat();
  const author = useAuthor();
  return (
    <p className="num flex min-w-0 flex-wrap gap-x-1.5 text-xs text-fg-3">
      <span>{author(entry.author)}</span>
      {entry.createdAt !== null && (
        <>
          <Dot />
          <span title={f.dateTime(entry.createdAt)}>{entry.author === null ? t('seen', { ago: f.ago(entry.createdAt) }) : f.ago(entry.createdAt)}</span>
        </>
      )}
      {entry.trajectoryId !== null && entry.trajectoryTitle !== null && (
        <>
          <Dot />
          <a href={`#/library/${encodeURIComponent(entry.trajectoryId)}`} className="max-w-[42ch] truncate" title={entry.trajectoryTitle}>
            {entry.trajectoryTitle}
          </a>
        </>
      )}
      <Dot />
      <span {...(entry.usedAt === null ? {} : { title: t('lastUsed', { at: f.dateTime(entry.usedAt) }) })}>
        {entry.uses === 0 ? t('unused') : t('used', { count: entry.uses, shown: f.exact(entry.uses), ago: entry.usedAt === null ? '' : f.ago(entry.usedAt) })}
      </span>
      <Dot />
      <span>{t('chars', { count: countChars(entry.text), shown: f.exact(countChars(entry.text)) })}</span>
    </p>
  );
}

function Dot(): ReactNode {
  return <span aria-hidden="true">·</span>;
}
