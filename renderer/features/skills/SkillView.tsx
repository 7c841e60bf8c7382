import { startTransition, useCallback, useEffect, useImperativeHandle, useMemo, useRef, useState, type ReactNode, type Ref } from 'react';
import { useTranslation } from 'react-i18next';
import type { Finding, Lint, SkillDetail, SkillSummary } from '#shared/contract/skills.ts';
import { useClient, useLoad } from '../../lib/engine-context.tsx';
import { readRemembered, remember } from '../../lib/remembered.ts';
import { ErrorState } from '../../ui/Feedback.tsx';
import { Panes } from '../../ui/Panes.tsx';
import { Tabs, type TabItem } from '../../ui/Tabs.tsx';
import type { EditorHandle } from './editor/CodeEditor.tsx';
import { FileEditor, TextSkeleton } from './editor/FileEditor.tsx';
import { hashOf, withPlainEnds } from './editor/lines.ts';
import { NoteList } from './editor/NoteList.tsx';
import { MAIN_FILE, notesOf, type Note } from './notes.ts';
import { setField } from './properties/frontmatter.ts';
import { Properties } from './properties/Properties.tsx';
import { Files } from './side/Files.tsx';
import { History } from './side/History.tsx';
import { Preview } from './side/Preview.tsx';
import { Usage } from './side/Usage.tsx';
import { useAgain, useSkill } from './use-skills.ts';

const TABS = ['text', 'preview', 'properties', 'files', 'history', 'usage'] as const;
type Tab = (typeof TABS)[number];
const TAB_KEY = 'skills.tab';
const LINT_AFTER_MS = 400;

export interface SkillViewHandle {
  /** Into the text. */
  focus: () => void;
  show: (tab: Tab) => void;
}

/** One skill: its text at the left, everything else about it at the right, or all of it in one strip of tabs where there is no room. */
export function SkillView({ id, generation, wide, head, onMove, onLeave, ref }: {
  id: string; generation: number; wide: boolean; head: (skill: SkillSummary) => ReactNode; onMove: (skill: SkillSummary) => void; onLeave: () => void; ref: Ref<SkillViewHandle>;
}): ReactNode {
  const { t, i18n } = useTranslation('skills');
  const loaded = useSkill(id, generation);
  const { data: detail, set, reload } = loaded;
  const [path, setPath] = useState(MAIN_FILE);
  const [tab, setTab] = useState<Tab>(() => TABS.find((name) => name === readRemembered(TAB_KEY)) ?? 'preview');
  const [text, setText] = useState<string | null>(null);
  const editor = useRef<EditorHandle>(null);
  const goAfter = useRef<number | null>(null);
  const checked = useChecked(id, path === MAIN_FILE ? text : null, detail);
  const notes = useMemo(() => notesOf(checked.lint, checked.findings, t, i18n.language), [checked, t, i18n.language]);
  const here = useMemo(() => notes.filter((note) => note.file === path), [notes, path]);

  const choose = (next: Tab): void => {
    setTab(next);
    remember(TAB_KEY, next === 'text' ? 'preview' : next);
  };
  const openFile = (next: string): void => {
    setPath(next);
    setText(null);
    if (!wide) setTab('text');
  };
  const goTo = (note: Note): void => {
    if (!wide) setTab('text');
    if (note.file === path) return editor.current?.goTo(note.line);
    if (detail?.files.some((file) => file.path === note.file && file.text)) {
      goAfter.current = note.line;
      openFile(note.file);
    }
  };
  const onText = useCallback((next: string): void => {
    // keys go first: what follows the text is rendered in pieces beside them
    startTransition(() => setText(next));
    const line = goAfter.current;
    goAfter.current = null;
    if (line !== null) requestAnimationFrame(() => editor.current?.goTo(line));
  }, []);
  useImperativeHandle(ref, () => ({
    focus: () => {
      if (!wide) setTab('text');
      requestAnimationFrame(() => editor.current?.focus());
    },
    show: choose,
  }));

  if (loaded.error !== null && !detail) return <ErrorState error={loaded.error} onRetry={reload} title={t('gone')} />;
  if (!detail) return <div className="h-full border-t-0"><div className="h-[46px] border-b border-line" /><TextSkeleton /></div>;
  const { summary } = detail;
  const shown = text ?? withPlainEnds(detail.text);

  const edit = (
    <div className="flex h-full min-h-0 flex-col">
      <div className="min-h-0 flex-1">
        <OpenFile
          key={path}
          detail={detail}
          path={path}
          generation={generation}
          notes={here}
          onText={onText}
          onSaved={set}
          onStale={reload}
          onBack={path === MAIN_FILE ? null : () => openFile(MAIN_FILE)}
          onLeave={onLeave}
          ref={editor}
        />
      </div>
      <NoteList notes={notes} onGo={goTo} />
    </div>
  );
  const support = detail.files.filter((file) => file.path !== MAIN_FILE).length;
  const side: TabItem<Tab>[] = [
    { value: 'preview', label: t('tab.preview'), content: /\.(md|markdown)$/i.test(path) ? <Preview key={path} text={shown} /> : <p className="p-4 text-fg-3">{t('preview.none')}</p> },
    { value: 'properties', label: t('tab.properties'), content: path === MAIN_FILE
      ? <Properties text={shown} skill={summary} onMove={() => onMove(summary)} onChange={(field, value) => {
          const changes = setField(editor.current?.text() ?? shown, field, value);
          if (changes) editor.current?.apply(changes);
        }} />
      : <p className="p-4 text-fg-3">{t('properties.main')}</p> },
    { value: 'files', label: <>{t('tab.files')}{support > 0 && <span className="num ml-1 text-fg-3">{support}</span>}</>, content: <Files detail={detail} open={path} onOpen={openFile} onDetail={set} /> },
    { value: 'history', label: t('tab.history'), content: <History id={id} generation={generation} readOnly={summary.readOnly} onDetail={set} /> },
    { value: 'usage', label: t('tab.usage'), content: <Usage id={id} generation={generation} /> },
  ];
  const strip = (items: readonly TabItem<Tab>[]): ReactNode => <div className="flex h-full min-h-0 flex-col"><Tabs label={t('tab.label')} value={items.some((item) => item.value === tab) ? tab : items[0]!.value} onChange={choose} items={items} /></div>;
  return (
    <div className="grid h-full min-h-0 grid-rows-[auto_minmax(0,1fr)]">
      {head(summary)}
      {wide ? <Panes id="skill" panes={[{ id: 'text', minSize: '280px', defaultSize: '56%', children: edit }, { id: 'side', minSize: '260px', children: strip(side) }]} /> : strip([{ value: 'text', label: t('tab.text'), content: edit }, ...side])}
    </div>
  );
}

/** The open file with what is on disk: SKILL.md comes with the skill, others are fetched. */
function OpenFile({ detail, path, generation, ...rest }: Omit<Parameters<typeof FileEditor>[0], 'id' | 'disk' | 'readOnly'> & { detail: SkillDetail; generation: number }): ReactNode {
  const { id, readOnly } = detail.summary;
  const main = path === MAIN_FILE;
  const { data, error, reload, loading } = useLoad(async (client, signal) => {
    if (main) return null;
    const { text } = await client.skills.file({ id, path }, { signal });
    return { text: text ?? '', hash: await hashOf(text ?? '') };
  }, [id, path]);
  useAgain({ reload, loading }, generation);
  const own = useMemo(() => ({ text: detail.text, hash: detail.hash }), [detail.text, detail.hash]);
  const disk = main ? own : data;
  if (error !== null && !disk) return <ErrorState error={error} onRetry={reload} />;
  if (!disk) return <TextSkeleton />;
  return <FileEditor {...rest} id={id} path={path} disk={disk} readOnly={readOnly} onStale={() => { rest.onStale(); reload(); }} />;
}

/** What is to be said about the text as it is typed; of what is saved the engine said it already. */
function useChecked(id: string, text: string | null, detail: SkillDetail | undefined): { lint: Lint[]; findings: Finding[] } {
  const client = useClient();
  const [typed, setTyped] = useState<{ text: string; lint: Lint[]; findings: Finding[] } | null>(null);
  const saved = useMemo(() => (detail ? withPlainEnds(detail.text) : null), [detail]);
  const wanted = text !== null && text !== saved && text.length <= 1_000_000 ? text : null;
  useEffect(() => {
    if (wanted === null) return setTyped(null);
    const abort = new AbortController();
    const timer = setTimeout(() => {
      client.skills.lint({ text: wanted, id }, { signal: abort.signal }).then(
        ({ lint, findings }) => !abort.signal.aborted && setTyped({ text: wanted, lint, findings }),
        () => undefined,
      );
    }, LINT_AFTER_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [client, id, wanted]);
  return useMemo(() => {
    const lint = typed?.lint ?? detail?.lint ?? [];
    const findings = detail?.findings ?? [];
    return { lint, findings: typed ? [...typed.findings, ...findings.filter((f) => f.file !== MAIN_FILE)] : findings };
  }, [typed, detail]);
}
