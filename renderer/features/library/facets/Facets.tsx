import { FilterX } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { OUTCOMES, TRAJECTORY_KINDS } from '#shared/trajectory.ts';
import { useFormat } from '../../../lib/i18n.ts';
import { Button } from '../../../ui/Button.tsx';
import { Checkbox } from '../../../ui/Checkbox.tsx';
import type { Counts } from '../list/use-library-list.ts';
import { clearable, RATINGS, type LibraryFilter } from '../url.ts';
import { RewardFacet } from './RewardFacet.tsx';

/** Choices shown before "n more". */
const SHORT_LIST = 8;

interface Choice {
  id: string;
  label: string;
  /** Read aloud in place of the label. */
  name?: string | undefined;
  /** Null while it is not known. */
  count: number | null;
  checked: boolean;
}

/** The left pane: what can be filtered by, each choice with how many it would show. */
export function Facets({ counts, filter, onChange }: { counts: Counts | null; filter: LibraryFilter; onChange: (filter: LibraryFilter) => void }): ReactNode {
  const { t } = useTranslation('library');
  const outcomes = OUTCOMES.map((o) => ({ id: o, label: t(`outcome.${o}`, { ns: 'app' }), count: counts ? (counts.outcomes[o] ?? 0) : null, checked: filter.outcomes?.includes(o) ?? false }));
  // Nothing to choose by while all are of one kind.
  const kinds = TRAJECTORY_KINDS.filter((k) => (counts?.kinds[k] ?? 0) > 0 || filter.kinds?.includes(k)).map((k) => ({ id: k, label: t(`kind.${k}`), count: counts?.kinds[k] ?? 0, checked: filter.kinds?.includes(k) ?? false }));
  const runs = withChosen(counts?.runs ?? [], filter.runId ? [filter.runId] : [], (r) => r.id).map(({ id, item }) => ({ id, label: item?.name ?? id, count: item?.count ?? 0, checked: filter.runId === id }));
  const models = withChosen(counts?.models ?? [], filter.models ?? [], (m) => m.model).map(({ id, item }) => ({ id, label: id, count: item?.count ?? 0, checked: filter.models?.includes(id) ?? false }));
  // Nothing to choose by until somebody has rated or a rule has scored.
  const rated = filter.ratings !== undefined || Object.keys(counts?.ratings ?? {}).some((r) => r !== '0');
  const ratings = rated ? RATINGS.map((r) => ({ id: String(r), label: r === 0 ? t('facet.unrated') : '★'.repeat(r), name: r === 0 ? undefined : t('scores.stars', { count: r }), count: counts ? (counts.ratings[r] ?? 0) : null, checked: filter.ratings?.includes(r) ?? false })) : [];
  const scored = (counts?.rewards ?? null) !== null || filter.minReward !== undefined || filter.maxReward !== undefined;
  const clears = clearable(filter);
  const change = (part: Partial<LibraryFilter>): void => {
    const next = { ...filter, ...part };
    for (const key of Object.keys(next) as (keyof LibraryFilter)[]) if (next[key] === undefined || (Array.isArray(next[key]) && next[key].length === 0)) delete next[key];
    onChange(next);
  };
  return (
    <section aria-label={t('facet.label')} className="flex h-full flex-col gap-3.5 overflow-y-auto px-3 py-2.5">
      <Facet title={t('facet.outcome')} choices={outcomes} capital onToggle={(id, on) => change({ outcomes: OUTCOMES.filter((o) => (o === id ? on : (filter.outcomes?.includes(o) ?? false))) })} />
      {(kinds.length > 1 || filter.kinds) && <Facet title={t('facet.kind')} choices={kinds} capital onToggle={(id, on) => change({ kinds: TRAJECTORY_KINDS.filter((k) => (k === id ? on : (filter.kinds?.includes(k) ?? false))) })} />}
      <Facet title={t('facet.run')} choices={runs} onToggle={(id, on) => change({ runId: on ? id : undefined } as Partial<LibraryFilter>)} />
      <Facet title={t('facet.model')} choices={models} onToggle={(id, on) => change({ models: on ? [...(filter.models ?? []), id] : (filter.models ?? []).filter((m) => m !== id) })} />
      <Facet title={t('facet.rating')} choices={ratings} onToggle={(id, on) => change({ ratings: RATINGS.filter((r) => (String(r) === id ? on : (filter.ratings?.includes(r) ?? false))) })} />
      {scored && <RewardFacet filter={filter} known={counts?.rewards ?? null} onChange={(part) => change(part as Partial<LibraryFilter>)} />}
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
          label={<span title={c.name ?? c.label} className={capital ? 'block first-letter:uppercase' : undefined}>{c.name === undefined ? c.label : <><span aria-hidden="true" className="tracking-wide text-warn">{c.label}</span><span className="sr-only">{c.name}</span></>}</span>}
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
