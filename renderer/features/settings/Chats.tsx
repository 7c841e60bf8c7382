import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Preferences } from '#shared/contract/preferences.ts';
import { REASONING_EFFORTS } from '#shared/contract/runs.ts';
import { hostKind } from '../../lib/transports.ts';
import { ErrorState, Skeleton } from '../../ui/Feedback.tsx';
import { Select } from '../../ui/Select.tsx';
import { Switch } from '../../ui/Switch.tsx';
import { SavedText } from './SavedText.tsx';
import { SettingRow, SettingsSection } from './SettingRow.tsx';
import { useSettings } from './use-settings.ts';

const SWITCHES = ['compress', 'titles', 'checkpoints', 'saveTrajectories', 'notify', 'keepInTray'] as const satisfies readonly (keyof Preferences)[];

/** How chats behave. Changes are saved as they are made. */
export function Chats(): ReactNode {
  const { t } = useTranslation('settings');
  const { data: p, error, reload, update } = useSettings<Preferences>((c) => c.preferences.get(), (c, change) => c.preferences.update(change));
  return (
    <SettingsSection id="chats" title={t('chats.title')} about={t('chats.about')}>
      {p ? (
        <div className="rounded-l border border-line bg-raised">
          <SettingRow label={t('chats.maxTurns')} hint={t('chats.maxTurnsHint')}>
            <SavedText label={t('chats.maxTurns')} value={String(p.maxTurns)} width="w-20" kind="digits" onSave={(text) => update({ maxTurns: Math.min(1000, Math.max(1, Number(text))) })} />
          </SettingRow>
          <SettingRow label={t('chats.effort')}>
            <Select
              label={t('chats.effort')}
              className="w-40"
              value={p.reasoningEffort ?? 'model'}
              onChange={(value) => update({ reasoningEffort: value === 'model' ? null : value })}
              options={[{ value: 'model', label: t('chats.effortModel') }, ...REASONING_EFFORTS.map((value) => ({ value, label: value }))]}
            />
          </SettingRow>
          <SettingRow label={t('chats.workspace')} hint={t('chats.workspaceHint')}>
            <SavedText label={t('chats.workspace')} value={p.workspace ?? ''} placeholder={t('chats.workspaceOwn')} onSave={(text) => update({ workspace: text })} />
          </SettingRow>
          {SWITCHES.filter((name) => name !== 'keepInTray' || hostKind(document) === 'desktop').map((name) => (
            <SettingRow key={name} label={t(`chats.${name}`)} hint={t(`chats.${name}Hint`)}>
              <span className="flex items-center gap-3">
                {name === 'compress' && p.compress && (
                  <span className="flex items-center gap-1.5 text-sm text-fg-3">
                    <SavedText label={t('chats.compressAt')} width="w-14" kind="digits" value={String(Math.round(p.compressAt * 100))} onSave={(text) => update({ compressAt: Math.min(95, Math.max(5, Number(text))) / 100 })} />%
                  </span>
                )}
                <Switch checked={p[name]} onChange={(on) => update({ [name]: on })} label={t(`chats.${name}`)} />
              </span>
            </SettingRow>
          ))}
        </div>
      ) : error ? (
        <ErrorState error={error} onRetry={reload} />
      ) : (
        <Skeleton className="h-72 rounded-l" />
      )}
    </SettingsSection>
  );
}
