import { useEffect, useMemo, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { StoredMessage } from '#shared/trajectory.ts';
import { errorText } from '../../../lib/errors.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { cleanTerminal } from '../../../ui/clean-text.ts';
import { useFold, useView } from '../view/context.tsx';
import { CutText, More } from './CutText.tsx';
import { DiffView } from './DiffView.tsx';
import { Pages, Todos } from './Lists.tsx';
import { Pictures } from './Pictures.tsx';
import { viewOfResult, type ResultView } from './result-view.ts';

const SHORT_MATCHES = 10;
const INLINE_MATCHES = 500;

/** The whole content of a message that came cut, fetched while `wanted`. */
function useWhole(message: StoredMessage, wanted: boolean): { content: string | null; loading: boolean; error: unknown } {
  const { loadContent } = useView();
  const [state, setState] = useState<{ content: string | null; error: unknown }>({ content: null, error: null });
  const fetching = wanted && message.contentBytes !== undefined;
  useEffect(() => {
    if (!fetching) return;
    let here = true;
    loadContent(message.seq).then(
      (content) => here && setState({ content, error: null }),
      (error: unknown) => here && setState({ content: null, error }),
    );
    return () => {
      here = false;
    };
  }, [fetching, loadContent, message.seq]);
  return { ...state, loading: fetching && state.content === null && state.error === null };
}

/** A tool result drawn after what it is: terminal output, diff, numbered file, matches, JSON or text. */
export function ResultBody({ name, message, view, part }: { name: string; message: StoredMessage; view: ResultView; part: string }): ReactNode {
  const { t } = useTranslation('library');
  const app = useTranslation('app').t;
  const [open, toggle] = useFold(`${part}:text`, false);
  const whole = useWhole(message, open);
  const shown = useMemo(() => (whole.content === null ? view : viewOfResult(name, { content: whole.content })), [whole.content, view, name]);
  const more = message.contentBytes !== undefined && whole.content === null ? { bytes: message.contentBytes, loading: whole.loading, load: () => !open && toggle() } : undefined;
  return (
    <>
      <Shown view={shown} part={part} label={t('call.result', { name })} failed={message.isError === true} more={more} />
      {message.attachments && message.attachments.length > 0 && (
        <div className="border-t border-line bg-code p-2">
          <Pictures attachments={message.attachments} />
        </div>
      )}
      {whole.error !== null && <p role="alert" className="border-t border-line px-2.5 py-1 text-sm text-bad">{errorText(whole.error, app)}</p>}
    </>
  );
}

function Shown({ view, part, label, failed, more }: { view: ResultView; part: string; label: string; failed: boolean; more: { bytes: number; load: () => void; loading: boolean } | undefined }): ReactNode {
  const { t } = useTranslation('library');
  // Once per result: it may have millions of characters.
  const output = useMemo(() => (view.kind === 'terminal' || view.kind === 'text' ? cleanTerminal(view.text) : ''), [view]);
  switch (view.kind) {
    case 'terminal':
      return (
        <>
          {output.trim() === '' && !view.error ? <Note>{t('call.empty')}</Note> : output !== '' && <CutText text={output} part={part} label={label} moreBytes={more} />}
          {view.error && <Note bad>{view.error}</Note>}
        </>
      );
    case 'diff':
      return (
        <>
          {view.error && <Note bad>{view.error}</Note>}
          <DiffView text={view.text} part={part} label={label} />
          {more && <CutText text="" part={part} label={label} moreBytes={more} />}
        </>
      );
    case 'file':
      return (
        <>
          {view.text === '' ? <Note>{t('call.empty')}</Note> : <CutText text={view.text} part={part} label={label} numbersFrom={view.firstLine} moreBytes={more} />}
          {view.note && <Note bad={failed}>{view.note}</Note>}
        </>
      );
    case 'matches':
      return <Matches view={view} part={part} label={label} />;
    case 'written':
      return null;
    case 'todos':
      return <Todos todos={view.todos} label={label} />;
    case 'pages':
      return (
        <>
          <Pages pages={view.pages} part={part} label={label} />
          {more && <CutText text="" part={part} label={label} moreBytes={more} />}
        </>
      );
    case 'answer':
      return view.answer === null ? <Note>{t('call.noAnswer')}</Note> : <CutText text={view.answer} part={part} label={label} moreBytes={more} />;
    case 'json': {
      const message = onlyError(view.value);
      if (message !== null) return <Note bad>{message}</Note>;
      return <CutText text={view.text} part={part} label={label} moreBytes={more} tone={failed ? 'bad' : 'plain'} />;
    }
    case 'text':
      return view.text.trim() === '' ? <Note>{t('call.empty')}</Note> : <CutText text={output} part={part} label={label} moreBytes={more} tone={failed ? 'bad' : 'plain'} />;
  }
}

/** `{"error": "…"}` says its sentence without the braces. */
function onlyError(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('error' in value) || typeof value.error !== 'string') return null;
  return Object.entries(value).every(([key, v]) => key === 'error' || key === 'success' || v === null) ? value.error : null;
}

function Note({ bad = false, children }: { bad?: boolean; children: ReactNode }): ReactNode {
  return <p className={`border-t border-line bg-code px-2.5 py-1.5 text-sm wrap-anywhere whitespace-pre-wrap ${bad ? 'text-bad' : 'text-fg-3'}`}>{children}</p>;
}

function Matches({ view, part, label }: { view: Extract<ResultView, { kind: 'matches' }>; part: string; label: string }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const [open, toggle] = useFold(`${part}:matches`, false);
  if (view.matches.length === 0) return <Note>{t('call.matches', { count: 0, shown: '0' })}</Note>;
  const shown = view.matches.slice(0, open ? INLINE_MATCHES : SHORT_MATCHES);
  const hidden = view.matches.length - shown.length;
  return (
    <>
      <ul aria-label={label} className="overflow-hidden border-t border-line bg-code px-2.5 py-1.5 font-mono text-xs leading-[1.6]">
        {shown.map((m, i) => (
          <li key={i} className="flex min-w-0 gap-3">
            <span className="max-w-1/2 shrink-0 truncate text-fg-3" title={m.path}>{m.path}{m.line === null ? '' : `:${m.line}`}</span>
            <span className="min-w-0 truncate text-fg-2" title={m.text}>{m.text.trim()}</span>
          </li>
        ))}
      </ul>
      {(hidden > 0 || (open && view.matches.length > SHORT_MATCHES)) && <More onClick={toggle}>{open ? t('call.showLess') : t('call.moreMatches', { count: hidden, shown: format.exact(hidden) })}</More>}
    </>
  );
}
