import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Provider } from '#shared/contract/settings.ts';
import { useLoad } from '../../../lib/engine-context.tsx';
import { useErrorText } from '../../../lib/errors.ts';
import { Field } from '../../../ui/Field.tsx';
import { Select, SuggestInput } from '../../../ui/Select.tsx';
import type { OptionProps } from './OptionField.tsx';

/** Who answers: a provider of Settings and one of its models. */
export function ModelFields({ draft, change, problem, providers }: OptionProps & { providers: readonly Provider[] }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const provider = providers.find((p) => p.id === draft.provider);
  const own = draft.baseUrl.trim() !== '';
  const hint = own ? null : provider ? <ProviderHint provider={provider} /> : t(draft.provider === '' ? 'form.providerHint' : 'form.providerUnknown');
  return (
    <>
      <Field label={t('runForm.label.provider')} error={problem('provider')} hint={hint}>
        {(props) => (
          <Select
            {...props}
            value={draft.provider}
            placeholder={own ? draft.baseUrl.trim() : t('form.problem.provider')}
            options={providers.map((p) => ({
              value: p.id,
              label: p.scripted ? t('app:scripted.provider') : p.name,
              hint: t(`form.${keyWord(p)}`),
            }))}
            onChange={(id) => change({ provider: id, model: providers.find((p) => p.id === id)?.defaultModel ?? '' })}
          />
        )}
      </Field>
      <ModelField draft={draft} change={change} problem={problem} provider={own ? undefined : provider} />
    </>
  );
}

/** What to say of a provider's key in the list. */
function keyWord(provider: Provider): 'scriptedHint' | 'keySet' | 'noKeyNeeded' | 'noKey' {
  if (provider.scripted) return 'scriptedHint';
  if (provider.key !== 'none') return 'keySet';
  return provider.keyEnv === null ? 'noKeyNeeded' : 'noKey';
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

function ModelField({ draft, change, problem, provider }: OptionProps & { provider: Provider | undefined }): ReactNode {
  const { t } = useTranslation(['batch', 'app']);
  const errorText = useErrorText();
  const id = provider?.id ?? null;
  const models = useLoad(
    async (client, signal) => (id === null ? { models: [] } : client.settings.models({ provider: id }, { signal })),
    [id],
  );
  const hint = models.loading ? t('form.modelsLoading') : models.error ? t('form.modelsFailed', { why: errorText(models.error) }) : null;
  return (
    <Field label={t('runForm.label.model')} error={problem('model')} hint={hint}>
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
