import { ArrowLeft, BookOpenText, Download, FlaskConical, Import, Plus, SearchX, Trash2 } from 'lucide-react';
import { useCallback, useEffect, useRef, useState, type FocusEvent, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useStore } from 'zustand';
import type { SkillDetail, SkillSummary } from '#shared/contract/skills.ts';
import { useCommands } from '../../lib/commands.tsx';
import { navigate, useHashSearch, usePath } from '../../lib/hash-location.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Button, IconButton } from '../../ui/Button.tsx';
import { Banner, EmptyState, ErrorState } from '../../ui/Feedback.tsx';
import { SearchInput } from '../../ui/Input.tsx';
import { Panes, type Pane } from '../../ui/Panes.tsx';
import { Screen } from '../../ui/Screen.tsx';
import { useWide } from '../library/use-wide.ts';
import { skillIdOf, skillPath } from './address.ts';
import { MoveSkill } from './dialogs/MoveSkill.tsx';
import { categoriesOf } from './dialogs/names.ts';
import { NewSkill } from './dialogs/NewSkill.tsx';
import { Trash } from './dialogs/Trash.tsx';
import { drafts, keepOnLeave } from './drafts.ts';
import { SkillHeader } from './SkillHeader.tsx';
import { SkillView, type SkillViewHandle } from './SkillView.tsx';
import { SkillTree, type TreeHandle } from './tree/SkillTree.tsx';
import { useTree } from './tree/use-tree.ts';
import { useSkillActions } from './use-skill-actions.ts';
import { ImportSkills } from './import/ImportSkills.tsx';
import { TrySkill } from './trial/TrySkill.tsx';
import { useSkills, useTextHits } from './use-skills.ts';

/** Below these widths text and side share one pane, then tree and skill. */
const THREE_PANES_PX = 980;
const TWO_PANES_PX = 640;

type Open = { dialog: 'new' | 'trash' | 'import' } | { dialog: 'move' | 'try'; skill: SkillSummary } | null;

/** What agents know how to do, as files that people read and mend. */
export function SkillsScreen(): ReactNode {
  const { t } = useTranslation('skills');
  const format = useFormat();
  const [path] = usePath();
  const id = skillIdOf(path);
  const { data, error, reload, generation } = useSkills();
  const items = data?.items;
  const [query, setQuery] = useState('');
  const [zone, setZone] = useState<'list' | 'view'>('list');
  const [open, setOpen] = useState<Open>(null);
  const treeRef = useRef<TreeHandle>(null);
  const viewRef = useRef<SkillViewHandle>(null);
  const threePanes = useWide(THREE_PANES_PX);
  const twoPanes = useWide(TWO_PANES_PX);
  const unsaved = useStore(drafts, (s) => s.unsaved);
  useEffect(() => keepOnLeave(window), []);

  const openSkill = useCallback((next: string) => navigate(skillPath(next), { replace: true }), []);
  // A link that knows only the name: the skill that goes first.
  const named = new URLSearchParams(useHashSearch()).get('name');
  const byName = named === null || !items ? undefined : (items.find((one) => one.name === named && one.shadowedBy === null) ?? items.find((one) => one.name === named));
  useEffect(() => {
    if (byName) openSkill(byName.id);
  }, [byName, openSkill]);
  const tree = useTree(items, query, useTextHits(query, generation), id, openSkill, treeRef);
  const actions = useSkillActions(reload);
  const skill = items?.find((one) => one.id === id);
  const went = (detail: SkillDetail): void => {
    setOpen(null);
    reload();
    navigate(skillPath(detail.summary.id), { replace: true });
  };
  const close = (): void => {
    navigate('/skills');
    requestAnimationFrame(() => treeRef.current?.focus());
  };
  const leave = useCallback((): void => treeRef.current?.focus(), []);
  const loaded = tree.rows !== null;
  useEffect(() => {
    if (id !== null && loaded) treeRef.current?.reveal(id);
  }, [id, loaded]);

  const inList = zone === 'list';
  useCommands(t('keys.list'), inList ? [
    { id: 'next', label: t('keys.next'), keys: 'j', also: ['ArrowDown'], keysOnly: true, repeats: true, run: () => tree.step(1) },
    { id: 'previous', label: t('keys.previous'), keys: 'k', also: ['ArrowUp'], keysOnly: true, repeats: true, run: () => tree.step(-1) },
    { id: 'page-down', label: t('keys.pageDown'), keys: 'PageDown', keysOnly: true, repeats: true, run: () => tree.page(1) },
    { id: 'page-up', label: t('keys.pageUp'), keys: 'PageUp', keysOnly: true, repeats: true, run: () => tree.page(-1) },
    { id: 'first', label: t('keys.first'), keys: 'g g', also: ['Home'], keysOnly: true, run: () => tree.end('first') },
    { id: 'last', label: t('keys.last'), keys: 'shift+g', also: ['End'], keysOnly: true, run: () => tree.end('last') },
    { id: 'fold', label: t('keys.fold'), keys: 'h', also: ['ArrowLeft'], keysOnly: true, run: tree.left },
    { id: 'open', label: t('keys.open'), keys: 'Enter', also: ['ArrowRight', 'l'], keysOnly: true, run: () => tree.right() && (id === null ? tree.step(1) : viewRef.current?.focus()) },
  ] : [], inList);
  useCommands(t('keys.view'), [
    { id: 'back', label: t('keys.back'), keys: 'Escape', keysOnly: true, run: () => (twoPanes ? leave() : close()) },
  ], !inList && id !== null);
  useCommands(t('keys.skill'), skill ? [
    { id: 'toggle', label: t(skill.enabled ? 'menu.disable' : 'menu.enable'), run: () => actions.mark(skill, { enabled: !skill.enabled }) },
    { id: 'pin', label: t(skill.pinned ? 'unpin' : 'pin'), run: () => actions.mark(skill, { pinned: !skill.pinned }) },
    { id: 'history', label: t('tab.history'), run: () => viewRef.current?.show('history') },
    { id: 'usage', label: t('tab.usage'), run: () => viewRef.current?.show('usage') },
    { id: 'try', label: t('menu.try'), run: () => setOpen({ dialog: 'try', skill }) },
    { id: 'move', label: t('menu.move'), disabled: skill.readOnly, run: () => setOpen({ dialog: 'move', skill }) },
    { id: 'export', label: t('menu.export'), run: () => actions.exportZip([skill.id]) },
    { id: 'remove', label: t('menu.remove'), disabled: skill.readOnly, run: () => actions.remove(skill) },
  ] : [], skill !== undefined);
  const onFocus = (event: FocusEvent): void => setZone((event.target as Element).closest('[data-zone]')?.getAttribute('data-zone') === 'view' ? 'view' : 'list');

  const nothing = items?.length === 0;
  const problems = data?.roots.filter((root) => root.problem !== null && root.root !== 'own') ?? [];
  const listPane = (
    <div data-zone="list" className="flex h-full min-h-0 flex-col">
      {problems.length > 0 && (
        <div className="shrink-0 p-2">
          {problems.map((root) => <Banner key={root.folder} tone="warn" title={root.folder}>{root.problem}</Banner>)}
        </div>
      )}
      <div className="min-h-0 flex-1">
        {error !== null && !data ? <ErrorState error={error} onRetry={reload} /> : items && tree.found.length === 0 ? (
          <EmptyState icon={SearchX} title={t('empty.noMatch')} action={<Button onClick={() => setQuery('')}>{t('empty.clear')}</Button>}>{t('empty.noMatchText', { total: format.exact(items.length) })}</EmptyState>
        ) : <SkillTree ref={treeRef} rows={tree.rows} openId={id} cursor={tree.cursor} unsaved={unsaved} onPress={tree.press} />}
      </div>
      {data && data.trash > 0 && (
        <button type="button" onClick={() => setOpen({ dialog: 'trash' })} className="focus-inset flex h-[30px] shrink-0 items-center gap-2 border-t border-line px-3 text-left text-sm text-fg-2 hover:bg-hover">
          <Trash2 className="size-3.5 text-fg-3" aria-hidden="true" />
          <span className="flex-1">{t('trash.title')}</span>
          <span className="num text-xs text-fg-3">{format.exact(data.trash)}</span>
        </button>
      )}
    </div>
  );
  const view = (
    <div data-zone="view" className="h-full">
      {id === null ? <EmptyState icon={BookOpenText} title={t('empty.pick')}>{t('empty.pickText', { keys: 'j / k' })}</EmptyState> : (
        <SkillView
          key={id}
          ref={viewRef}
          id={id}
          generation={generation}
          wide={threePanes}
          onMove={(moved) => setOpen({ dialog: 'move', skill: moved })}
          onLeave={leave}
          head={(shown) => (
            <SkillHeader
              skill={skill ?? shown}
              more={[{ id: 'try', label: t('menu.try'), icon: FlaskConical, run: () => setOpen({ dialog: 'try', skill: skill ?? shown }) }]}
              actions={{
                enable: (enabled) => actions.mark(shown, { enabled }),
                pin: (pinned) => actions.mark(shown, { pinned }),
                move: () => setOpen({ dialog: 'move', skill: shown }),
                remove: () => actions.remove(shown),
                exportZip: () => actions.exportZip([shown.id]),
              }}
            />
          )}
        />
      )}
    </div>
  );
  const panes: Pane[] = [
    ...(twoPanes || id === null ? [{ id: 'tree', defaultSize: '260px', minSize: '180px', maxSize: '420px', fixed: true, children: listPane }] : []),
    ...(twoPanes || id !== null ? [{ id: 'view', minSize: '300px', children: view }] : []),
  ];
  return (
    <Screen
      title={t('title')}
      bar={
        <>
          <span className="flex min-w-max flex-[1_0_0] items-center gap-2.5">
            {!twoPanes && id !== null && <IconButton icon={ArrowLeft} label={t('keys.back')} onClick={close} />}
            <span className="num shrink-0 text-fg-3 max-sm:sr-only" aria-live="polite">{items ? (query.trim() === '' ? format.exact(items.length) : t('shown', { shown: format.exact(tree.found.length), total: format.exact(items.length) })) : ''}</span>
          </span>
          <SearchInput value={query} onChange={setQuery} label={t('search.label')} placeholder={t('search.placeholder')} hotkey="/" onEnter={() => treeRef.current?.focus()} className="w-[min(380px,100%)] min-w-0" />
          <span className="flex min-w-max flex-[1_0_0] justify-end gap-2">
            {items && items.length > 0 && <IconButton icon={Download} label={t(query.trim() === '' ? 'exportAll' : 'exportFound', { count: tree.found.length })} disabled={tree.found.length === 0} onClick={() => actions.exportZip(tree.found.map((one) => one.id))} />}
            {!nothing && <Button icon={Import} hotkey="i" hotkeyLabel={t('importLong')} onClick={() => setOpen({ dialog: 'import' })}>{t('import')}</Button>}
            <Button icon={Plus} hotkey="n" hotkeyLabel={t('create.title')} onClick={() => setOpen({ dialog: 'new' })}>{t('new')}</Button>
          </span>
        </>
      }
    >
      <div className="h-full" onFocus={onFocus}>
        {nothing && id === null ? (
          <EmptyState
            icon={BookOpenText}
            title={t('empty.title')}
            action={
              <>
                <Button variant="primary" icon={Plus} onClick={() => setOpen({ dialog: 'new' })}>{t('new')}</Button>
                <Button icon={Import} onClick={() => setOpen({ dialog: 'import' })}>{t('import')}</Button>
                {data && data.trash > 0 && <Button icon={Trash2} onClick={() => setOpen({ dialog: 'trash' })}>{t('trash.title')}</Button>}
              </>
            }
          >
            {t('empty.text')}
          </EmptyState>
        ) : <Panes key={panes.map((p) => p.id).join()} id="skills" panes={panes} />}
      </div>
      {open?.dialog === 'new' && <NewSkill categories={categoriesOf(items ?? [])} onClose={() => setOpen(null)} onMade={went} />}
      {open?.dialog === 'trash' && <Trash onClose={() => setOpen(null)} onRestored={went} />}
      {open?.dialog === 'import' && <ImportSkills onClose={() => setOpen(null)} />}
      {open?.dialog === 'try' && <TrySkill skill={open.skill} onClose={() => setOpen(null)} />}
      {open?.dialog === 'move' && <MoveSkill skill={open.skill} categories={categoriesOf(items ?? [])} onClose={() => setOpen(null)} onMoved={went} />}
    </Screen>
  );
}
