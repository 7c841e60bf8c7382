import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConfigFile } from '../store/config.ts';
import { HomeError } from '../store/home.ts';
import { toContractError } from './errors.ts';

// Bug: a setting that cannot be saved is told as an internal error, without the reason.
test('a config.yaml that cannot be written says why, whoever wanted to write it', () => {
  const home = mkdtempSync(join(tmpdir(), 'talaria-errors-'));
  try {
    const file = join(home, 'config.yaml');
    writeFileSync(file, 'memory: [');
    let error: unknown = null;
    try {
      new ConfigFile(file).change([[['memory', 'enabled'], false]]);
    } catch (refused) {
      error = refused;
    }
    expect(toContractError(error)).toMatchObject({ code: 'UNAVAILABLE', defined: true, message: expect.stringMatching(/line 1.*Mend it first; nothing was changed/) as string });
    expect(toContractError(new HomeError('disk_full', 'The disk is full.'))).toMatchObject({ code: 'UNAVAILABLE', message: 'The disk is full.' });
    const unknown = new Error('a defect');
    expect(toContractError(unknown)).toBe(unknown);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
});
