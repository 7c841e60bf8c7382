import { Folder, Terminal, X } from 'lucide-react';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Allowed, SandboxInfo, ToolSettings, ToolSettingsInput } from '#shared/contract/tools.ts';
import { useClient, useLoad } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { IconButton } from '../../ui/Button.tsx';
import { ErrorState, Skeleton } from '../../ui/Feedback.tsx';
import { Segmented } from '../../ui/Select.tsx';
import { Switch } from '../../ui/Switch.tsx';
import { useToasts } from '../../ui/Toasts.tsx';
import { SettingRow } from './SettingRow.tsx';

/** Where commands of new chats run, whether dangerous ones ask, and what was allowed for good. */
export function ToolsSafety({
  settings,
  sandboxes,
  onChange,
}: {
  settings: ToolSettings;
  sandboxes: readonly SandboxInfo[];
  onChange: (settings: ToolSettings) => void;
}): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const put = (change: ToolSettingsInput): void => {
    client.tools.configure(change).then(onChange, (error: unknown) => toast({ title: errorText(error), kind: 'bad' }));
  };
  const missing = sandboxes.find(({ kind }) => kind === settings.sandbox)?.missing ?? null;
  const other = sandboxes.find((one) => one.kind === 'bubblewrap' && one.missing !== null && settings.sandbox !== 'bubblewrap');
  return (
    <section aria-labelledby="safety">
      <h2 id="safety" className="mb-2 text-lg font-semibold">
        {t('safety.title')}
      </h2>
      <div className="rounded-l border border-line bg-raised">
        <SettingRow
          label={t('safety.sandbox')}
          hint={missing !== null ? <span className="text-warn">{missing}</span> : t(`safety.about.${settings.sandbox}`) + (other?.missing ? ` ${other.missing}` : '')}
        >
          <Segmented
            label={t('safety.sandbox')}
            value={settings.sandbox}
            onChange={(sandbox) => put({ sandbox })}
            options={(['host', 'bubblewrap'] as const).map((value) => ({ value, label: t(`safety.kind.${value}`) }))}
          />
        </SettingRow>
        {settings.sandbox === 'bubblewrap' && (
          <SettingRow label={t('safety.network')}>
            <Switch checked={settings.network} onChange={(network) => put({ network })} label={t('safety.network')} />
          </SettingRow>
        )}
        <SettingRow label={t('safety.ask')} hint={settings.approvals === 'off' ? <span className="text-warn">{t('safety.askOff')}</span> : t('safety.askHint')}>
          <Switch checked={settings.approvals === 'manual'} onChange={(on) => put({ approvals: on ? 'manual' : 'off' })} label={t('safety.ask')} />
        </SettingRow>
        <AllowedForGood />
      </div>
    </section>
  );
}

function AllowedForGood(): ReactNode {
  const { t } = useTranslation(['settings', 'app']);
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const allowed = useLoad((c) => c.tools.allowed(), []);
  const failed = (error: unknown): void => void toast({ title: errorText(error), kind: 'bad' });
  /** Folders in the page's language; for commands the engine's words. */
  const inWords = ({ key, description }: Allowed): string => {
    const [, kind, folder] = /^(read|write):(.+)$/s.exec(key) ?? [];
    return kind === undefined ? description : t(kind === 'read' ? 'safety.read' : 'safety.write', { folder });
  };
  const revoke = (one: Allowed): void => {
    client.tools.revoke({ key: one.key }).then((next) => {
      allowed.set(next);
      toast({
        title: t('safety.revoked'),
        description: inWords(one),
        action: { label: t('app:action.undo'), run: () => void client.tools.allow({ key: one.key }).then(allowed.set, failed) },
      });
    }, failed);
  };
  return (
    <div className="px-3.5 py-2">
      <h3 className="text-fg-2">{t('safety.allowed')}</h3>
      {allowed.error ? (
        <ErrorState error={allowed.error} onRetry={allowed.reload} />
      ) : !allowed.data ? (
        <Skeleton className="h-6" />
      ) : allowed.data.items.length === 0 ? (
        <p className="text-xs text-fg-3">{t('safety.nothing')}</p>
      ) : (
        <ul className="mt-1">
          {allowed.data.items.map((one) => {
            const Icon = one.what === 'command' ? Terminal : Folder;
            const words = inWords(one);
            return (
              <li key={one.key} className="flex min-h-[30px] items-center gap-2">
                <Icon className="size-3.5 shrink-0 text-fg-3" aria-hidden="true" />
                <span title={one.key} className="min-w-0 flex-1 truncate text-sm">
                  {words}
                </span>
                <IconButton icon={X} size="sm" label={t('safety.revoke', { what: words })} onClick={() => revoke(one)} />
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}
