import { CircleCheck, KeyRound, Search } from 'lucide-react';
import { useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { SEARCH_SERVICES, type SearchTest, type ToolSettings, type ToolSettingsInput } from '#shared/contract/tools.ts';
import { useClient } from '../../lib/engine-context.tsx';
import { errorField, useErrorText } from '../../lib/errors.ts';
import { Button } from '../../ui/Button.tsx';
import { Banner } from '../../ui/Feedback.tsx';
import { Field } from '../../ui/Field.tsx';
import { Input } from '../../ui/Input.tsx';
import { Select } from '../../ui/Select.tsx';
import { Switch } from '../../ui/Switch.tsx';
import { useToasts } from '../../ui/Toasts.tsx';
import { SettingRow } from './SettingRow.tsx';

type Choice = (typeof SEARCH_SERVICES)[number] | 'none';

/** The search service behind web_search, with its address or key, and which addresses web_extract may read. */
export function ToolsSearch({ settings, onChange }: { settings: ToolSettings; onChange: (settings: ToolSettings) => void }): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const choice: Choice = settings.search ?? 'none';
  const put = (change: ToolSettingsInput): void => {
    client.tools.configure(change).then(onChange, (error: unknown) => toast({ title: errorText(error), kind: 'bad' }));
  };
  return (
    <section aria-labelledby="web">
      <h2 id="web" className="mb-2 text-lg font-semibold">
        {t('search.title')}
      </h2>
      <div className="rounded-l border border-line bg-raised">
        <SettingRow label={t('search.service')}>
          <Select
            label={t('search.service')}
            className="w-44"
            value={choice}
            onChange={(next) => put({ search: next === 'none' ? null : next })}
            options={(['none', ...SEARCH_SERVICES] as const).map((value) => ({ value, label: t(`search.name.${value}`), hint: t(`search.hint.${value}`) }))}
          />
        </SettingRow>
        {/* Another service begins with an empty form. */}
        {settings.search !== null && <ServiceForm key={settings.search} service={settings.search} settings={settings} onChange={onChange} />}
        <SettingRow label={t('search.private')} hint={t('search.privateHint')}>
          <Switch checked={settings.allowPrivate} onChange={(allowPrivate) => put({ allowPrivate })} label={t('search.private')} />
        </SettingRow>
      </div>
    </section>
  );
}

function ServiceForm({
  service,
  settings,
  onChange,
}: {
  service: (typeof SEARCH_SERVICES)[number];
  settings: ToolSettings;
  onChange: (settings: ToolSettings) => void;
}): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const client = useClient();
  const errorText = useErrorText();
  const saved = service === 'searxng' ? (settings.searxngUrl ?? '') : '';
  const [text, setText] = useState(saved);
  const [busy, setBusy] = useState<'save' | 'test' | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const [result, setResult] = useState<SearchTest | null>(null);
  const asked = useRef(0);
  const source = service === 'searxng' ? null : settings.keys[service];
  const change = (next: string): void => {
    asked.current++;
    setText(next);
    setRefused(null);
    setResult(null);
    setBusy(null);
  };
  const failed = (error: unknown): void => {
    if (errorField(error) !== null) setRefused(errorText(error));
    else setResult({ ok: false, message: errorText(error), latencyMs: null });
  };
  const save = (value: string): void => {
    const mine = ++asked.current;
    setBusy('save');
    client.tools
      .configure(service === 'searxng' ? { searxngUrl: value } : service === 'brave' ? { braveKey: value } : { tavilyKey: value })
      .then((next) => {
        onChange(next);
        if (mine !== asked.current) return;
        if (service !== 'searxng') setText('');
        setRefused(null);
      }, failed)
      .finally(() => setBusy(null));
  };
  const test = (): void => {
    const mine = ++asked.current;
    setBusy('test');
    setResult(null);
    client.tools
      .testSearch({ search: service, ...(text.trim() === '' ? {} : service === 'searxng' ? { searxngUrl: text } : { key: text }) })
      .then(
        (answer) => mine === asked.current && setResult(answer),
        (error: unknown) => mine === asked.current && failed(error),
      )
      .finally(() => mine === asked.current && setBusy(null));
  };
  const dirty = text.trim() !== saved && text.trim() !== '';
  const testable = text.trim() !== '' || (source !== null && source.source !== 'none');
  return (
    <form
      className="border-b border-line px-3.5 py-2.5"
      onSubmit={(e) => {
        e.preventDefault();
        if (dirty) save(text);
      }}
    >
      <Field
        label={service === 'searxng' ? t('search.address') : t('search.key', { name: t(`search.name.${service}`) })}
        hint={source === null ? t('search.addressHint') : source.source === 'env' ? t('key.fromEnv', { name: source.variable }) : t(`key.kept.${settings.keyStore}`)}
        error={refused}
        aside={
          source !== null &&
          (source.source === 'file' || source.source === 'keychain') && (
            <button type="button" className="rounded-s text-fg-2 underline hover:text-fg" onClick={() => save('')}>
              {t('key.forget')}
            </button>
          )
        }
      >
        {(props) => (
          <div className="flex items-center gap-2">
            <div className="relative min-w-0 flex-1">
              {source !== null && <KeyRound className="pointer-events-none absolute top-[7px] left-2 size-3.5 text-fg-3" aria-hidden="true" />}
              <Input
                {...props}
                mono
                type={source === null ? 'text' : 'password'}
                inputMode={source === null ? 'url' : undefined}
                className={source === null ? undefined : 'pl-7'}
                value={text}
                disabled={source?.source === 'env'}
                placeholder={source === null ? 'http://localhost:8080' : source.source === 'none' ? t('key.paste') : t('key.setPlaceholder')}
                onChange={(e) => change(e.target.value)}
              />
            </div>
            <Button type="submit" busy={busy === 'save'} disabled={!dirty}>
              {t('app:action.save')}
            </Button>
            <Button icon={Search} busy={busy === 'test'} disabled={!testable} onClick={test}>
              {t('search.test')}
            </Button>
          </div>
        )}
      </Field>
      <div aria-live="polite" className="not-empty:mt-2">
        {result &&
          (result.ok ? (
            <div className="flex items-start gap-2 rounded-m bg-good-soft px-3 py-2 text-sm">
              <CircleCheck className="mt-0.5 size-4 shrink-0 text-good" aria-hidden="true" />
              {t('search.works')}
            </div>
          ) : (
            <Banner tone="bad" title={result.message} />
          ))}
      </div>
    </form>
  );
}
