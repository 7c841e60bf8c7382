import { CircleCheck, PlugZap } from 'lucide-react';
import { useRef, useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Provider, ProviderTest } from '#shared/contract/settings.ts';
import { useClient } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { Banner } from '../../ui/Feedback.tsx';
import { keyToSend, problemsOf, type ProviderForm } from './provider-form.ts';

type TestState = { kind: 'idle' } | { kind: 'busy' } | { kind: 'done'; result: ProviderTest };

/** Asks the provider with what is typed and says what is wrong. */
export function TestRow({ provider, form }: { provider: Provider | null; form: ProviderForm }): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const errorText = useErrorText();
  const client = useClient();
  const [state, setState] = useState<TestState>({ kind: 'idle' });
  const asked = useRef(0);
  const test = (): void => {
    const mine = ++asked.current;
    setState({ kind: 'busy' });
    client.settings.testProvider({ ...(provider ? { id: provider.id } : {}), baseUrl: form.baseUrl.trim(), ...keyToSend(form) }).then(
      (result) => mine === asked.current && setState({ kind: 'done', result }),
      (error: unknown) =>
        mine === asked.current &&
        setState({ kind: 'done', result: { ok: false, message: errorText(error), hint: null, latencyMs: null, modelCount: null } }),
    );
  };
  return (
    <div className="grid gap-2">
      <div className="flex items-center gap-3">
        <Button icon={PlugZap} busy={state.kind === 'busy'} disabled={problemsOf(form).baseUrl !== undefined} onClick={test}>
          {t('test.button')}
        </Button>
        {state.kind === 'idle' && <span className="text-xs text-fg-3">{t('test.about')}</span>}
      </div>
      <div aria-live="polite">{state.kind === 'done' && <TestResult result={state.result} />}</div>
    </div>
  );
}

/** How a test went: what happened, what to do, how long it took. */
export function TestResult({ result }: { result: ProviderTest }): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const f = useFormat();
  const facts = [
    result.latencyMs === null ? null : f.duration(result.latencyMs),
    result.modelCount === null ? null : t('test.models', { count: result.modelCount, shown: f.exact(result.modelCount) }),
  ];
  if (!result.ok) {
    return (
      <Banner tone="bad" title={result.message}>
        {result.hint}
      </Banner>
    );
  }
  return (
    <div className="flex items-start gap-2.5 rounded-m bg-good-soft px-3 py-2">
      <CircleCheck className="mt-0.5 size-4 shrink-0 text-good" aria-hidden="true" />
      <div className="min-w-0">
        <div className="font-medium break-words">{result.message}</div>
        <div className="num text-sm text-fg-2">{facts.filter(Boolean).join(' · ')}</div>
      </div>
    </div>
  );
}
