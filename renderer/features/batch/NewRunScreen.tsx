import { Play } from 'lucide-react';
import { useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { DistributionEntry } from '#shared/contract/distributions.ts';
import type { Provider } from '#shared/contract/settings.ts';
import { useClient, useLoad } from '../../lib/engine-context.tsx';
import { errorField, useErrorText } from '../../lib/errors.ts';
import { navigate, useQuery } from '../../lib/hash-location.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { Banner, ErrorState, Skeleton } from '../../ui/Feedback.tsx';
import { Screen } from '../../ui/Screen.tsx';
import { DatasetPicker } from './new-run/DatasetPicker.tsx';
import { DEMO_DATASET } from '#shared/run-values.ts';
import { draftOf, emptyDraft, likelyProvider, promptCount, readDraft, type DraftField, type RunDraft } from './new-run/draft.ts';
import { draftOfMapping, mappingOfDraft } from './new-run/mapping.ts';
import { PlanPanel } from './new-run/PlanPanel.tsx';
import { RunFileMenu } from './new-run/RunFileMenu.tsx';
import { RunForm } from './new-run/RunForm.tsx';
import { usePlan } from './new-run/use-plan.ts';
import { forgetDraft, keepDraft, keptDraft } from './new-run/kept-draft.ts';
import { useDataset } from './new-run/use-dataset.ts';

/** Choose prompts, set the options, start. What is typed survives leaving the screen and a restart of the engine. */
export function NewRunScreen(): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const [query] = useQuery();
  const from = query.get('from');
  const demo = query.get('demo') !== null;
  const setup = useLoad(
    async (client, signal) => {
      const [options, distributions, settings, runs, source] = await Promise.all([
        client.runs.options(undefined, { signal }),
        client.distributions.list(undefined, { signal }),
        client.settings.get(undefined, { signal }),
        client.runs.list(undefined, { signal }),
        from === null ? null : client.runs.get({ id: from }, { signal }),
      ]);
      return { options, distributions: distributions.items, settings, source, likely: likelyProvider(runs.items, settings.providers) };
    },
    [from],
  );
  // The form must not be thrown away when the engine comes back: it starts once per source.
  const first = useRef<{ from: string | null; data: NonNullable<typeof setup.data> } | null>(null);
  if (setup.data && first.current?.from !== from) first.current = { from, data: setup.data };
  const data = setup.data ?? (first.current?.from === from ? first.current?.data : undefined);
  if (!data) {
    return (
      <Screen title={t('new.title')} crumb={<Crumb />}>
        {setup.error ? <ErrorState error={setup.error} onRetry={setup.reload} /> : <Skeleton className="m-4 h-60" />}
      </Screen>
    );
  }
  const initial: RunDraft = data.source
    ? { ...draftOf(data.source.spec), runName: data.options.suggestedName }
    : (keptDraft() ?? { ...emptyDraft(), ...data.likely });
  if (!data.source && initial.provider === '') Object.assign(initial, data.likely);
  if (!data.source && demo) Object.assign(initial, { datasetFile: data.options.demoDataset }, scriptedOf(data.settings.providers));
  if (!initial.runName) initial.runName = data.options.suggestedName;
  return <NewRunForm key={`${from}${demo}`} initial={initial} data={data} chosen={data.source !== null} />;
}

/** The scripted model as the form's provider. */
function scriptedOf(providers: readonly Provider[]): Pick<RunDraft, 'provider' | 'model'> | null {
  const scripted = providers.find((p) => p.scripted);
  return scripted ? { provider: scripted.id, model: scripted.defaultModel ?? '' } : null;
}

function Crumb(): ReactNode {
  const { t } = useTranslation('app');
  return (
    <a href="#/batch" className="no-underline hover:text-fg">
      {t('nav.batch')} /
    </a>
  );
}

type Setup = {
  distributions: readonly DistributionEntry[];
  options: {
    demoDataset: string;
    defaultOutputDir: string;
    suggestedName: string;
  };
  settings: { providers: readonly Provider[] };
  likely: Pick<RunDraft, 'provider' | 'model'>;
};

/** @param chosen whether the provider was chosen by a person already: then no dataset changes it */
function NewRunForm({ initial, data, chosen }: { initial: RunDraft; data: Setup; chosen: boolean }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const errorText = useErrorText();
  const f = useFormat();
  const client = useClient();
  const [draft, setDraft] = useState(initial);
  const [attempts, setAttempts] = useState(0);
  const tried = attempts > 0;
  const form = useRef<HTMLDivElement>(null);
  const providerChosen = useRef(chosen);
  const [busy, setBusy] = useState(false);
  const [refused, setRefused] = useState<{ field: string | null; message: string } | null>(null);
  const change = (changes: Partial<RunDraft>): void => {
    setDraft((d) => ({ ...d, ...changes }));
    if (refused?.field && refused.field in changes) setRefused(null);
  };
  // The demo goes with the scripted model, prompts of one's own with a real one, unless the person said otherwise.
  const changeDataset = (datasetFile: string): void =>
    setDraft((d) => {
      if (providerChosen.current) return { ...d, datasetFile };
      if (datasetFile === data.options.demoDataset) return { ...d, datasetFile, ...scriptedOf(data.settings.providers) };
      const scripted = data.settings.providers.some((p) => p.scripted && p.id === d.provider);
      return { ...d, datasetFile, ...(scripted ? data.likely : {}) };
    });
  // The first field that is wrong gets the focus, which also brings it into sight.
  useEffect(() => {
    if (attempts > 0) form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
  }, [attempts]);
  useEffect(() => keepDraft(draft), [draft]);
  const mapping = useMemo(() => mappingOfDraft({ datasetShape: draft.datasetShape, columns: draft.columns }), [draft.datasetShape, draft.columns]);
  const dataset = useDataset(initial.datasetFile, changeDataset, mapping);
  const read = useMemo(() => readDraft(draft, data.options.demoDataset), [draft, data.options.demoDataset]);
  const plan = usePlan(read.spec);
  const perRow = read.spec?.rollouts ?? 1;
  const rows = dataset.state.kind === 'ready' ? dataset.state.report.rows : null;
  const count = rows === null ? null : promptCount(rows, draft.maxSamples);
  const suggestedScoring = dataset.state.kind === 'ready' ? dataset.state.report.suggestedScoring : [];

  const problem = (field: DraftField): string | null => {
    if (refused?.field === field) return refused.message;
    const found = read.problems?.[field];
    // A field that is merely still empty is no mistake until one tries to start.
    if (!found || (['required', 'provider', 'model'].includes(found.code) && !tried)) return null;
    if (field === 'provider' && found.code === 'required') return t('form.problem.provider');
    return t(`runForm.problem.${found.code}`, found.params);
  };
  const load = (loaded: RunDraft): void => {
    providerChosen.current = true;
    setRefused(null);
    setDraft(loaded.runName === '' ? { ...loaded, runName: draft.runName } : loaded);
    const path = loaded.datasetFile === DEMO_DATASET ? data.options.demoDataset : loaded.datasetFile;
    if (path === '') dataset.clear();
    else dataset.inspect(path);
  };
  const start = (): void => {
    setAttempts((n) => n + 1);
    if (!read.spec || count === null || count === 0 || busy) return;
    setBusy(true);
    setRefused(null);
    client.runs.start(read.spec).then(
      ({ id }) => {
        forgetDraft();
        navigate(`/batch/${encodeURIComponent(id)}`);
      },
      (error: unknown) => {
        setBusy(false);
        const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
        setRefused({ field: errorField(error) ?? (code === 'CONFLICT' ? 'runName' : null), message: errorText(error) });
        setAttempts((n) => n + 1);
      },
    );
  };
  const noRows = count === 0 || dataset.state.kind === 'failed';
  return (
    <Screen
      title={t('new.title')}
      crumb={<Crumb />}
      bar={
        <>
          <span className="flex-1" />
          <RunFileMenu spec={read.spec} onLoad={load} />
          <Button variant="primary" icon={Play} hotkey="mod+Enter" busy={busy} disabled={noRows} dim={count === null} onClick={start}>
            {!count ? t('new.start') : t('new.startCount', { count, shown: f.exact(count) })}
            {count !== null && perRow > 1 && ` × ${f.exact(perRow)}`}
          </Button>
        </>
      }
    >
      <div ref={form} className="@container h-full overflow-y-auto">
        <div className="grid h-full min-h-0 @max-[699px]:h-auto @min-[700px]:grid-cols-[minmax(0,1fr)_minmax(300px,440px)]">
          <section
            aria-label={t('form.dataset')}
            className="min-h-0 border-line @max-[699px]:h-[420px] @max-[699px]:border-b @min-[700px]:border-r"
          >
            <DatasetPicker
              dataset={dataset}
              demoPath={data.options.demoDataset}
              problem={tried && count === null ? t('form.problem.dataset') : null}
              mapping={mapping}
              onMapping={(said) => change(draftOfMapping(said))}
            />
          </section>
          <div className="grid min-h-0 @min-[700px]:grid-rows-[minmax(0,1fr)_auto]">
          <section aria-label={t('options.title')} className="min-h-0 @min-[700px]:overflow-y-auto">
            {refused && (!refused.field || !(refused.field in draft)) && (
              <div className="px-4 pt-4">
                <Banner tone="bad" live title={refused.message} />
              </div>
            )}
            <RunForm
              draft={draft}
              change={(changes) => {
                if (changes.provider !== undefined) providerChosen.current = true;
                change(changes);
              }}
              problem={problem}
              providers={data.settings.providers}
              distributions={data.distributions}
              defaultOutputDir={data.options.defaultOutputDir}
              rows={rows}
              suggestedScoring={suggestedScoring}
            />
          </section>
          <PlanPanel state={plan} complete={read.spec !== null} perRow={perRow} />
          </div>
        </div>
      </div>
    </Screen>
  );
}
