import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { MAX_REFRESH_MINUTES, MEMORY_LIMIT_CHARS, type MemorySettings as Settings } from '#shared/contract/memory.ts';
import { ErrorState, Skeleton } from '../../ui/Feedback.tsx';
import { Switch } from '../../ui/Switch.tsx';
import { SavedText } from '../settings/SavedText.tsx';
import { SettingRow } from '../settings/SettingRow.tsx';
import { useSettings } from '../settings/use-settings.ts';

const NUMBERS: readonly (readonly [name: 'memoryLimit' | 'userLimit' | 'refreshIdleMinutes', min: number, max: number])[] = [
  ['memoryLimit', MEMORY_LIMIT_CHARS.min, MEMORY_LIMIT_CHARS.max],
  ['userLimit', MEMORY_LIMIT_CHARS.min, MEMORY_LIMIT_CHARS.max],
  ['refreshIdleMinutes', 0, MAX_REFRESH_MINUTES],
];

/** Whether agents have a memory, how much of it prompts hold, and when a chat sees it anew. Changes are saved as they are made. */
export function MemorySettings(): ReactNode {
  const { t } = useTranslation('memory');
  const { data: s, error, reload, update } = useSettings<Settings>((c) => c.memory.settings(), (c, change) => c.memory.configure(change));
  if (!s) return error ? <ErrorState error={error} onRetry={reload} /> : <Skeleton className="h-44 rounded-l" />;
  return (
    <div className="rounded-l border border-line bg-raised">
      <SettingRow label={t('settings.enabled')} hint={t('settings.enabledHint')}>
        <Switch checked={s.enabled} onChange={(enabled) => update({ enabled })} label={t('settings.enabled')} />
      </SettingRow>
      {NUMBERS.map(([name, min, max]) => (
        <SettingRow key={name} label={t(`settings.${name}`)} hint={t(`settings.${name}Hint`)}>
          <SavedText label={t(`settings.${name}`)} value={String(s[name])} kind="digits" onSave={(text) => update({ [name]: Math.min(max, Math.max(min, Number(text) || 0)) })} />
        </SettingRow>
      ))}
    </div>
  );
}
