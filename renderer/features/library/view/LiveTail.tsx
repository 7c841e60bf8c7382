import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useStore } from 'zustand';
import { Spinner } from '../../../ui/Spinner.tsx';
import { cleanTerminal } from '../../../ui/clean-text.ts';
import { Markdown } from '../../../ui/Markdown.tsx';
import type { Transcript } from './transcript.ts';

const REASONING_TAIL = 4_000;
const OUTPUT_LINES = 12;

/** What is being written right now, below the last stored turn. Only this grows with each delta. */
export function LiveTail({ transcript, step }: { transcript: Transcript; step: number }): ReactNode {
  const { t } = useTranslation('library');
  const text = useStore(transcript.live, (s) => s.text);
  const writing = text !== null && text.content !== '';
  return (
    <article aria-label={t('role.agent')} aria-busy="true" className="min-h-16 py-2.5">
      <header className="mb-1 flex h-[22px] items-center gap-2 text-xs text-fg-3">
        {text !== null && text.tool !== '' ? <h3 className="font-semibold text-role-tool">{t('turn.liveOutput')}</h3> : <h3 className="font-semibold text-role-agent">{t('role.agent')}</h3>}
        <Spinner className="size-3" />
        <span>{text === null || text.tool !== '' ? t('call.pending') : writing ? t('turn.writing') : t('turn.thinking')}</span>
        <span className="sr-only" aria-live="polite">{t('turn.step', { n: step })}</span>
      </header>
      {text !== null && (
        <>
          {text.reasoning !== '' && <div className="mb-1.5 border-l-2 border-line-strong pl-2.5 text-sm wrap-anywhere whitespace-pre-wrap text-role-think">{text.reasoning.slice(-REASONING_TAIL)}</div>}
          {writing && <Markdown text={text.content} growing />}
          {text.tool !== '' && (
            <pre aria-label={t('turn.liveOutput')} className="my-1.5 overflow-hidden rounded-m border border-line bg-code px-2.5 py-1.5 font-mono text-xs leading-[1.5] wrap-anywhere whitespace-pre-wrap text-fg-2">
              {cleanTerminal(text.tool).split('\n').slice(-OUTPUT_LINES).join('\n')}
            </pre>
          )}
        </>
      )}
    </article>
  );
}
