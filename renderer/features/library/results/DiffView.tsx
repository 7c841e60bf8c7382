import { useMemo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../../../lib/cx.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { TextViewer } from '../../../ui/TextViewer.tsx';
import { useFold } from '../view/context.tsx';
import { More } from './CutText.tsx';
import { parseDiff, type DiffLine } from './diff.ts';

const SHORT_LINES = 40;
const INLINE_LINES = 600;

const LOOKS: Record<DiffLine['kind'], string> = {
  file: 'text-fg-3', hunk: 'text-fg-3', add: 'bg-good-soft text-fg', del: 'bg-bad-soft text-fg', context: 'text-fg-2', note: 'text-fg-2',
};
const SIGNS: Record<DiffLine['kind'], string> = { file: '', hunk: '', add: '+', del: '−', context: ' ', note: '' };

/** A unified diff in colour, with signs, so that colour is not all that tells. */
export function DiffView({ text, part, label }: { text: string; part: string; label: string }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const [open, toggle] = useFold(`${part}:diff`, false);
  const { lines } = useMemo(() => parseDiff(text), [text]);
  // The names of the files stand in the head of the card already.
  const body = lines.filter((line, i) => line.kind !== 'file' || (i > 3 && line.text.startsWith('+++ ')));
  if (open && body.length > INLINE_LINES) {
    return (
      <>
        <TextViewer text={text} label={label} className="h-96 max-h-[70vh] border-t border-line" />
        <More onClick={toggle}>{t('call.showLess')}</More>
      </>
    );
  }
  const shown = open ? body : body.slice(0, SHORT_LINES);
  const hidden = body.length - shown.length;
  return (
    <>
      <div tabIndex={0} role="group" aria-label={label} className="focus-inset overflow-x-auto border-t border-line bg-code py-1 font-mono text-xs leading-[1.5]">
        {shown.map((line, i) => (
          <div key={i} className={cx('flex gap-2 px-2.5', LOOKS[line.kind])}>
            <span aria-hidden="true" className="num w-8 shrink-0 text-right text-fg-3 select-none">{line.new ?? line.old ?? ''}</span>
            <span className={cx('w-3 shrink-0', line.kind === 'add' ? 'text-good' : line.kind === 'del' ? 'text-bad' : '')}>{SIGNS[line.kind]}</span>
            <span className="min-w-0 flex-1 wrap-anywhere whitespace-pre-wrap">{line.text || ' '}</span>
          </div>
        ))}
      </div>
      {(hidden > 0 || (open && body.length > SHORT_LINES)) && (
        <More onClick={toggle}>{open ? t('call.showLess') : t('call.showAllLines', { count: hidden, shown: format.exact(hidden) })}</More>
      )}
    </>
  );
}
