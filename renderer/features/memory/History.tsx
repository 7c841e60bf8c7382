import { Undo2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { MemoryChange } from '#shared/contract/memory.ts';
import { cx } from '../../lib/cx.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { Chip } from '../../ui/Chip.tsx';
import { headOf } from '../../ui/clean-text.ts';
import { Parts } from './EntryText.tsx';
import { useAuthor } from './words.ts';

const LINE_CHARS = 400;
const LINES = 6;

/** What was changed, by whom, newest first; each change can be taken back by itself. */
export function History({ items, onUndo }: { items: readonly MemoryChange[]; onUndo: (id: number) => void }): ReactNode {
  const { t } = useTranslation('memory');
  return (
    <section aria-label={t('history.title')} className="flex h-full min-h-0 flex-col bg-sunken">
      <h2 className="border-b border-line px-3.5 py-2 text-sm font-semibold">{t('history.title')}</h2>
      {items.length === 0 ? (
        <p className="p-6 text-center text-sm text-fg-3">{t('history.empty')}</p>
      ) : (
        <ol tabIndex={0} aria-label={t('history.title')} className="focus-inset min-h-0 flex-1 overflow-y-auto">
          {items.map((change) => (
            <Change key={change.id} change={change} onUndo={() => onUndo(change.id)} />
          ))}
        </ol>
      )}
    </section>
  );
}

function Change({ change, onUndo }: { change: MemoryChange; onUndo: () => void }): ReactNode {
  const { t } = useTranslation('memory');
  const f = useFormat();
  const author = useAuthor();
  return (
    <li className="grid gap-1.5 border-b border-line px-3.5 py-2">
      <div className="flex min-h-[26px] items-center gap-2 text-xs text-fg-3">
        <span className="min-w-0 flex-1 truncate">
          <span className="font-medium text-fg-2">{author(change.author)}</span>
          {' · '}
          {t(`stores.${change.target}.short`)}
          {' · '}
          <span title={f.dateTime(change.createdAt)}>{f.ago(change.createdAt)}</span>
        </span>
        {change.undone ? (
          <Chip>{t('history.undone')}</Chip>
        ) : (
          <Button variant="ghost" icon={Undo2} onClick={onUndo} aria-label={t('history.undoOf', { text: (change.added[0] ?? change.removed[0] ?? '').slice(0, 60) })}>
            {t('history.undo')}
          </Button>
        )}
      </div>
      {change.reason !== '' && <p className="text-xs break-words text-fg-2">{change.reason}</p>}
      <div className={cx('grid gap-1', change.undone && 'text-fg-2')}>
        {change.removed.map((text) => (
          <Line key={`-${text}`} sign="−" word={t('history.removed')} text={text} className={change.undone ? 'bg-hover' : 'bg-bad-soft'} />
        ))}
        {change.added.map((text) => (
          <Line key={`+${text}`} sign="+" word={t('history.added')} text={text} className={change.undone ? 'bg-hover' : 'bg-good-soft'} />
        ))}
      </div>
      {change.trajectoryId !== null && change.trajectoryTitle !== null && (
        <a href={`#/library/${encodeURIComponent(change.trajectoryId)}`} className="truncate text-xs" title={change.trajectoryTitle}>
          {change.trajectoryTitle}
        </a>
      )}
    </li>
  );
}

function Line({ sign, word, text, className }: { sign: string; word: string; text: string; className: string }): ReactNode {
  const { head, hidden } = headOf(text, LINES, LINE_CHARS);
  return (
    <div className={cx('grid grid-cols-[14px_minmax(0,1fr)] rounded-s px-1.5 py-0.5 text-sm', className)}>
      <span aria-hidden="true" className="font-mono text-fg-2">
        {sign}
      </span>
      <span className="break-words whitespace-pre-wrap [overflow-wrap:anywhere]">
        <span className="sr-only">{word}: </span>
        <Parts text={head} />
        {hidden > 0 && '…'}
      </span>
    </div>
  );
}
