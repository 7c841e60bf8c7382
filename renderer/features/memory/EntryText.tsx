import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { headOf } from '../../ui/clean-text.ts';
import { partsOf } from './hidden.ts';

const HEAD_LINES = 12;
const HEAD_CHARS = 1_500;

/** The text of an entry as it is, hidden characters shown by name; a long one is folded. */
export function EntryText({ text }: { text: string }): ReactNode {
  const { t } = useTranslation('memory');
  const [whole, setWhole] = useState(false);
  const { head, hidden } = headOf(text, HEAD_LINES, HEAD_CHARS);
  return (
    <div className="min-w-0">
      <div className="leading-[1.5] break-words whitespace-pre-wrap [overflow-wrap:anywhere]">
        <Parts text={whole ? text : head} />
        {!whole && hidden > 0 && '…'}
      </div>
      {hidden > 0 && (
        <button type="button" aria-expanded={whole} onClick={() => setWhole(!whole)} className="mt-0.5 rounded-s text-xs text-accent hover:underline">
          {whole ? t('less') : t('more')}
        </button>
      )}
    </div>
  );
}

export function Parts({ text }: { text: string }): ReactNode {
  return partsOf(text).map((part, index) =>
    part.hidden === null ? (
      part.text
    ) : (
      <code key={index} className="mx-px rounded-[3px] bg-bad-soft px-1 font-mono text-xs whitespace-nowrap text-bad">
        {part.hidden.join(' ')}
      </code>
    ),
  );
}
