import type { MemorySettings } from '#shared/contract/memory.ts';
import type { ConfigChange, ConfigValues } from '../store/config.ts';

const KEYS = {
  enabled: 'enabled',
  memoryLimit: 'memory_char_limit',
  userLimit: 'user_char_limit',
  refreshIdleMinutes: 'refresh_idle_minutes',
} as const satisfies Record<keyof MemorySettings, keyof ConfigValues['memory']>;

/** What config.yaml says under `memory:`, but for the interval of reviews. */
export function settingsOf({ memory }: Pick<ConfigValues, 'memory'>): MemorySettings {
  return { enabled: memory.enabled, memoryLimit: memory.memory_char_limit, userLimit: memory.user_char_limit, refreshIdleMinutes: memory.refresh_idle_minutes };
}

/** The changes of config.yaml for what was chosen. */
export function changesOf(chosen: { [K in keyof MemorySettings]?: MemorySettings[K] | undefined }): ConfigChange[] {
  return (Object.keys(KEYS) as (keyof MemorySettings)[]).flatMap((name): ConfigChange[] => (chosen[name] === undefined ? [] : [[['memory', KEYS[name]], chosen[name]]]));
}
