import { History as HistoryIcon, X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { MemoryEntry, MemoryStore, MemoryTarget } from '#shared/contract/memory.ts';
import { useCommands } from '../../lib/commands.tsx';
import { readRemembered, remember } from '../../lib/remembered.ts';
import { Button, IconButton } from '../../ui/Button.tsx';
import { Banner, ErrorState, Skeleton } from '../../ui/Feedback.tsx';
import { SearchInput } from '../../ui/Input.tsx';
import { Panes } from '../../ui/Panes.tsx';
import { Screen } from '../../ui/Screen.tsx';
import { Select } from '../../ui/Select.tsx';
import { EntryForm } from './EntryForm.tsx';
import { EntryRow } from './EntryRow.tsx';
import { History } from './History.tsx';
import { countChars, isOrder, type Order, ORDERS, shownEntries } from './order.ts';
import { StoreSection } from './StoreSection.tsx';
import { type MemoryActions, type MemoryData, useMemory, useMemoryActions } from './use-memory.ts';

const DELIMITER_CHARS = 3;

/** One line of the list. */
interface Row {
  key: string;
  target: MemoryTarget;
  entry: MemoryEntry;
}

type Editing = { target: MemoryTarget; entry: MemoryEntry | null } | null;

/** What the agent noted and what it knows of the person: both files, their entries, where each came from, and every change. */
export function MemoryScreen(): ReactNode {
  const { t } = useTranslation('memory');
  const memory = useMemory();
  const actions = useMemoryActions(memory.reload);
  if (memory.data) return <Memory data={memory.data} actions={actions} />;
  return (
    <Screen title={t('title')}>
      {memory.error ? (
        <ErrorState error={memory.error} onRetry={memory.reload} />
      ) : (
        <div className="grid gap-2 p-4">
          {Array.from({ length: 6 }, (_, i) => (
            <Skeleton key={i} className="h-14" />
          ))}
        </div>
      )}
    </Screen>
  );
}

function Memory({ data, actions }: { data: MemoryData; actions: MemoryActions }): ReactNode {
  const { t } = useTranslation(['memory', 'app']);
  const [query, setQuery] = useState('');
  const [order, setOrder] = useState<Order>(() => {
    const kept = readRemembered('memory.order');
    return isOrder(kept) ? kept : 'file';
  });
  const [history, setHistory] = useState(() => readRemembered('memory.history') !== 'closed');
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [current, setCurrent] = useState<string | null>(null);
  const [editing, setEditing] = useState<Editing>(null);

  const listed = data.stores.map((store) => {
    const shown = shownEntries(store.entries, query, order);
    // what is being edited stays, whatever is searched
    const edited = editing?.target === store.target && !shown.some((entry) => entry.id === editing.entry?.id) ? store.entries.filter((entry) => entry.id === editing.entry?.id) : [];
    return { store, shown: [...edited, ...shown] };
  });
  const rows: Row[] = listed.flatMap(({ store, shown }) => shown.map((entry) => ({ key: keyOf(store.target, entry), target: store.target, entry })));
  const all = new Map(data.stores.flatMap((store) => store.entries.map((entry) => [keyOf(store.target, entry), { target: store.target, entry }])));
  const chosen = [...picked].flatMap((key) => all.get(key) ?? []);
  const at = Math.max(0, rows.findIndex((row) => row.key === current));
  const here = rows[at];

  const move = (to: number): void => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, to))];
    if (!row) return;
    setCurrent(row.key);
    document.getElementById(row.key)?.scrollIntoView({ block: 'nearest' });
  };
  const pick = (key: string): void => {
    const next = new Set(picked);
    if (!next.delete(key)) next.add(key);
    setPicked(next);
  };
  const remove = (entries: readonly { target: MemoryTarget; entry: MemoryEntry }[]): void => {
    if (entries.length === 0) return;
    const after = rows.slice(at).find((row) => !entries.some((gone) => gone.entry.id === row.entry.id)) ?? rows.slice(0, at).findLast((row) => !entries.some((gone) => gone.entry.id === row.entry.id));
    void actions.remove(entries.map(({ target, entry }) => ({ target, text: entry.text }))).then((done) => {
      if (!done) return;
      setPicked(new Set());
      setCurrent(after?.key ?? null);
    });
  };
  const toggleHistory = (): void => {
    remember('memory.history', history ? 'closed' : 'open');
    setHistory(!history);
  };

  useCommands(
    t('title'),
    [
      { id: 'down', label: t('keys.next'), keys: 'j', also: ['ArrowDown'], repeats: true, keysOnly: true, run: () => move(current === null ? 0 : at + 1) },
      { id: 'up', label: t('keys.previous'), keys: 'k', also: ['ArrowUp'], repeats: true, keysOnly: true, run: () => move(at - 1) },
      { id: 'pick', label: t('keys.select'), keys: 'x', keysOnly: true, run: () => here && pick(here.key) },
      { id: 'edit', label: t('edit'), keys: 'e', also: ['Enter'], keysOnly: true, run: () => here && setEditing({ target: here.target, entry: here.entry }) },
      { id: 'remove', label: t('keys.remove'), keys: 'Delete', also: ['Backspace'], keysOnly: true, run: () => remove(chosen.length > 0 ? chosen : here ? [here] : []) },
      { id: 'all', label: t('keys.all'), keys: 'mod+a', keysOnly: true, run: () => setPicked(new Set(rows.map((row) => row.key))) },
    ],
    rows.length > 0,
  );
  useCommands(t('title'), [
    { id: 'add', label: t('addTo', { name: t(`stores.${here?.target ?? 'memory'}.title`) }), keys: 'n', run: () => setEditing({ target: here?.target ?? 'memory', entry: null }) },
    { id: 'history', label: history ? t('history.hide') : t('history.show'), keys: 'h', run: toggleHistory },
    { id: 'clear', label: t('clear'), keys: 'Escape', keysOnly: true, disabled: picked.size === 0, run: () => setPicked(new Set()) },
  ]);

  const list = (
    <div tabIndex={0} role="region" aria-label={t('entries')} className="focus-inset h-full overflow-y-auto">
      {!data.enabled && (
        <div className="p-4 pb-0">
          <Banner tone="info" title={t('off')}>
            {t('offHint')}
          </Banner>
        </div>
      )}
      {listed.map(({ store, shown }) => (
        <StoreSection
          key={store.target}
          store={store}
          shown={shown}
          filtered={query.trim() !== ''}
          onAdd={() => setEditing({ target: store.target, entry: null })}
          adding={
            editing?.target === store.target && !shown.some((entry) => entry.id === editing.entry?.id) ? (
              <NewEntry store={store} lost={editing.entry} actions={actions} onDone={() => setEditing(null)} />
            ) : null
          }
        >
          {shown.map((entry) => {
            const key = keyOf(store.target, entry);
            return editing?.entry?.id === entry.id && editing.target === store.target ? (
              <li key={key} id={key} className="border-b border-line bg-selected px-4 shadow-[inset_2px_0_var(--accent)]">
                <EntryForm
                  initial={entry.text}
                  free={store.limit - store.chars + countChars(entry.text)}
                  label={t('edit')}
                  onCancel={() => setEditing(null)}
                  onSave={async (text) => {
                    const why = await actions.save(store.target, [{ op: 'replace', old: entry.text, text }]);
                    if (why === null) setEditing(null);
                    return why;
                  }}
                />
              </li>
            ) : (
              <EntryRow
                key={key}
                entry={entry}
                domId={key}
                current={current === key}
                picked={picked.has(key)}
                onPick={() => pick(key)}
                onCurrent={() => setCurrent(key)}
                onEdit={() => setEditing({ target: store.target, entry })}
                onRemove={() => remove([{ target: store.target, entry }])}
              />
            );
          })}
        </StoreSection>
      ))}
    </div>
  );

  return (
    <Screen
      title={t('title')}
      bar={
        <>
          <div className="w-[240px] min-w-[120px]">
            <SearchInput value={query} onChange={setQuery} placeholder={t('search')} label={t('search')} hotkey="/" />
          </div>
          <span className="flex-1" />
          {chosen.length > 0 && (
            <>
              <span role="status" className="num truncate text-sm text-fg-2">
                {t('selected', { count: chosen.length })}
              </span>
              <Button variant="danger" onClick={() => remove(chosen)}>
                {t('removeCount', { count: chosen.length })}
              </Button>
              <IconButton icon={X} label={t('clear')} onClick={() => setPicked(new Set())} />
            </>
          )}
          <Select
            label={t('order.label')}
            value={order}
            onChange={(next) => {
              setOrder(next);
              remember('memory.order', next);
            }}
            options={ORDERS.map((value) => ({ value, label: t(`order.${value}`) }))}
          />
          <IconButton icon={HistoryIcon} label={history ? t('history.hide') : t('history.show')} pressed={history} onClick={toggleHistory} />
        </>
      }
    >
      {history ? (
        <Panes
          id="memory"
          panes={[
            { id: 'entries', minSize: '420px', children: list },
            { id: 'history', defaultSize: '340px', minSize: '240px', maxSize: '560px', fixed: true, children: <History items={data.history} onUndo={(id) => void actions.undo([id])} /> },
          ]}
        />
      ) : (
        list
      )}
    </Screen>
  );
}

/** The form of a new entry, and that of one which is no longer there while it was edited. */
function NewEntry({ store, lost, actions, onDone }: { store: MemoryStore; lost: MemoryEntry | null; actions: MemoryActions; onDone: () => void }): ReactNode {
  const { t } = useTranslation('memory');
  return (
    <div className="border-b border-line bg-selected px-4 shadow-[inset_2px_0_var(--accent)]">
      <EntryForm
        key={lost?.id ?? 'new'}
        initial={lost?.text ?? ''}
        free={store.limit - store.chars - (store.entries.length > 0 ? DELIMITER_CHARS : 0)}
        label={t('addTo', { name: t(`stores.${store.target}.title`) })}
        {...(lost === null ? {} : { note: t('form.lost') })}
        onCancel={onDone}
        onSave={async (text) => {
          const why = await actions.save(store.target, [{ op: 'add', text }]);
          if (why === null) onDone();
          return why;
        }}
      />
    </div>
  );
}

function keyOf(target: MemoryTarget, entry: MemoryEntry): string {
  return `memory-${target}-${entry.id}`;
}
