import { FilterX } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { OUTCOMES } from '#shared/trajectory.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Checkbox } from '../../../ui/Checkbox.tsx';
import type { Counts } from '../list/use-library-list.ts';
import { clearable, type LibraryFilter } from '../url.ts';

/** Choices shown before "n more". */
const SHORT_LIST = 8;

interface Choice {
  id: string;
  label: string;
  /** Null while it is not known. */
  count: number | null;
  checked: boolean;
}

/** The left pane: what can be filtered by, each choice with how many it would show. */
export function Facets({ counts, filter, onChange }: { counts: Counts | null; filter: LibraryFilter; onChange: (filter: LibraryFilter) => void }): ReactNode {
  const { t } = useTranslation('library');
  const outcomes = OUTCOMES.map((o) => ({ id: o, label: t(`outcome.${o}`, { ns: 'app' }), count: counts ? (counts.outcomes[o] ?? 0) : null, checked: filter.outcomes?.includes(o) ?? false }));
  const runs = withChosen(counts?.runs ?? [], filter.runId ? [filter.runId] : [], (r) => r.id).map(({ id, item }) => ({ id, label: item?.name ?? id, count: item?.count ?? 0, checked: filter.runId === id }));
  const models = withChosen(counts?.models ?? [], filter.models ?? [], (m) => m.model).map(({ id, item }) => ({ id, label: id, count: item?.count ?? 0, checked: filter.models?.includes(id) ?? false }));
  const clears = clearable(filter);
  const change = (part: Partial<LibraryFilter>): void => {
    const next = { ...filter, ...part };
    for (const key of Object.keys(next) as (keyof LibraryFilter)[]) if (next[key] === undefined || (Array.isArray(next[key]) && next[key].length === 0)) delete next[key];
    onChange(next);
  };
  return (
    <section aria-label={t('facet.label')} className="flex h-full flex-col gap-3.5 overflow-y-auto px-3 py-2.5">
      <Facet title={t('facet.outcome')} choices={outcomes} capital onToggle={(id, on) => change({ outcomes: OUTCOMES.filter((o) => (o === id ? on : (filter.outcomes?.includes(o) ?? false))) })} />
      <Facet title={t('facet.run')} choices={runs} onToggle={(id, on) => change({ runId: on ? id : undefined } as Partial<LibraryFilter>)} />
      <Facet title={t('facet.model')} choices={models} onToggle={(id, on) => change({ models: on ? [...(filter.models ?? []), id] : (filter.models ?? []).filter((m) => m !== id) })} />
      {clears && (
        <Button variant="ghost" icon={FilterX} className="self-start" onClick={() => onChange({})}>
          {t(`facet.clear.${clears}`)}
        </Button>
      )}
    </section>
  );
}

/** Choices with a count, and those chosen that count nothing: a filter that is on must be there to be taken off. */
function withChosen<T>(items: readonly T[], chosen: readonly string[], idOf: (item: T) => string): { id: string; item: T | undefined }[] {
  const known = items.map((item) => ({ id: idOf(item), item: item as T | undefined }));
  return [...known, ...chosen.filter((id) => !known.some((k) => k.id === id)).map((id) => ({ id, item: undefined }))];
}

function Facet({ title, choices, capital = false, onToggle }: { title: string; choices: readonly Choice[]; capital?: boolean; onToggle: (id: string, on: boolean) => void }): ReactNode {
  const { t } = useTranslation('library');
  const format = useFormat();
  const [whole, setWhole] = useState(false);
  if (choices.length === 0) return null;
  const shown = whole ? choices : choices.filter((c, i) => i < SHORT_LIST || c.checked);
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-xs font-semibold text-fg-3">{title}</legend>
      {shown.map((c) => (
        <Checkbox
          key={c.id}
          checked={c.checked}
          onChange={(on) => onToggle(c.id, on)}
          label={<span title={c.label} className={capital ? 'block first-letter:uppercase' : undefined}>{c.label}</span>}
          count={c.count === null ? '' : format.exact(c.count)}
        />
      ))}
      {choices.length > SHORT_LIST && (
        <Button variant="ghost" className="-ml-2.5" onClick={() => setWhole(!whole)}>
          {whole ? t('facet.fewer') : t('facet.more', { count: choices.length - shown.length })}
        </Button>
      )}
    </fieldset>
  );
}
