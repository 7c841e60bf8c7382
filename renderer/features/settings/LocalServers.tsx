import { Plus } from 'lucide-react';
import { useState, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { LocalServer, Settings } from '#shared/contract/settings.ts';
import { useClient } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { useFormat } from '../../lib/i18n.ts';
import { Button } from '../../ui/Button.tsx';
import { Chip } from '../../ui/Chip.tsx';
import { useToasts } from '../../ui/Toasts.tsx';
import { hostOf } from './provider-form.ts';

const SHOWN_MODELS = 3;

/** The model servers that were found on this machine: what runs there, and a way to add them. */
export function LocalServers({
  servers,
  settings,
  onChange,
  onSetUp,
}: {
  servers: readonly LocalServer[];
  settings: Settings;
  onChange: (settings: Settings) => void;
  /** Opens the dialog of a provider that is there already. */
  onSetUp: (provider: string) => void;
}): ReactNode {
  const { t } = useTranslation('settings');
  if (servers.length === 0) {
    return (
      <div className="rounded-l border border-line bg-sunken px-3.5 py-2.5 text-sm text-fg-2">
        <div className="font-medium text-fg">{t('local.none')}</div>
        {t('local.noneHint')}
      </div>
    );
  }
  return (
    <ul aria-label={t('local.title')} className="rounded-l border border-line bg-sunken">
      {servers.map((server) => (
        <ServerRow key={server.baseUrl} server={server} settings={settings} onChange={onChange} onSetUp={onSetUp} />
      ))}
    </ul>
  );
}

function ServerRow({ server, settings, onChange, onSetUp }: { server: LocalServer; settings: Settings; onChange: (settings: Settings) => void; onSetUp: (provider: string) => void }): ReactNode {
  const { t } = useTranslation('settings');
  const f = useFormat();
  const errorText = useErrorText();
  const client = useClient();
  const toast = useToasts();
  const [busy, setBusy] = useState(false);
  const has = settings.providers.find(({ id, baseUrl }) => id === server.provider || baseUrl === server.baseUrl);
  const add = (): void => {
    setBusy(true);
    client.settings
      .saveProvider({ name: server.name, baseUrl: server.baseUrl, defaultModel: server.models[0]?.id ?? null })
      .then(
        (next) => {
          onChange(next);
          toast({ title: t('toast.saved', { name: server.name }), kind: 'good' });
        },
        (error: unknown) => toast({ title: errorText(error), kind: 'bad' }),
      )
      .finally(() => setBusy(false));
  };
  const shown = server.models.slice(0, SHOWN_MODELS).map(({ id, contextLength }) => (contextLength === null ? id : `${id} (${f.compact(contextLength)})`));
  const more = server.models.length - shown.length;
  const models = server.needsKey ? t('local.needsKey') : shown.length === 0 ? t('local.noModels') : [...shown, ...(more > 0 ? [t('local.more', { count: more })] : [])].join(' · ');
  return (
    <li className="flex min-h-11 items-center gap-3 border-line px-3.5 py-2 not-last:border-b">
      <div className="min-w-0 flex-1">
        <div className="flex items-center gap-2">
          <span className="truncate font-medium">{server.name}</span>
          {server.kind !== 'other' && <span className="num text-xs text-fg-3">{hostOf(server.baseUrl)}</span>}
          {has && <Chip tone="good">{t('local.has')}</Chip>}
        </div>
        <div title={server.models.map(({ id }) => id).join('\n')} className="truncate text-xs text-fg-3">
          {models}
        </div>
      </div>
      {has ? (
        <Button variant="ghost" aria-label={t('providers.edit', { name: has.name })} onClick={() => onSetUp(has.id)}>
          {t('local.setUp')}
        </Button>
      ) : (
        <Button icon={Plus} busy={busy} aria-label={t('local.addNamed', { name: server.name })} onClick={add}>
          {t('local.add')}
        </Button>
      )}
    </li>
  );
}
