import { CircleX, Info, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../../../lib/cx.ts';
import { Chip } from '../../../ui/Chip.tsx';
import { categoryText, MAIN_FILE, type Note } from '../notes.ts';

const ICONS = { error: CircleX, warning: TriangleAlert, info: Info };
const TONES = { error: 'text-bad', warning: 'text-warn', info: 'text-info' };

/** What is wrong with a skill, or dangerous about it; a press leads to the line. Takes no place when there is nothing. */
export function NoteList({ notes, onGo }: { notes: readonly Note[]; onGo: (note: Note) => void }): ReactNode {
  const { t } = useTranslation('skills');
  if (notes.length === 0) return null;
  return (
    <section aria-label={t('notes.label')} className="max-h-[34%] shrink-0 overflow-y-auto border-t border-line bg-sunken py-1">
      <ul>
        {notes.map((note, i) => {
          const Icon = ICONS[note.severity];
          return (
            <li key={i}>
              <button type="button" onClick={() => onGo(note)} className="focus-inset flex w-full items-start gap-2 px-3 py-1 text-left text-sm hover:bg-hover">
                <Icon role="img" aria-label={t(`notes.${note.severity}`)} className={cx('mt-0.5 size-3.5 shrink-0', TONES[note.severity])} />
                <span className="min-w-0 flex-1">
                  <span className="wrap-anywhere">{note.message}</span>
                  {note.excerpt !== null && <code className="mt-0.5 block truncate font-mono text-xs text-fg-2">{note.excerpt}</code>}
                </span>
                {note.category !== null && <Chip tone={note.severity === 'error' ? 'bad' : note.severity === 'warning' ? 'warn' : 'neutral'}>{categoryText(note.category, t)}</Chip>}
                <span className="num shrink-0 text-xs text-fg-3">
                  {note.file === MAIN_FILE ? '' : `${note.file} `}
                  {note.at !== null && t('notes.line', { line: note.at })}
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
