import { ChevronRight, SlidersHorizontal } from 'lucide-react';
import { memo, useEffect, useMemo, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../../../lib/cx.ts';
import { useFormat, type Format } from '../../../lib/i18n.ts';
import { cleanTerminal } from '../../../ui/clean-text.ts';
import { Spinner } from '../../../ui/Spinner.tsx';
import { parseDiff } from '../results/diff.ts';
import { Fields } from '../results/Fields.tsx';
import { fieldsOf, mainArgument, viewOfCall, type ResultView } from '../results/result-view.ts';
import { ResultBody } from '../results/ResultBody.tsx';
import { useFold, useRun } from './context.tsx';
import { part } from './folds.ts';
import { PlainIconButton } from './PlainIconButton.tsx';
import type { Run } from './runs.ts';
import type { CallPair } from './turns.ts';

const LIVE_LINES = 12;
const TICK_MS = 1_000;

/**
 * One tool call with what it answered, or what it does right now.
 * @param props.running the trajectory goes on, so a missing result is still to come
 * @param props.folded closed while nobody opened it, unless something is to be seen (it failed, it changed something)
 * @param props.children what must be seen with it in any case, e.g. a question
 */
export const CallCard = memo(function CallCard({ pair, seq, index, running, folded = false, children }: {
  pair: CallPair; seq: number; index: number; running: boolean; folded?: boolean; children?: ReactNode;
}): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const { call, result } = pair;
  const run = useRun(call.id, running && !result);
  const view = useMemo(() => (result ? viewOfCall(call, result) : null), [call, result]);
  const [open, toggle] = useFold(part.call(seq, index), !folded || tells(view, result?.isError === true));
  const fields = useMemo(() => fieldsOf(call), [call]);
  const telling = useMemo(() => mainArgument(call), [call]);
  // What the head does not say, or what the result does not show (the text of a written file).
  const longField = fields?.some(([, v]) => typeof v === 'string' && v.includes('\n')) ?? false;
  const [argsOpen, toggleArgs] = useFold(part.args(seq, index), fields === null || (longField && (view === null || view.kind === 'json' || view.kind === 'text' || view.kind === 'written')));
  const hasMore = fields === null || fields.length > 1 || longField || telling.length > 60;
  const failed = result?.isError === true;
  // A command that ends with another code than 0 did its work as a tool; it still catches the eye.
  const alarming = failed || (view?.kind === 'terminal' && view.exitCode !== null && view.exitCode !== 0);
  const meta = [view && metaOf(view, t, format), failed && !(view?.kind === 'terminal' && view.exitCode) ? t('call.failed') : null, result?.durationMs === undefined ? null : format.duration(result.durationMs)].filter(Boolean);
  return (
    <div className={cx('my-1.5 overflow-hidden rounded-m border bg-raised', failed ? 'border-bad/50' : 'border-line')}>
      <div className="flex h-7 items-center pr-1.5">
        <button type="button" aria-expanded={open} onClick={toggle} className="focus-inset flex h-full min-w-0 flex-1 items-center gap-2 overflow-hidden px-2.5 text-left text-sm hover:bg-hover">
          <ChevronRight aria-hidden="true" className={cx('size-3 shrink-0 text-fg-3 transition-transform', open && 'rotate-90')} />
          <b className="min-w-0 truncate font-mono font-semibold text-role-tool">{call.name}</b>
          <code className="min-w-0 flex-1 shrink-[9] truncate font-mono text-fg-2">{telling}</code>
          <span className={cx('num flex shrink-0 items-center gap-1.5 text-xs', alarming ? 'text-bad' : 'text-fg-3')}>
            {!result && running && <Spinner className="size-3" />}
            {result ? meta.join(' · ') : run ? <Elapsed since={run.startedAt} /> : running ? t('call.pending') : t('call.noResult')}
          </span>
        </button>
        {hasMore && <PlainIconButton icon={SlidersHorizontal} label={t('call.arguments')} pressed={open && argsOpen} onClick={() => (open ? toggleArgs() : (toggle(), argsOpen || toggleArgs()))} />}
      </div>
      {open && (
        <>
          {hasMore && argsOpen && <Fields call={call} part={part.args(seq, index)} told={telling} />}
          {result && view && <ResultBody name={call.name} message={result} view={view} part={part.call(seq, index)} />}
        </>
      )}
      {run && run.output !== '' && <LiveOutput run={run} />}
      {children}
    </div>
  );
});

/** Whether a result is worth its place also where others are folded. */
function tells(view: ResultView | null, failed: boolean): boolean {
  if (failed) return true;
  return view !== null && (view.kind === 'diff' || view.kind === 'todos' || view.kind === 'answer' || (view.kind === 'terminal' && view.exitCode !== null && view.exitCode !== 0));
}

function Elapsed({ since }: { since: number }): ReactNode {
  const format = useFormat();
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return now - since < TICK_MS ? null : format.duration(Math.floor((now - since) / TICK_MS) * TICK_MS);
}

function LiveOutput({ run }: { run: Run }): ReactNode {
  const { t } = useTranslation('library');
  const lines = cleanTerminal(run.output).replace(/\n$/, '').split('\n');
  return (
    <pre aria-label={t('turn.liveOutput')} className="overflow-hidden border-t border-line bg-code px-2.5 py-1.5 font-mono text-xs leading-[1.5] wrap-anywhere whitespace-pre-wrap text-fg-2">
      {(run.cut || lines.length > LIVE_LINES) && <span className="text-fg-3">…{'\n'}</span>}
      {lines.slice(-LIVE_LINES).join('\n').slice(-4_000)}
    </pre>
  );
}

type T = ReturnType<typeof useTranslation<'library'>>['t'];

function metaOf(view: ResultView, t: T, { exact, bytes }: Format): string | null {
  switch (view.kind) {
    case 'terminal':
      return view.exitCode === null ? null : t('call.exit', { code: view.exitCode });
    case 'diff': {
      const { added, removed } = parseDiff(view.text);
      return `+${exact(added)} −${exact(removed)}`;
    }
    case 'matches': {
      const count = view.total ?? view.matches.length;
      return t('call.matches', { count, shown: exact(count) });
    }
    case 'pages':
      return t('call.matches', { count: view.pages.length, shown: exact(view.pages.length) });
    case 'todos':
      return `${exact(view.todos.filter((todo) => todo.status === 'completed').length)}/${exact(view.todos.length)}`;
    case 'written':
      return `${bytes(view.bytes)} · ${t(view.created ? 'call.newFile' : 'call.replaced')}`;
    default:
      return null;
  }
}
