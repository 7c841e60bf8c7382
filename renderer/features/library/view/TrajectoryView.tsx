import { FileQuestion } from 'lucide-react';
import { useCallback, useEffect, useImperativeHandle, useMemo, useRef, useState, type ReactNode, type Ref } from 'react';
import { useTranslation } from 'react-i18next';
import { ORPCError } from '@orpc/client';
import { useStore } from 'zustand';
import { useClient } from '../../../lib/engine-context.tsx';
import { useCommands } from '../../../lib/commands.tsx';
import { useHashSearch } from '../../../lib/hash-location.ts';
import { readRemembered, remember } from '../../../lib/remembered.ts';
import { useWide } from '../use-wide.ts';
import { Button } from '../../../ui/Button.tsx';
import { EmptyState, ErrorState, Skeleton } from '../../../ui/Feedback.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';
import { Delegations } from '../../chat/delegation/delegations.tsx';
import { useLearn } from '../../reviews/use-learn.ts';
import { contentLoader, ViewProvider } from './context.tsx';
import { turnAsText } from './copy.ts';
import { FindBar } from './FindBar.tsx';
import { createFolds, toggleTurn } from './folds.ts';
import { Outline } from './Outline.tsx';
import { outlineOf } from './outline.ts';
import { RawView } from './RawView.tsx';
import { ScoresPanel } from '../scores/ScoresPanel.tsx';
import { useScores } from '../scores/use-scores.ts';
import type { Transcript } from './transcript.ts';
import { TurnList, type TurnListHandle } from './TurnList.tsx';
import type { Turn } from './turns.ts';
import { useMarks } from './use-marks.ts';
import { useTranscript } from './use-transcript.ts';
import { ViewHeader } from './ViewHeader.tsx';

export interface ViewHandle {
  /** Takes the focus; false while there is nothing to read yet. */
  focus: () => boolean;
}

const FOLDS_KEY = 'library.folds';
const SCORES_KEY = 'library.scores';
const OUTLINE_PX = 1_020;

/** One trajectory: header, outline, turns (or raw JSON). @param props.active the focus is in here, so plain `j`/`k` move by turns */
export function TrajectoryView({ id, active, onClose, ref }: { id: string; active: boolean; onClose: () => void; ref: Ref<ViewHandle> }): ReactNode {
  const { transcript, retry } = useTranscript(id);
  if (!transcript) return <Loading />;
  return (
    <Delegations whose={{ trajectoryId: transcript.id }}>
      <Opened transcript={transcript} active={active} onClose={onClose} onRetry={retry} ref={ref} />
    </Delegations>
  );
}

function Opened({ transcript, active, onClose, onRetry, ref }: { transcript: Transcript; active: boolean; onClose: () => void; onRetry: () => void; ref: Ref<ViewHandle> }): ReactNode {
  const { t } = useTranslation(['library', 'reviews']);
  const client = useClient();
  const toast = useToasts();
  const { id } = transcript;
  const { detail, turns, complete, loaded, error } = useStore(transcript.state);
  const [raw, setRaw] = useState(false);
  const [scoresOpen, setScoresOpen] = useState(() => readRemembered(SCORES_KEY) === 'open');
  const onScored = useCallback((change: { rating: number | null; reward: number | null }) => transcript.state.setState((s) => ({ detail: s.detail && { ...s.detail, ...change } })), [transcript]);
  const scores = useScores(detail, scoresOpen, onScored);
  const toggleScores = (): void => {
    setScoresOpen(!scoresOpen);
    remember(SCORES_KEY, scoresOpen ? '' : 'open');
  };
  const [current, setCurrent] = useState(0);
  // How often the find bar was asked for since it was closed.
  const [finding, setFinding] = useState(0);
  const [query, setQuery] = useState('');
  const turnsPlace = useRef<HTMLDivElement>(null);
  const list = useRef<TurnListHandle>(null);
  const wide = useWide(OUTLINE_PX);
  const folds = useState(() => {
    const kept = readRemembered(FOLDS_KEY);
    return createFolds(kept === 'open' ? true : kept === 'closed' ? false : null);
  })[0];
  const context = useMemo(() => ({ folds, loadContent: contentLoader(client, id), live: transcript.live }), [folds, client, id, transcript]);
  const entries = useMemo(() => outlineOf(turns), [turns]);

  const copy = useCallback((text: string) => {
    navigator.clipboard.writeText(text).then(() => toast({ title: t('view.copied'), kind: 'good', timeout: 2_000 }), () => toast({ title: t('action.copyFailed', { ns: 'app' }), kind: 'bad' }));
  }, [toast, t]);
  const copyTurn = useCallback((turn: Turn) => copy(turnAsText(turn)), [copy]);
  const copyLink = (): void => copy(`${window.location.origin === 'null' ? '' : window.location.origin + window.location.pathname}#/library/${encodeURIComponent(id)}`);
  const foldAll = (): void => {
    const all = folds.getState().all === true ? null : true;
    folds.setState({ all, parts: new Map() });
    remember(FOLDS_KEY, all === true ? 'open' : '');
  };
  const go = useCallback((turn: number) => list.current?.go(turn), []);
  // A link to one message ("?at=12") leads to its turn, once.
  const at = new URLSearchParams(useHashSearch()).get('at');
  const came = useRef<string | null>(null);
  useEffect(() => {
    if (at === null || came.current === at) return;
    const index = turns.findLastIndex((one) => one.key <= Number(at));
    if (index < 0 || (!complete && turns.length - 1 === index)) return;
    came.current = at;
    go(index);
  }, [at, turns, complete, go]);
  const learn = useLearn();
  const learnThis = (): void => learn({ trajectoryIds: [id] });
  const step = (by: number): void => go(Math.min(Math.max(0, current + by), turns.length - 1));
  const turn = turns[current];
  const reading = !raw && turns.length > 0;
  useMarks(turnsPlace, finding > 0 && reading ? query : '');
  const goToFound = useCallback((found: number) => {
    list.current?.go(found);
    // Once it is drawn: the place itself, when the turn is longer than the screen.
    requestAnimationFrame(() => requestAnimationFrame(() => list.current?.reveal(found, query)));
  }, [query]);

  useImperativeHandle(ref, () => ({
    focus: () => {
      list.current?.focus();
      return list.current !== null;
    },
  }), []);
  useEffect(() => {
    if (reading && document.activeElement?.getAttribute('data-zone') === 'view') list.current?.focus();
  }, [reading]);

  useCommands(t('keys.view'), [
    { id: 'next-turn', label: t('keys.nextTurn'), keys: ']', also: active ? ['j'] : [], keysOnly: true, repeats: true, disabled: !reading, run: () => step(1) },
    { id: 'previous-turn', label: t('keys.previousTurn'), keys: '[', also: active ? ['k'] : [], keysOnly: true, repeats: true, disabled: !reading, run: () => step(-1) },
    { id: 'fold', label: t('keys.fold'), keys: 'o', keysOnly: true, disabled: !reading, run: () => turn && toggleTurn(folds, turn) },
    { id: 'fold-all', label: t('keys.foldAll'), keys: 'shift+o', disabled: !reading, run: foldAll },
    { id: 'find', label: t('find.label'), keys: 'mod+f', whileTyping: true, disabled: !reading, run: () => setFinding((n) => n + 1) },
    { id: 'copy-turn', label: t('keys.copyTurn'), keys: 'c', disabled: !reading, run: () => turn && copyTurn(turn) },
    { id: 'learn', label: t('reviews:learn.one'), disabled: detail?.state !== 'ended', run: learnThis },
    { id: 'copy-id', label: t('keys.copyId'), run: () => copy(id) },
    { id: 'copy-link', label: t('keys.copyLink'), run: copyLink },
  ]);
  useCommands(t('keys.view'), [
    { id: 'first-turn', label: t('keys.firstTurn'), keys: 'g g', keysOnly: true, run: () => go(0) },
    { id: 'last-turn', label: t('keys.lastTurn'), keys: 'shift+g', keysOnly: true, run: () => list.current?.goEnd() },
  ], active && reading);

  if (error !== null && (!detail || turns.length === 0)) {
    const gone = error instanceof ORPCError && error.code === 'NOT_FOUND';
    return gone ? (
      <EmptyState icon={FileQuestion} title={t('view.notFoundTitle')} action={<Button onClick={onClose}>{t('view.toList')}</Button>}>{t('view.notFoundText')}</EmptyState>
    ) : (
      <ErrorState error={error} onRetry={onRetry} />
    );
  }
  return (
    <ViewProvider value={context}>
      <section aria-label={t('view.label')} className="flex h-full min-h-0 flex-col" aria-busy={!complete}>
        <ViewHeader detail={detail} raw={raw} onRaw={() => setRaw(!raw)} scoresOpen={scoresOpen} onScores={toggleScores} onRate={scores.rate} onLearn={learnThis} onFoldAll={foldAll} onCopyId={() => copy(id)} onCopyLink={copyLink} onClose={onClose} />
        {scoresOpen && detail && <ScoresPanel scores={scores} fromRun={detail.runId !== null} />}
        {raw ? (
          <div className="min-h-0 flex-1">
            <RawView id={id} version={detail?.state === 'running' ? 0 : loaded} />
          </div>
        ) : detail && turns.length > 0 ? (
          <div className="flex min-h-0 flex-1">
            {wide && (
              <div className="w-[108px] shrink-0">
                <Outline entries={entries} current={current} onGo={go} />
              </div>
            )}
            <div ref={turnsPlace} className="relative flex min-h-0 min-w-0 flex-1">
              {finding > 0 && (
                <FindBar
                  turns={turns}
                  asked={finding}
                  complete={complete}
                  query={query}
                  onQuery={setQuery}
                  current={current}
                  folds={folds}
                  onGo={goToFound}
                  onClose={() => {
                    setFinding(0);
                    list.current?.focus();
                  }}
                />
              )}
              <TurnList ref={list} transcript={transcript} turns={turns} detail={detail} complete={complete} current={current} onCurrent={setCurrent} onCopy={copyTurn} />
            </div>
          </div>
        ) : (
          <TurnSkeletons />
        )}
      </section>
    </ViewProvider>
  );
}

function Loading(): ReactNode {
  return (
    <div className="h-full" aria-busy="true">
      <div className="grid gap-2 border-b border-line px-4 py-3">
        <Skeleton className="h-5 w-3/4" />
        <Skeleton className="h-[18px] w-2/3" />
      </div>
      <TurnSkeletons />
    </div>
  );
}

function TurnSkeletons(): ReactNode {
  return (
    <div className="grid gap-4 p-4" aria-hidden="true">
      {[0, 1, 2].map((i) => (
        <div key={i} className="grid gap-2">
          <Skeleton className="h-3 w-24" />
          <Skeleton className="h-3 w-full" />
          <Skeleton className="h-16 w-full" />
        </div>
      ))}
    </div>
  );
}
