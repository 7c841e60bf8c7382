import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { homePaths } from './home.ts';
import { Redactor } from './redact.ts';
import { KeyInEnvironmentError, Secrets } from './secrets.ts';
import type { Keychain } from './types.ts';

let home: string;
let logged: string[];
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'talaria-secrets-'));
  logged = [];
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

const NAME = { provider: 'openrouter', keyEnv: 'OPENROUTER_API_KEY' };
/** Stands for the system's keychain: reversible, and not readable by searching for the text. */
const keychain: Keychain = {
  encrypt: async (text) => Buffer.from(`locked:${text}`).toString('base64'),
  decrypt: async (data) => {
    const text = Buffer.from(data, 'base64').toString();
    if (!text.startsWith('locked:')) throw new Error('not ours');
    return text.slice('locked:'.length);
  },
};

function open(more: { env?: NodeJS.ProcessEnv; keychain?: Keychain } = {}): Secrets {
  const log = { info: (message: string) => logged.push(message), error: (message: string) => logged.push(message) };
  return new Secrets({ paths: homePaths(home), env: more.env ?? {}, keychain: more.keychain, redactor: new Redactor(), log });
}

describe('Secrets', () => {
  // Bug: an old key in a file goes before the one that the shell was given, or an empty variable hides the file's.
  it('takes the environment, then the keychain, then .env', async () => {
    writeFileSync(join(home, '.env'), 'OPENROUTER_API_KEY=from-file-1234\n');
    expect(open().source(NAME)).toBe('file');
    expect(await open({ env: { OPENROUTER_API_KEY: '' } }).get(NAME)).toBe('from-file-1234');
    await open({ keychain }).set(NAME, 'from-chain-1234');
    expect(await open({ keychain }).get(NAME)).toBe('from-chain-1234');
    expect(open({ keychain }).source(NAME)).toBe('keychain');
    const withEnv = open({ keychain, env: { OPENROUTER_API_KEY: 'from-env-1234' } });
    expect(withEnv.source(NAME)).toBe('env');
    expect(await withEnv.get(NAME)).toBe('from-env-1234');
    expect(open().source({ provider: 'none', keyEnv: null })).toBe('none');
  });

  // Bug: a key typed into Settings is lost at the next start, readable by others, or wipes the person's .env.
  it('keeps a typed key in .env for the owner only', async () => {
    writeFileSync(join(home, '.env'), '# mine\nOTHER=1\n', { mode: 0o644 });
    await open().set(NAME, '  sk-typed-12345678\n');
    expect(readFileSync(join(home, '.env'), 'utf8')).toBe('# mine\nOTHER=1\nOPENROUTER_API_KEY=sk-typed-12345678\n');
    if (process.platform !== 'win32') expect(statSync(join(home, '.env')).mode & 0o777).toBe(0o600);
    expect(await open().get(NAME)).toBe('sk-typed-12345678');
    expect(open().keyStore).toBe('file');
    open().forget(NAME);
    expect(readFileSync(join(home, '.env'), 'utf8')).toBe('# mine\nOTHER=1\n');
    expect(open().source(NAME)).toBe('none');
  });

  // Bug: with a keychain, the key still lands on disk in the clear.
  it('keeps a typed key encrypted where there is a keychain', async () => {
    const secrets = open({ keychain });
    await secrets.set(NAME, 'sk-typed-12345678');
    expect(secrets.keyStore).toBe('keychain');
    expect(existsSync(join(home, '.env'))).toBe(false);
    expect(readFileSync(join(home, 'keys.json'), 'utf8')).not.toContain('typed');
    if (process.platform !== 'win32') expect(statSync(join(home, 'keys.json')).mode & 0o777).toBe(0o600);
    expect(await open({ keychain }).get(NAME)).toBe('sk-typed-12345678');
    expect(await open().get(NAME)).toBeNull();
    secrets.forget(NAME);
    expect(await open({ keychain }).get(NAME)).toBeNull();
  });

  // Bug: Settings says "saved" although the environment's key stays in use.
  it('does not pretend to change a key of the environment', async () => {
    const secrets = open({ env: { OPENROUTER_API_KEY: 'from-env-1234' } });
    await expect(secrets.set(NAME, 'another-key')).rejects.toThrow(KeyInEnvironmentError);
    expect(() => secrets.forget(NAME)).toThrow('OPENROUTER_API_KEY');
    expect(existsSync(join(home, '.env'))).toBe(false);
  });

  // Bug: keys.json from another machine or a damaged one stops the program, or its content is logged.
  it('lives with keys that cannot be decrypted', async () => {
    writeFileSync(join(home, 'keys.json'), JSON.stringify({ openrouter: Buffer.from('foreign').toString('base64') }));
    expect(await open({ keychain }).get(NAME)).toBeNull();
    writeFileSync(join(home, 'keys.json'), '{"openrouter": "Zm9yZWln');
    expect(open({ keychain }).source(NAME)).toBe('none');
    expect(logged.join('\n')).toMatch(/openrouter[^]*damaged/);
    expect(logged.join('\n')).not.toContain('Zm9');
  });

  // Bug: one pasted line break writes a second variable.
  it('refuses what is no key', async () => {
    await expect(open().set(NAME, 'abc\nPATH=/evil')).rejects.toThrow(RangeError);
    await expect(open().set({ provider: 'x', keyEnv: null }, 'abcdefgh')).rejects.toThrow(RangeError);
  });

  // Bug: a key from .env shows in an error message before it was used once.
  it('redacts every key that it could give', async () => {
    writeFileSync(join(home, '.env'), 'OPENROUTER_API_KEY=file-key-1234\n');
    const secrets = open({ keychain, env: { OTHER_KEY: 'env-key-1234' } });
    expect(secrets.redact('401 for file-key-1234')).toBe('401 for [secret]');
    await secrets.get({ provider: 'other', keyEnv: 'OTHER_KEY' });
    await secrets.set({ provider: 'third', keyEnv: null }, 'chain-key-1234');
    expect(secrets.redact('env-key-1234 chain-key-1234')).toBe('[secret] [secret]');
  });
});
