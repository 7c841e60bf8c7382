import { Plus } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { DistributionEntry } from '#shared/contract/distributions.ts';
import { cx } from '../../../lib/cx.ts';
import { useClient, useLoad } from '../../../lib/engine-context.tsx';
import { errorField, useErrorText } from '../../../lib/errors.ts';
import { navigate, useQuery } from '../../../lib/hash-location.ts';
import { Button } from '../../../ui/Button.tsx';
import { Chip } from '../../../ui/Chip.tsx';
import { ErrorState, Skeleton } from '../../../ui/Feedback.tsx';
import { Screen } from '../../../ui/Screen.tsx';
import { useToasts } from '../../../ui/Toasts.tsx';
import { keepDraft, keptDraft } from '../new-run/kept-draft.ts';
import { emptyDraft } from '../new-run/draft.ts';
import { aboutDistribution } from './about.ts';
import { DistributionEditor } from './DistributionEditor.tsx';
import { copyOf, draftOfEntry, newDraft, readChances, type DistributionDraft } from './edit.ts';

/** Toolset distributions: the built-in ones to look at, people's own to edit. Reached from the form of a new run, which keeps what was typed. */
export function DistributionsScreen(): ReactNode {
  const { t } = useTranslation('batch');
  const list = useLoad((client, signal) => client.distributions.list(undefined, { signal }), []);
  const crumb = (
    <a href="#/batch/new" className="no-underline hover:text-fg">
      {t('new.title')} /
    </a>
  );
  return (
    <Screen title={t('runForm.dist.title')} crumb={crumb}>
      {list.data ? (
        <Distributions items={list.data.items} toolsets={list.data.toolsets} onChanged={list.reload} />
      ) : list.error ? (
        <ErrorState error={list.error} onRetry={list.reload} />
      ) : (
        <Skeleton className="m-4 h-60" />
      )}
    </Screen>
  );
}

function Distributions({ items, toolsets, onChanged }: { items: readonly DistributionEntry[]; toolsets: readonly { name: string; usable: boolean }[]; onChanged: () => void }): ReactNode {
  const { t } = useTranslation('batch');
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const [query] = useQuery();
  const asked = items.find(({ name }) => name === query.get('name')) ?? items[0];
  const [draft, setDraft] = useState<DistributionDraft | null>(asked ? draftOfEntry(asked) : null);
  const [before, setBefore] = useState(draft);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<{ field: string | null; message: string } | null>(null);
  const names = items.map(({ name }) => name);
  const own = items.filter((one) => one.own);
  const builtIn = items.filter((one) => !one.own);
  const current = draft && (draft.saved === null ? builtIn.find(({ name }) => name === draft.name) : own.find(({ name }) => name === draft.saved));
  const readOnly = draft !== null && draft.saved === null && current !== undefined && before === draft;
  const changed = JSON.stringify(draft) !== JSON.stringify(before);
  const open = (next: DistributionDraft, asSaved = next): void => {
    setDraft(next);
    setBefore(asSaved);
    setRefused(null);
  };
  const edit = (next: DistributionDraft): void => {
    setDraft(next);
    setRefused(null);
  };
  const save = (): void => {
    if (!draft || busy) return;
    setBusy(true);
    const { toolsets: chances } = readChances(draft.chances);
    client.distributions
      .save({ name: draft.name, description: draft.description, toolsets: chances, ...(draft.saved === null ? {} : { previous: draft.saved }) })
      .then(
        (entry) => {
          open(draftOfEntry(entry));
          onChanged();
          toast({ title: t('runForm.dist.saved', { name: entry.name }), kind: 'good', timeout: 2_000 });
        },
        (error: unknown) => setRefused({ field: errorField(error) ?? (typeof error === 'object' && error !== null && 'code' in error && error.code === 'CONFLICT' ? 'name' : null), message: errorText(error) }),
      )
      .finally(() => setBusy(false));
  };
  const remove = (): void => {
    const entry = own.find(({ name }) => name === draft?.saved);
    if (!entry) return;
    client.distributions.remove({ name: entry.name }).then(
      () => {
        const next = items[0];
        if (next) open(draftOfEntry(next));
        onChanged();
        toast({
          title: t('runForm.dist.deleted', { name: entry.name }),
          action: {
            label: t('runForm.dist.undo'),
            run: () =>
              void client.distributions.save({ name: entry.name, description: entry.description, toolsets: entry.toolsets }).then(
                (back) => {
                  open(draftOfEntry(back));
                  onChanged();
                },
                (error: unknown) => toast({ title: errorText(error), kind: 'bad' }),
              ),
          },
        });
      },
      (error: unknown) => toast({ title: errorText(error), kind: 'bad' }),
    );
  };
  const use = (): void => {
    if (!draft) return;
    keepDraft({ ...(keptDraft() ?? emptyDraft()), distribution: draft.name === 'default' ? '' : draft.name });
    navigate('/batch/new');
  };
  const fresh = (next: DistributionDraft): void => {
    setDraft(next);
    setBefore(null);
    setRefused(null);
  };
  const shownName = draft?.saved ?? draft?.name;
  return (
    <div className="@container h-full overflow-y-auto">
      <div className="grid min-h-full grid-cols-[minmax(150px,220px)_minmax(0,1fr)]">
        <nav aria-label={t('runForm.dist.list')} className="grid content-start gap-3 border-r border-line p-3">
          <Button icon={Plus} hotkey="n" onClick={() => fresh(newDraft(names))}>
            {t('runForm.dist.new')}
          </Button>
          <Group title={t('runForm.dist.own')}>
            {own.map((one) => (
              <Entry key={one.name} entry={one} current={shownName === one.name} onOpen={() => open(draftOfEntry(one))} />
            ))}
            {own.length === 0 && <p className="px-2 text-xs text-fg-3">{t('runForm.dist.none')}</p>}
          </Group>
          <Group title={t('runForm.dist.builtIn')}>
            {builtIn.map((one) => (
              <Entry key={one.name} entry={one} current={shownName === one.name} onOpen={() => open(draftOfEntry(one))} />
            ))}
          </Group>
        </nav>
        {draft && (
          <section aria-label={draft.name} className="min-w-0">
            <p className="px-4 pt-3 text-xs text-fg-3">{t('runForm.dist.intro')}</p>
            <DistributionEditor
              draft={draft}
              readOnly={readOnly}
              toolsets={toolsets}
              changed={changed}
              busy={busy}
              refused={refused}
              onChange={edit}
              onSave={save}
              onDuplicate={() => fresh(current ? copyOf({ ...current, ...draftTable(draft) }, names) : { ...draft, name: `${draft.name}_copy`.slice(0, 60), saved: null })}
              onDelete={remove}
              onUse={use}
            />
          </section>
        )}
      </div>
    </div>
  );
}

function draftTable(draft: DistributionDraft): Pick<DistributionEntry, 'toolsets' | 'description'> {
  return { toolsets: readChances(draft.chances).toolsets, description: draft.description };
}

function Group({ title, children }: { title: string; children: ReactNode }): ReactNode {
  return (
    <div className="grid gap-0.5">
      <h2 className="px-2 pb-1 text-xs font-semibold text-fg-3">{title}</h2>
      {children}
    </div>
  );
}

function Entry({ entry, current, onOpen }: { entry: DistributionEntry; current: boolean; onOpen: () => void }): ReactNode {
  const { t } = useTranslation('batch');
  return (
    <button
      type="button"
      aria-current={current || undefined}
      title={aboutDistribution(entry, !entry.own, t) || undefined}
      onClick={onOpen}
      className={cx('flex h-7 min-w-0 items-center gap-2 rounded-m px-2 text-left text-sm', current ? 'bg-accent-soft font-medium text-fg' : 'text-fg-2 hover:bg-hover')}
    >
      <span className="min-w-0 flex-1 truncate">{entry.name}</span>
      {!entry.usable && <Chip title={t('runForm.dist.unusable')}>–</Chip>}
    </button>
  );
}
