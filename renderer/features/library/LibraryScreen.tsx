import { ArrowLeft, Download, Library, Lightbulb, Minimize2, SearchX, SlidersHorizontal } from 'lucide-react';
import { useCallback, useEffect, useRef, useState, type FocusEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { TRAJECTORY_SORTS, type TrajectorySort } from '#shared/contract/trajectories.ts';
import { useCommands, type Command } from '../../lib/commands.tsx';
import { navigate, useHashSearch } from '../../lib/hash-location.ts';
import { useFormat } from '../../lib/i18n.ts';
import { readRemembered, remember } from '../../lib/remembered.ts';
import { Button, IconButton, LinkButton } from '../../ui/Button.tsx';
import { EmptyState, ErrorState } from '../../ui/Feedback.tsx';
import { SearchInput } from '../../ui/Input.tsx';
import { Panes, type Pane } from '../../ui/Panes.tsx';
import { Screen } from '../../ui/Screen.tsx';
import { LEARN_MAX, useLearn } from '../reviews/use-learn.ts';
import { CompressSelection } from './compress/CompressSelection.tsx';
import { ExportDialog, type ExportScope } from './export/ExportDialog.tsx';
import { Facets } from './facets/Facets.tsx';
import { selectedCount } from './list/selection.ts';
import { TrajectoryList, type ListHandle } from './list/TrajectoryList.tsx';
import { useCursor } from './list/use-cursor.ts';
import { useLibraryList } from './list/use-library-list.ts';
import { clearable, filterFromSearch, isFiltered, libraryPath, searchFromFilter, type LibraryFilter } from './url.ts';
import { useWide } from './use-wide.ts';
import { TrajectoryView, type ViewHandle } from './view/TrajectoryView.tsx';

const TYPING_PAUSE_MS = 60;
/** Below these widths the filters, then list and view side by side, no longer fit. */
const THREE_PANES_PX = 900;
const TWO_PANES_PX = 640;

/** @param props.id the trajectory that is open beside the list, from `/library/:id` */
export function LibraryScreen({ id }: { id: string | null }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const search = useHashSearch();
  const filter = filterFromSearch(search);
  const [sort, setSort] = useState<TrajectorySort>(() => TRAJECTORY_SORTS.find((s) => s === readRemembered('library.sort')) ?? 'newest');
  const data = useLibraryList(filter, sort);
  const { list, counts } = data;
  const [zone, setZone] = useState<'list' | 'view'>('list');
  const [exporting, setExporting] = useState<ExportScope | null>(null);
  const [compressing, setCompressing] = useState<ExportScope | null>(null);
  const [facetsOpen, setFacetsOpen] = useState(false);
  const listRef = useRef<ListHandle>(null);
  const viewRef = useRef<ViewHandle>(null);
  const viewPlace = useRef<HTMLDivElement>(null);
  const threePanes = useWide(THREE_PANES_PX);
  const twoPanes = useWide(TWO_PANES_PX);

  const setFilter = useCallback((next: LibraryFilter) => navigate(libraryPath(id, next), { replace: true }), [id]);
  const [typed, setTyped] = useSearchText(filter, setFilter);
  const key = searchFromFilter(filter);
  const openTrajectory = useCallback((next: string) => navigate(libraryPath(next, filterFromSearch(key)), { replace: true }), [key]);
  const cursor = useCursor(list, id, openTrajectory, listRef);
  const close = (): void => {
    navigate(libraryPath(null, filter));
    requestAnimationFrame(() => listRef.current?.focus());
  };

  const total = list?.total ?? 0;
  // An export means what matches when it runs, also what came after the list was made.
  const matching = total + data.fresh;
  const chosen = selectedCount(cursor.selection, matching);
  const scope: ExportScope | null = list && { filter: list.filter, selection: cursor.selection, count: chosen > 0 ? chosen : matching, runName: counts?.runs.find((r) => r.id === list.filter.runId)?.name ?? null };
  const startExport = (): void => setExporting(scope);
  // "Export" elsewhere (on a run) leads here with `export=1`: once its list is there, and not again on a reload.
  const exportAsked = new URLSearchParams(search).get('export') === '1' && list !== null && !data.stale;
  useEffect(() => {
    if (!exportAsked) return;
    if (total > 0) startExport();
    setFilter(filter);
  });

  const enterView = (): void => {
    if (id === null) cursor.move(1);
    // Not loaded yet: its place takes the focus, and hands it on.
    else if (!viewRef.current?.focus()) viewPlace.current?.focus();
  };

  const inList = zone === 'list' || (!twoPanes && id === null);
  useCommands(t('keys.list'), inList ? listCommands(t, cursor, enterView, chosen > 0) : [], inList);
  // Within the list they are among the keys of these two.
  useCommands(t('keys.list'), inList ? [] : [
    { id: 'next-any', label: t('keys.next'), keys: 'shift+j', keysOnly: true, repeats: true, run: () => cursor.move(1) },
    { id: 'previous-any', label: t('keys.previous'), keys: 'shift+k', keysOnly: true, repeats: true, run: () => cursor.move(-1) },
  ], !inList);
  useCommands(t('keys.view'), [
    { id: 'back', label: t('keys.back'), keys: 'Escape', also: ['ArrowLeft', 'h'], keysOnly: true, run: () => (twoPanes ? listRef.current?.focus() : close()) },
  ], zone === 'view' && id !== null);

  const onFocus = (event: FocusEvent): void => setZone((event.target as Element).closest('[data-zone]')?.getAttribute('data-zone') === 'view' ? 'view' : 'list');

  const clears = clearable(filter);
  const nothingAtAll = counts?.total === 0;
  const facets = <Facets counts={counts} filter={filter} onChange={setFilter} />;
  const listPane = (
    <div data-zone="list" className="h-full">
      {data.error !== null && !list ? (
        <ErrorState error={data.error} onRetry={data.reload} />
      ) : list !== null && total === 0 && !data.stale ? (
        <EmptyState icon={SearchX} title={t('empty.noMatchTitle')} action={clears && <Button onClick={() => setFilter({})}>{t(`facet.clear.${clears}`)}</Button>}>
          {t('empty.noMatchText', { total: format.exact(counts?.total ?? 0) })}
        </EmptyState>
      ) : (
        <TrajectoryList
          ref={listRef}
          list={list}
          openId={id}
          selection={cursor.selection}
          fresh={data.fresh}
          matching={matching}
          stale={data.stale}
          scored={(counts?.rewards ?? null) !== null}
          sort={sort}
          onSort={(next) => {
            setSort(next);
            remember('library.sort', next);
          }}
          onOpen={cursor.open}
          onToggle={cursor.toggleAt}
          onRange={cursor.rangeTo}
          onSelectAll={cursor.selectAll}
          onClearSelection={cursor.clear}
          onReload={data.reload}
        />
      )}
    </div>
  );
  const view = (
    <div ref={viewPlace} data-zone="view" tabIndex={-1} className="h-full outline-none">
      {id === null ? (
        <EmptyState icon={Library} title={t('empty.pickTitle')}>{t('empty.pickText', { keys: 'j / k' })}</EmptyState>
      ) : (
        <TrajectoryView key={id} id={id} ref={viewRef} active={zone === 'view'} onClose={close} />
      )}
    </div>
  );
  const panes: Pane[] = [
    ...(threePanes ? [{ id: 'facets', defaultSize: '218px', minSize: '150px', maxSize: '340px', fixed: true, children: facets }] : []),
    ...(twoPanes || id === null ? [{ id: 'list', defaultSize: '37%', minSize: '260px', children: listPane }] : []),
    ...(twoPanes || id !== null ? [{ id: 'view', minSize: '280px', children: view }] : []),
  ];

  return (
    <Screen
      title={t('title')}
      bar={
        <>
          <span className="flex min-w-max flex-[1_0_0] items-center gap-2.5">
            <span className="num shrink-0 text-fg-3 max-sm:sr-only" aria-live="polite">{list && counts ? t('shown', { shown: format.exact(counts.matching), total: format.exact(counts.total) }) : ''}</span>
            {!twoPanes && id !== null && <IconButton icon={ArrowLeft} label={t('keys.back')} onClick={close} />}
            {!threePanes && <IconButton icon={SlidersHorizontal} label={t('facet.label')} pressed={facetsOpen} onClick={() => setFacetsOpen(!facetsOpen)} />}
          </span>
          <SearchInput value={typed} onChange={setTyped} label={t('search.label')} placeholder={t('search.placeholder')} hotkey="/" onEnter={() => listRef.current?.focus()} className="w-[min(420px,100%)] min-w-0" />
          <span className="flex min-w-max flex-[1_0_0] justify-end gap-2">
            {chosen > 0 && cursor.selection.mode === 'some' && <LearnButton ids={cursor.selection.ids} />}
            {chosen > 0 && <Button icon={Minimize2} onClick={() => setCompressing(scope)}>{t('compress.button')}</Button>}
            <Button variant="primary" icon={Download} hotkey="e" hotkeyLabel={t('keys.export')} disabled={!list || total === 0} onClick={startExport}>
              {t('export.button', { shown: list ? format.exact(chosen > 0 ? chosen : matching) : '' })}
            </Button>
          </span>
        </>
      }
    >
      <div className="relative h-full" onFocus={onFocus}>
        {nothingAtAll && !isFiltered(filter) ? (
          <EmptyState
            icon={Library}
            title={t('empty.title')}
            action={
              <span className="flex gap-2">
                <LinkButton to="/batch/new?demo=1" variant="primary">{t('empty.demo')}</LinkButton>
                <LinkButton to="/chat">{t('empty.chat')}</LinkButton>
              </span>
            }
          >
            {t('empty.text')}
          </EmptyState>
        ) : (
          <Panes key={panes.map((p) => p.id).join()} id="library" panes={panes} />
        )}
        {!threePanes && facetsOpen && <div onKeyDown={(e) => e.key === 'Escape' && setFacetsOpen(false)} className="absolute inset-y-0 left-0 z-20 w-60 border-r border-line bg-bg shadow-pop">{facets}</div>}
      </div>
      {compressing && <CompressSelection scope={compressing} onClose={() => setCompressing(null)} />}
      {exporting && <ExportDialog scope={exporting} onClose={() => setExporting(null)} />}
    </Screen>
  );
}

/** Lets a review read what is selected. */
function LearnButton({ ids }: { ids: ReadonlySet<string> }): ReactNode {
  const { t } = useTranslation('reviews');
  const learn = useLearn();
  const tooMany = ids.size > LEARN_MAX;
  return (
    <Button icon={Lightbulb} disabled={tooMany} title={tooMany ? t('learn.tooMany', { max: LEARN_MAX }) : undefined} onClick={() => learn({ trajectoryIds: [...ids] })}>
      {t('learn.some', { count: ids.size })}
    </Button>
  );
}

/** The text of the search box: what is typed at once, the URL after a pause; a URL that changes otherwise shows in the box. */
function useSearchText(filter: LibraryFilter, setFilter: (filter: LibraryFilter) => void): [string, (text: string) => void] {
  const inUrl = filter.query ?? '';
  const [typed, setTyped] = useState({ text: inUrl, from: inUrl });
  const text = typed.from === inUrl ? typed.text : inUrl;
  useEffect(() => {
    if (text.trim() === inUrl) return;
    const timer = setTimeout(() => {
      const { query: _old, ...rest } = filter;
      const query = text.trim().slice(0, 500);
      setTyped({ text, from: query });
      setFilter(query === '' ? rest : { ...rest, query });
    }, TYPING_PAUSE_MS);
    return () => clearTimeout(timer);
  });
  return [text, (next) => setTyped({ text: next, from: inUrl })];
}

function listCommands(t: (key: 'keys.next' | 'keys.previous' | 'keys.first' | 'keys.last' | 'keys.open' | 'keys.toggle' | 'keys.rangeDown' | 'keys.rangeUp' | 'keys.selectAll' | 'keys.clearSelection' | 'keys.pageDown' | 'keys.pageUp') => string, cursor: ReturnType<typeof useCursor>, enter: () => void, someChosen: boolean): Command[] {
  return [
    { id: 'next', label: t('keys.next'), keys: 'j', also: ['ArrowDown', 'shift+j'], keysOnly: true, repeats: true, run: () => cursor.move(1) },
    { id: 'previous', label: t('keys.previous'), keys: 'k', also: ['ArrowUp', 'shift+k'], keysOnly: true, repeats: true, run: () => cursor.move(-1) },
    { id: 'page-down', label: t('keys.pageDown'), keys: 'PageDown', keysOnly: true, repeats: true, run: () => cursor.movePage(1) },
    { id: 'page-up', label: t('keys.pageUp'), keys: 'PageUp', keysOnly: true, repeats: true, run: () => cursor.movePage(-1) },
    { id: 'first', label: t('keys.first'), keys: 'g g', also: ['Home'], keysOnly: true, run: () => cursor.moveTo('first') },
    { id: 'last', label: t('keys.last'), keys: 'shift+g', also: ['End'], keysOnly: true, run: () => cursor.moveTo('last') },
    { id: 'open', label: t('keys.open'), keys: 'Enter', also: ['ArrowRight', 'l'], keysOnly: true, run: enter },
    { id: 'toggle', label: t('keys.toggle'), keys: 'x', also: ['Space'], keysOnly: true, run: cursor.toggleHere },
    { id: 'range-down', label: t('keys.rangeDown'), keys: 'shift+ArrowDown', keysOnly: true, repeats: true, run: () => cursor.rangeBy(1) },
    { id: 'range-up', label: t('keys.rangeUp'), keys: 'shift+ArrowUp', keysOnly: true, repeats: true, run: () => cursor.rangeBy(-1) },
    { id: 'select-all', label: t('keys.selectAll'), keys: 'mod+a', run: cursor.selectAll },
    { id: 'clear', label: t('keys.clearSelection'), keys: 'Escape', disabled: !someChosen, run: cursor.clear },
  ];
}
