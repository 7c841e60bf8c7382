import { useEffect, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { StoredMessage } from '#shared/trajectory.ts';
import { errorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { headOf } from '../../../ui/clean-text.ts';
import { Markdown, MARKDOWN_MAX_CHARS } from '../../../ui/Markdown.tsx';
import { TextViewer } from '../../../ui/TextViewer.tsx';
import { useFold, useView } from './context.tsx';
import { part } from './folds.ts';

const HEAD_LINES = 400;
const HEAD_CHARS = 12_000;

/** The text of a message; very long ones show their head, and open in a viewer that lays out only what is on screen. */
export function LongText({ message, plain = false }: { message: StoredMessage; plain?: boolean }): ReactNode {
  const { t } = useTranslation('library');
  const app = useTranslation('app').t;
  const format = useFormat();
  const { loadContent } = useView();
  const [open, toggle] = useFold(part.whole(message.seq), false);
  const [whole, setWhole] = useState<{ text: string | null; error: unknown }>({ text: null, error: null });
  const cut = message.contentBytes !== undefined;
  useEffect(() => {
    if (!open || !cut) return;
    let here = true;
    loadContent(message.seq).then((text) => here && setWhole({ text, error: null }), (error: unknown) => here && setWhole({ text: null, error }));
    return () => {
      here = false;
    };
  }, [open, cut, loadContent, message.seq]);
  const text = whole.text ?? message.content;
  const long = cut || text.length > (plain ? HEAD_CHARS : MARKDOWN_MAX_CHARS);
  const { head } = headOf(text, HEAD_LINES, HEAD_CHARS);
  const showsViewer = long && open && (!cut || whole.text !== null);
  return (
    <>
      {showsViewer ? (
        <TextViewer text={text} label={t('view.turns')} className="h-96 max-h-[70vh] rounded-m border border-line" />
      ) : plain ? (
        <div className="wrap-anywhere whitespace-pre-wrap">{long ? head : text}</div>
      ) : (
        <Markdown text={long ? head : text} />
      )}
      {long && (
        <button type="button" onClick={toggle} aria-busy={(open && !showsViewer) || undefined} className="mt-1 text-xs text-accent">
          {showsViewer ? t('call.showLess') : t('call.showAllBytes', { size: format.bytes(message.contentBytes ?? text.length) })}
        </button>
      )}
      {whole.error !== null && <p role="alert" className="text-sm text-bad">{errorText(whole.error, app)}</p>}
    </>
  );
}
