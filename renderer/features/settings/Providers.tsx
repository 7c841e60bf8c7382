import { Pencil, Plus, Radar, Trash2, X } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { LocalServer, Provider, ProviderTest, Settings } from '#shared/contract/settings.ts';
import { useClient } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { Button, IconButton } from '../../ui/Button.tsx';
import { Chip } from '../../ui/Chip.tsx';
import { useToasts } from '../../ui/Toasts.tsx';
import { LocalServers } from './LocalServers.tsx';
import { ProviderDialog } from './ProviderDialog.tsx';
import { TestResult } from './ProviderTest.tsx';
import { hostOf } from './provider-form.ts';

/** The providers, built in and own: test, change, add, remove with undo. */
export function Providers({ settings, onChange }: { settings: Settings; onChange: (settings: Settings) => void }): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const errorText = useErrorText();
  const client = useClient();
  const toast = useToasts();
  const [editing, setEditing] = useState<Provider | 'new' | null>(null);
  /** How often each provider was changed: what a test said is true only for what it tested. */
  const [editions, setEditions] = useState<Readonly<Record<string, number>>>({});
  const [leaving, setLeaving] = useState<ReadonlySet<string>>(new Set());
  const [found, setFound] = useState<{ servers: readonly LocalServer[] } | 'looking' | null>(null);
  const look = (): void => {
    setFound('looking');
    client.settings.findLocal().then(setFound, (error: unknown) => {
      setFound(null);
      toast({ title: errorText(error), kind: 'bad' });
    });
  };
  const stay = (id: string): void => setLeaving((s) => new Set([...s].filter((other) => other !== id)));

  // Removed for good only when the toast is gone: its key could not be brought back by an undo.
  const remove = (provider: Provider): void => {
    setLeaving((s) => new Set([...s, provider.id]));
    toast({
      title: t('toast.removed', { name: provider.name }),
      action: { label: t('app:action.undo'), run: () => stay(provider.id) },
      onGone: () => {
        client.settings.removeProvider({ id: provider.id }).then(
          (next) => {
            onChange(next);
            stay(provider.id);
          },
          (error: unknown) => {
            stay(provider.id);
            toast({ title: errorText(error), kind: 'bad' });
          },
        );
      },
    });
  };
  return (
    <section aria-labelledby="providers">
      <header className="mb-2 flex items-end justify-between gap-4">
        <div>
          <h2 id="providers" className="text-lg font-semibold">
            {t('providers.title')}
          </h2>
          <p className="text-sm text-fg-2">{t('providers.about')}</p>
        </div>
        <div className="flex gap-2">
          <Button icon={Radar} busy={found === 'looking'} onClick={look}>
            {t('local.find')}
          </Button>
          <Button icon={Plus} hotkey="n" onClick={() => setEditing('new')}>
            {t('providers.add')}
          </Button>
        </div>
      </header>
      <div aria-live="polite">
        {found !== null && found !== 'looking' && (
          <div className="mb-3">
            <div className="mb-1 flex items-center justify-between">
              <h3 className="text-sm font-medium text-fg-2">{t('local.title')}</h3>
              <IconButton icon={X} size="sm" label={t('local.close')} onClick={() => setFound(null)} />
            </div>
            <LocalServers
              servers={found.servers}
              settings={settings}
              onChange={onChange}
              onSetUp={(id) => setEditing(settings.providers.find((p) => p.id === id) ?? null)}
            />
          </div>
        )}
      </div>
      <ul className="rounded-l border border-line bg-raised">
        {settings.providers
          .filter((p) => !leaving.has(p.id))
          .map((p) => (
            <ProviderRow key={p.id} provider={p} edition={editions[p.id] ?? 0} onEdit={() => setEditing(p)} onRemove={() => remove(p)} />
          ))}
      </ul>
      {editing && (
        <ProviderDialog
          provider={editing === 'new' ? null : editing}
          providers={settings.providers}
          keyStore={settings.keyStore}
          onClose={() => setEditing(null)}
          onSaved={(next) => {
            if (editing !== 'new') setEditions((e) => ({ ...e, [editing.id]: (e[editing.id] ?? 0) + 1 }));
            onChange(next);
          }}
        />
      )}
    </section>
  );
}

function ProviderRow({
  provider,
  edition,
  onEdit,
  onRemove,
}: {
  provider: Provider;
  edition: number;
  onEdit: () => void;
  onRemove: () => void;
}): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const errorText = useErrorText();
  const client = useClient();
  const [busy, setBusy] = useState(false);
  const [tested, setTested] = useState<{ edition: number; result: ProviderTest } | null>(null);
  const result = tested?.edition === edition ? tested.result : null;
  const test = (): void => {
    setBusy(true);
    client.settings
      .testProvider({ id: provider.id })
      .then(
        (answer) => setTested({ edition, result: answer }),
        (error: unknown) =>
          setTested({ edition, result: { ok: false, message: errorText(error), hint: null, latencyMs: null, modelCount: null } }),
      )
      .finally(() => setBusy(false));
  };
  return (
    <li className="border-line px-3.5 py-2 not-last:border-b">
      <div className="flex min-h-8 items-center gap-3">
        <div className="min-w-0 flex-1">
          <div className="flex items-center gap-2">
            <span className="truncate font-medium">{provider.scripted ? t('app:scripted.provider') : provider.name}</span>
            <KeyChip provider={provider} />
          </div>
          <div className="truncate text-xs text-fg-3">
            {provider.scripted ? t('providers.scripted') : [hostOf(provider.baseUrl), provider.defaultModel].filter(Boolean).join(' · ')}
          </div>
        </div>
        {!provider.scripted && (
          <>
            <Button variant="ghost" busy={busy} onClick={test} aria-label={t('test.named', { name: provider.name })}>
              {t('test.button')}
            </Button>
            <IconButton icon={Pencil} label={t('providers.edit', { name: provider.name })} onClick={onEdit} />
            {!provider.builtIn && <IconButton icon={Trash2} label={t('providers.remove', { name: provider.name })} onClick={onRemove} />}
          </>
        )}
      </div>
      <div aria-live="polite">
        {result && (
          <div className="pt-1 pb-1">
            <TestResult result={result} />
          </div>
        )}
      </div>
    </li>
  );
}

function KeyChip({ provider }: { provider: Provider }): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  if (provider.scripted) return <Chip tone="info">{t('app:scripted.chip')}</Chip>;
  if (provider.key === 'env')
    return (
      <Chip tone="good" title={t('key.fromEnv', { name: provider.keyEnv })}>
        {t('key.chip.env', { name: provider.keyEnv })}
      </Chip>
    );
  if (provider.key !== 'none') return <Chip tone="good">{t(`key.chip.${provider.key}`)}</Chip>;
  return <Chip>{t(provider.keyEnv === null ? 'key.chip.notNeeded' : 'key.chip.none')}</Chip>;
}
