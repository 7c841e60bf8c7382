import { useMemo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../../../lib/cx.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { headOf, lineCount } from '../../../ui/clean-text.ts';
import { TextViewer } from '../../../ui/TextViewer.tsx';
import { useFold } from '../view/context.tsx';

const SHORT_LINES = 18;
const SHORT_CHARS = 2_000;
/** Longer texts open in a viewer of their own that lays out only what is on screen. */
const INLINE_LINES = 300;
const INLINE_CHARS = 40_000;

/** Mono text, cut to its head until asked for; `numbersFrom` numbers its lines. */
export function CutText({ text, part, label, numbersFrom = null, tone = 'plain', moreBytes }: {
  text: string; part: string; label: string; numbersFrom?: number | null; tone?: 'plain' | 'bad';
  /** The engine sent only the beginning: how large the whole is, and the way to get it. */
  moreBytes?: { bytes: number; load: () => void; loading: boolean } | undefined;
}): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const [open, toggle] = useFold(`${part}:text`, false);
  const { head, hidden, long } = useMemo(() => {
    const cut = headOf(text, SHORT_LINES, SHORT_CHARS);
    return { ...cut, long: cut.hidden > 0 && (text.length > INLINE_CHARS || lineCount(text) > INLINE_LINES) };
  }, [text]);
  if (open && long && !moreBytes) {
    return (
      <>
        <TextViewer text={text} label={label} firstLine={numbersFrom} className="h-96 max-h-[70vh] border-t border-line" />
        <More onClick={toggle}>{t('call.showLess')}</More>
      </>
    );
  }
  const shown = open && !moreBytes ? text : head;
  return (
    <>
      <pre tabIndex={0} aria-label={label} className={cx('focus-inset overflow-x-auto border-t border-line bg-code px-2.5 py-1.5 font-mono text-xs leading-[1.5]', tone === 'bad' ? 'text-bad' : 'text-fg-2', 'wrap-anywhere whitespace-pre-wrap')}>
        {numbersFrom === null ? shown : <Numbered text={shown} from={numbersFrom} />}
      </pre>
      {moreBytes ? (
        <More onClick={moreBytes.load} busy={moreBytes.loading}>{t('call.showAllBytes', { size: format.bytes(moreBytes.bytes) })}</More>
      ) : (
        hidden > 0 && <More onClick={toggle}>{open ? t('call.showLess') : t('call.showAllLines', { count: hidden, shown: format.exact(hidden) })}</More>
      )}
    </>
  );
}

export function More({ onClick, busy = false, children }: { onClick: () => void; busy?: boolean; children: ReactNode }): ReactNode {
  return (
    <button type="button" onClick={onClick} aria-busy={busy || undefined} className="focus-inset flex h-6 w-full items-center border-t border-line bg-code px-2.5 text-xs text-accent hover:bg-hover">
      {children}
    </button>
  );
}

function Numbered({ text, from }: { text: string; from: number }): ReactNode {
  return text.replace(/\n$/, '').split('\n').map((line, i) => (
    <span key={i} className="flex gap-3">
      <span aria-hidden="true" className="num w-9 shrink-0 text-right text-fg-3 select-none">{from + i}</span>
      <span className="min-w-0 flex-1">{line || ' '}</span>
    </span>
  ));
}
