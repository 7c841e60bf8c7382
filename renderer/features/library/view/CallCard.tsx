import { ChevronRight, SlidersHorizontal } from 'lucide-react';
import { memo, useMemo, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { cx } from '../../../lib/cx.ts';
import { useFormat, type Format } from '../../../lib/i18n.ts';
import { Spinner } from '../../../ui/Spinner.tsx';
import { parseDiff } from '../results/diff.ts';
import { Fields } from '../results/Fields.tsx';
import { fieldsOf, mainArgument, viewOfResult, type ResultView } from '../results/result-view.ts';
import { ResultBody } from '../results/ResultBody.tsx';
import { useFold } from './context.tsx';
import { part } from './folds.ts';
import { PlainIconButton } from './PlainIconButton.tsx';
import type { CallPair } from './turns.ts';

/** One tool call with what it answered. @param props.running the trajectory goes on, so a missing result is still to come */
export const CallCard = memo(function CallCard({ pair, seq, index, running }: { pair: CallPair; seq: number; index: number; running: boolean }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const { call, result } = pair;
  const [open, toggle] = useFold(part.call(seq, index), true);
  const view = useMemo(() => (result ? viewOfResult(call.name, result) : null), [call.name, result]);
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
            {result ? meta.join(' · ') : running ? t('call.pending') : t('call.noResult')}
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
    </div>
  );
});

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
    case 'written':
      return `${bytes(view.bytes)} · ${t(view.created ? 'call.newFile' : 'call.replaced')}`;
    default:
      return null;
  }
}
