import type { TFunction } from 'i18next';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { REASONING_EFFORTS } from '#shared/contract/runs.ts';
import type { Provider } from '#shared/contract/settings.ts';
import { useLoad } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { useFormat, type Format } from '../../../lib/i18n.ts';
import { Field } from '../../../ui/Field.tsx';
import { Input, NumberInput } from '../../../ui/Input.tsx';
import { Select, SuggestInput } from '../../../ui/Select.tsx';
import type { DraftField, RunDraft } from './draft.ts';

interface Distribution {
  name: string;
  toolsets: Record<string, number>;
  skipped: readonly string[];
}

export interface RunFormProps {
  draft: RunDraft;
  change: (changes: Partial<RunDraft>) => void;
  /** The message at a field, when it is wrong. */
  problem: (field: DraftField) => string | null;
  providers: readonly Provider[];
  distributions: readonly Distribution[];
  defaultOutputDir: string;
  rows: number | null;
}

/** All options of a run, with their defaults. */
export function RunForm({ draft, change, problem, providers, distributions, defaultOutputDir, rows }: RunFormProps): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const f = useFormat();
  const provider = providers.find((p) => p.id === draft.provider);
  const distribution = distributions.find((d) => d.name === draft.distribution);
  return (
    <div className="grid gap-3.5 p-4">
      <Field label={t('form.runName')} error={problem('runName')}>
        {(props) => <Input {...props} mono value={draft.runName} maxLength={100} onChange={(e) => change({ runName: e.target.value })} />}
      </Field>
      <Field
        label={t('form.provider')}
        error={problem('provider')}
        hint={
          provider ? <ProviderHint provider={provider} /> : t(draft.provider === '' ? 'form.providerHint' : 'form.providerUnknown')
        }
      >
        {(props) => (
          <Select
            {...props}
            value={draft.provider}
            placeholder={t('form.problem.provider')}
            options={providers.map((p) => ({
              value: p.id,
              label: p.scripted ? t('app:scripted.provider') : p.name,
              hint: t(`form.${keyWord(p)}`),
            }))}
            onChange={(id) => change({ provider: id, model: providers.find((p) => p.id === id)?.defaultModel ?? '' })}
          />
        )}
      </Field>
      <ModelField draft={draft} change={change} problem={problem} provider={provider} />
      <Field
        label={t('form.distribution')}
        error={problem('distribution')}
        hint={distribution && aboutDistribution(distribution, f, t)}
      >
        {(props) => (
          <Select
            {...props}
            value={draft.distribution}
            options={distributions.map((d) => ({ value: d.name, label: d.name, hint: aboutDistribution(d, f, t) }))}
            onChange={(value) => change({ distribution: value })}
          />
        )}
      </Field>
      <div className="grid grid-cols-2 gap-3.5">
        <Field label={t('form.numWorkers')} error={problem('numWorkers')}>
          {(props) => <NumberInput {...props} value={draft.numWorkers} onChange={(v) => change({ numWorkers: v })} />}
        </Field>
        <Field label={t('form.maxTurns')} error={problem('maxTurns')}>
          {(props) => <NumberInput {...props} value={draft.maxTurns} onChange={(v) => change({ maxTurns: v })} />}
        </Field>
        <Field label={t('form.batchSize')} error={problem('batchSize')}>
          {(props) => <NumberInput {...props} value={draft.batchSize} onChange={(v) => change({ batchSize: v })} />}
        </Field>
        <Field label={t('form.maxSamples')} error={problem('maxSamples')}>
          {(props) => (
            <NumberInput
              {...props}
              value={draft.maxSamples}
              placeholder={rows === null ? t('form.maxSamplesAll') : t('form.maxSamplesAllOf', { shown: f.exact(rows) })}
              onChange={(v) => change({ maxSamples: v })}
            />
          )}
        </Field>
      </div>
      <Field label={t('form.reasoningEffort')} hint={t('form.reasoningEffortHint')}>
        {(props) => (
          <Select
            {...props}
            value={draft.reasoningEffort}
            options={[{ value: '', label: t('effort.default') }, ...REASONING_EFFORTS.map((e) => ({ value: e, label: t(`effort.${e}`) }))]}
            onChange={(value) => change({ reasoningEffort: value })}
          />
        )}
      </Field>
      <Field label={t('form.outputDir')} error={problem('outputDir')} hint={t('form.outputDirHint')}>
        {(props) => (
          <Input
            {...props}
            mono
            value={draft.outputDir}
            placeholder={defaultOutputDir}
            onChange={(e) => change({ outputDir: e.target.value })}
          />
        )}
      </Field>
    </div>
  );
}

/** What to say of a provider's key in the list. */
function keyWord(provider: Provider): 'scriptedHint' | 'keySet' | 'noKeyNeeded' | 'noKey' {
  if (provider.scripted) return 'scriptedHint';
  if (provider.key !== 'none') return 'keySet';
  return provider.keyEnv === null ? 'noKeyNeeded' : 'noKey';
}

/** "terminal 100% · file 50%; not in this version: web" */
function aboutDistribution({ toolsets, skipped }: Distribution, f: Format, t: TFunction<['batch', 'app']>): string {
  const built = Object.entries(toolsets)
    .filter(([name]) => !skipped.includes(name))
    .map(([name, chance]) => `${name} ${f.percent(chance / 100)}`)
    .join(' · ');
  return skipped.length === 0 ? built : t('form.distributionSkipped', { built, skipped: skipped.join(', ') });
}

function ProviderHint({ provider }: { provider: Provider }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  if (provider.scripted) return t('form.scriptedHint');
  return (
    <>
      {hostOf(provider.baseUrl)}
      {provider.key === 'none' && provider.keyEnv !== null && (
        <>
          {' · '}
          <a href="#/settings" className="text-warn underline">
            {t('form.noKey')}
          </a>
        </>
      )}
    </>
  );
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return url;
  }
}

function ModelField({
  draft,
  change,
  problem,
  provider,
}: Pick<RunFormProps, 'draft' | 'change' | 'problem'> & { provider: Provider | undefined }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const errorText = useErrorText();
  const id = provider?.id ?? null;
  const models = useLoad(
    async (client, signal) => (id === null ? { models: [] } : client.settings.models({ provider: id }, { signal })),
    [id],
  );
  const hint = models.loading ? t('form.modelsLoading') : models.error ? t('form.modelsFailed', { why: errorText(models.error) }) : null;
  return (
    <Field label={t('form.model')} error={problem('model')} hint={hint}>
      {(props) => (
        <SuggestInput
          {...props}
          value={draft.model}
          suggestions={models.data?.models.map((m) => m.id) ?? []}
          placeholder={t('form.modelPlaceholder')}
          onChange={(model) => change({ model })}
        />
      )}
    </Field>
  );
}
