import { KeyRound } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Provider, Settings } from '#shared/contract/settings.ts';
import { useClient, useLoad } from '../../lib/engine-context.tsx';
import { errorField, useErrorText } from '../../lib/errors.ts';
import { Button } from '../../ui/Button.tsx';
import { Dialog } from '../../ui/Dialog.tsx';
import { Banner } from '../../ui/Feedback.tsx';
import { Field } from '../../ui/Field.tsx';
import { Input } from '../../ui/Input.tsx';
import { SuggestInput } from '../../ui/Select.tsx';
import { useToasts } from '../../ui/Toasts.tsx';
import { formOf, keyToSend, LIMIT_NUMBERS, limitsToSend, problemsOf, type ProblemField, type ProviderForm } from './provider-form.ts';
import { LimitFields } from './ProviderLimits.tsx';
import { TestRow } from './ProviderTest.tsx';

/** Adds or changes one provider. Testing works on what is typed, saved or not. */
export function ProviderDialog({
  provider,
  providers,
  keyStore,
  onClose,
  onSaved,
}: {
  provider: Provider | null;
  /** All there are, as fallbacks. */
  providers: readonly Provider[];
  keyStore: Settings['keyStore'];
  onClose: () => void;
  onSaved: (settings: Settings) => void;
}): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const errorText = useErrorText();
  const client = useClient();
  const toast = useToasts();
  const [form, setForm] = useState<ProviderForm>(() => formOf(provider));
  const [tried, setTried] = useState(false);
  const [saving, setSaving] = useState(false);
  const [refused, setRefused] = useState<{ field: string | null; message: string } | null>(null);
  const change = (changes: Partial<ProviderForm>): void => {
    setForm((f) => ({ ...f, ...changes }));
    setRefused(null);
  };
  const problems = problemsOf(form);
  const problem = (field: ProblemField): string | null => {
    if (refused?.field === field) return refused.message;
    const found = problems[field];
    const isTyped = (field !== 'name' && field !== 'baseUrl') || form[field].trim() !== '';
    // Half of a route is on its way to a whole one.
    return found && (tried || (isTyped && found !== 'route')) ? t(`form.problem.${found}`) : null;
  };
  const save = (): void => {
    setTried(true);
    if (saving || Object.keys(problems).length > 0) return;
    setSaving(true);
    client.settings
      .saveProvider({
        ...(provider ? { id: provider.id } : {}),
        name: form.name.trim(),
        baseUrl: form.baseUrl.trim(),
        defaultModel: form.defaultModel.trim() || null,
        ...keyToSend(form),
        limits: limitsToSend(form, provider?.limits ?? null),
      })
      .then(
        (settings) => {
          onSaved(settings);
          toast({ title: t('toast.saved', { name: form.name.trim() }), kind: 'good' });
          onClose();
        },
        (error: unknown) => {
          setSaving(false);
          setRefused({ field: errorField(error), message: errorText(error) });
        },
      );
  };
  const reset = (): void => {
    if (!provider) return;
    client.settings.removeProvider({ id: provider.id }).then(
      (settings) => {
        onSaved(settings);
        onClose();
        toast({
          title: t('toast.reset', { name: provider.name }),
          action: {
            label: t('app:action.undo'),
            run: () => {
              client.settings
                .saveProvider({ id: provider.id, name: provider.name, baseUrl: provider.baseUrl, defaultModel: provider.defaultModel, limits: provider.limits })
                .then(onSaved, (error: unknown) => toast({ title: errorText(error), kind: 'bad' }));
            },
          },
        });
      },
      (error: unknown) => setRefused({ field: null, message: errorText(error) }),
    );
  };
  return (
    <Dialog
      open
      onClose={onClose}
      title={provider ? t('form.editTitle', { name: provider.name }) : t('form.addTitle')}
      description={t('form.about')}
      footer={
        <>
          {provider?.builtIn && (
            <>
              <Button variant="ghost" onClick={reset}>
                {t('form.reset')}
              </Button>
              <span className="flex-1" />
            </>
          )}
          <Button onClick={onClose}>{t('app:action.cancel')}</Button>
          <Button variant="primary" busy={saving} hotkey="mod+Enter" hotkeyInDialog onClick={save}>
            {t('app:action.save')}
          </Button>
        </>
      }
    >
      <form
        className="grid gap-3.5"
        onSubmit={(e) => {
          e.preventDefault();
          save();
        }}
      >
        <Field label={t('form.name')} error={problem('name')}>
          {(props) => (
            <Input
              {...props}
              autoFocus={provider === null}
              value={form.name}
              maxLength={80}
              onChange={(e) => change({ name: e.target.value })}
            />
          )}
        </Field>
        <Field label={t('form.baseUrl')} error={problem('baseUrl')} hint={t('form.baseUrlHint')}>
          {(props) => (
            <Input
              {...props}
              mono
              inputMode="url"
              value={form.baseUrl}
              placeholder="https://api.example.com/v1"
              onChange={(e) => change({ baseUrl: e.target.value })}
            />
          )}
        </Field>
        <KeyField
          provider={provider}
          form={form}
          change={change}
          keyStore={keyStore}
          error={refused?.field === 'apiKey' ? refused.message : null}
        />
        <ModelField provider={provider} form={form} change={change} />
        <LimitFields form={form} change={change} problem={problem} showProblems={tried} others={providers.filter(({ id }) => id !== provider?.id)} />
        {/* A result is true only for what was tested: another address or key begins anew. */}
        <TestRow key={`${form.baseUrl}\n${form.apiKey}\n${form.forgetKey}`} provider={provider} form={form} />
        {refused && !FIELDS.has(refused.field ?? '') && <Banner tone="bad" live title={refused.message} />}
        {/* Enter in a field saves. */}
        <button type="submit" className="hidden" tabIndex={-1} aria-hidden="true" />
      </form>
    </Dialog>
  );
}

/** Those that show what is wrong with them. */
const FIELDS: ReadonlySet<string> = new Set(['name', 'baseUrl', 'apiKey', 'fallback', ...LIMIT_NUMBERS]);

interface PartProps {
  provider: Provider | null;
  form: ProviderForm;
  change: (changes: Partial<ProviderForm>) => void;
}

function KeyField({
  provider,
  form,
  change,
  keyStore,
  error,
}: PartProps & { keyStore: Settings['keyStore']; error: string | null }): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const source = provider?.key ?? 'none';
  const stored = source === 'file' || source === 'keychain';
  const placeholder = form.forgetKey ? t('key.willForget') : source === 'none' ? t('key.paste') : t('key.setPlaceholder');
  const hint = source === 'env' ? t('key.fromEnv', { name: provider?.keyEnv }) : t(`key.kept.${keyStore}`);
  return (
    <Field
      label={t('form.key')}
      error={error}
      hint={hint}
      aside={
        stored && (
          <button
            type="button"
            className="rounded-s text-fg-2 underline hover:text-fg"
            onClick={() => change({ forgetKey: !form.forgetKey, apiKey: '' })}
          >
            {form.forgetKey ? t('key.keep') : t('key.forget')}
          </button>
        )
      }
    >
      {(props) => (
        <div className="relative">
          <KeyRound className="pointer-events-none absolute top-[7px] left-2 size-3.5 text-fg-3" aria-hidden="true" />
          <Input
            {...props}
            type="password"
            mono
            autoComplete="off"
            className="pl-7"
            value={form.apiKey}
            placeholder={placeholder}
            onChange={(e) => change({ apiKey: e.target.value, forgetKey: false })}
          />
        </div>
      )}
    </Field>
  );
}

function ModelField({ provider, form, change }: PartProps): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const id = provider?.id ?? null;
  const models = useLoad(
    async (client, signal) => (id === null ? { models: [] } : client.settings.models({ provider: id }, { signal })),
    [id],
  );
  return (
    <Field label={t('form.defaultModel')} hint={t('form.defaultModelHint')}>
      {(props) => (
        <SuggestInput
          {...props}
          value={form.defaultModel}
          suggestions={models.data?.models.map((m) => m.id) ?? []}
          placeholder={t('form.noModel')}
          onChange={(defaultModel) => change({ defaultModel })}
        />
      )}
    </Field>
  );
}
