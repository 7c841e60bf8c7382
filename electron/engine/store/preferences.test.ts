import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { preferencesSchema } from '#shared/contract/preferences.ts';
import { ConfigFile } from './config.ts';
import { PreferencesService } from './preferences.ts';
import { SettingsError } from './settings.ts';

// a preference that is shown, changed, and read from another place than it is written to
test('every preference comes back as it was set, numbers and switches as such, comments kept', () => {
  const home = mkdtempSync(join(tmpdir(), 'talaria-preferences-'));
  try {
    const file = join(home, 'config.yaml');
    writeFileSync(file, 'agent:\n  # long tasks\n  max_turns: 40\n');
    const service = new PreferencesService(new ConfigFile(file));
    expect(preferencesSchema.parse(service.get())).toMatchObject({ maxTurns: 40, compress: true, compressAt: 0.5, titles: true, saveTrajectories: false });
    const wanted = { maxTurns: 7, reasoningEffort: 'high', compress: false, compressAt: 0.7, workspace: home, titles: false, saveTrajectories: true, checkpoints: false, notify: false, keepInTray: false } as const;
    expect(service.update(wanted)).toEqual(wanted);
    expect(new PreferencesService(new ConfigFile(file)).get()).toEqual(wanted);
    expect(readFileSync(file, 'utf8')).toMatch(/# long tasks\n {2}max_turns: 7\n/);
    expect(service.update({ reasoningEffort: null, workspace: ' ' })).toMatchObject({ reasoningEffort: null, workspace: null, maxTurns: 7 });
    expect(() => service.update({ workspace: 'relative/folder' })).toThrow(SettingsError);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
