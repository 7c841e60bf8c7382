import { readFileSync } from 'node:fs';
import writeFileAtomic from 'write-file-atomic';
import { z } from 'zod';
import { parseEnvFile, setInEnvFile } from './env-file.ts';
import { type HomePaths, homeError } from './home.ts';
import type { Redactor } from './redact.ts';
import type { Keychain, Logger } from './types.ts';

export type KeySource = 'none' | 'env' | 'file' | 'keychain';

/** Names a provider's key: its id, and the variable that holds it in the environment or in the home's .env. */
export interface KeyName {
  provider: string;
  keyEnv: string | null;
}

/** A key that the environment gives cannot be changed from inside. */
export class KeyInEnvironmentError extends Error {
  readonly variable: string;

  constructor(variable: string) {
    super(`This key comes from the environment variable ${variable}, which goes before any other. Change it there, or start Talaria without it.`);
    this.name = 'KeyInEnvironmentError';
    this.variable = variable;
  }
}

const keysFileSchema = z.record(z.string(), z.string());

/**
 * The keys of providers. Where one comes from, first match: the real environment, the keychain (encrypted in keys.json; only
 * where the host has one), the home's .env. A key that is set goes to the keychain, or without one to .env under the
 * provider's variable. Every key seen is made known to the redactor; none is ever logged.
 */
export class Secrets {
  readonly #paths: Pick<HomePaths, 'env' | 'keys'>;
  readonly #env: NodeJS.ProcessEnv;
  readonly #keychain: Keychain | null;
  readonly #redactor: Redactor;
  readonly #log: Logger;

  constructor(deps: { paths: Pick<HomePaths, 'env' | 'keys'>; env: NodeJS.ProcessEnv; keychain?: Keychain | undefined; redactor: Redactor; log: Logger }) {
    this.#paths = deps.paths;
    this.#env = deps.env;
    this.#keychain = deps.keychain ?? null;
    this.#redactor = deps.redactor;
    this.#log = deps.log;
    // What is in the environment and in .env is secret before anybody asks for it.
    this.#redactor.addVariables(Object.entries(deps.env));
    this.#readEnvFile();
  }

  /** Where keys that are set now will be kept. */
  get keyStore(): 'keychain' | 'file' {
    return this.#keychain ? 'keychain' : 'file';
  }

  /** Lines of .env that cannot be read, by number. */
  problems(): string[] {
    return this.#readEnvFile().problems.map((problem) => `.env ${problem}.`);
  }

  source(name: KeyName): KeySource {
    if (this.#fromEnvironment(name)) return 'env';
    if (this.#keychain && this.#readKeys()[name.provider] !== undefined) return 'keychain';
    return this.#fromFile(name) ? 'file' : 'none';
  }

  /** The key, or null when there is none. One that the keychain cannot decrypt counts as absent and is logged by provider. */
  async get(name: KeyName): Promise<string | null> {
    const key = this.#fromEnvironment(name) ?? (await this.#fromKeychain(name)) ?? this.#fromFile(name);
    if (key) this.#redactor.add(key);
    return key;
  }

  /**
   * Keeps `key` for the provider, replacing an earlier one. Throws KeyInEnvironmentError when the environment gives it,
   * RangeError when the key has line breaks or there is nowhere to keep it, HomeError when the file cannot be written.
   */
  async set(name: KeyName, key: string): Promise<void> {
    const clean = key.trim();
    if (clean === '' || /[\0-\x1f\x7f]/.test(clean)) throw new RangeError('A key is one line of text without control characters.');
    this.#refuseEnvironment(name);
    this.#redactor.add(clean);
    if (this.#keychain) {
      const data = await this.#keychain.encrypt(clean);
      this.#writeKeys({ ...this.#readKeys(), [name.provider]: data });
      return;
    }
    if (!name.keyEnv) throw new RangeError(`The provider "${name.provider}" has no variable to keep its key under.`);
    this.#writeEnvFile(setInEnvFile(this.#envText(), name.keyEnv, clean));
  }

  /** Removes the key from keys.json and .env. Throws KeyInEnvironmentError when the environment gives it. */
  forget(name: KeyName): void {
    this.#refuseEnvironment(name);
    const { [name.provider]: gone, ...rest } = this.#readKeys();
    if (gone !== undefined) this.#writeKeys(rest);
    if (this.#fromFile(name) !== null && name.keyEnv) this.#writeEnvFile(setInEnvFile(this.#envText(), name.keyEnv, null));
  }

  /** Makes a key known to the redactor that is used without being kept, such as one from a form or the command line. */
  protect(key: string): void {
    this.#redactor.add(key);
  }

  /** The text with every known key replaced. */
  redact(text: string): string {
    return this.#redactor.redact(text);
  }

  #fromEnvironment({ keyEnv }: KeyName): string | null {
    return (keyEnv && this.#env[keyEnv]?.trim()) || null;
  }

  #fromFile({ keyEnv }: KeyName): string | null {
    return (keyEnv && this.#readEnvFile().values.get(keyEnv)?.trim()) || null;
  }

  async #fromKeychain({ provider }: KeyName): Promise<string | null> {
    const data = this.#keychain ? this.#readKeys()[provider] : undefined;
    if (!this.#keychain || data === undefined) return null;
    try {
      return (await this.#keychain.decrypt(data)).trim() || null;
    } catch {
      this.#log.error(`The key of "${provider}" in keys.json cannot be decrypted on this machine; enter it again in Settings.`);
      return null;
    }
  }

  #refuseEnvironment(name: KeyName): void {
    if (name.keyEnv && this.#fromEnvironment(name)) throw new KeyInEnvironmentError(name.keyEnv);
  }

  #envText(): string {
    return readText(this.#paths.env) ?? '';
  }

  #readEnvFile(): ReturnType<typeof parseEnvFile> {
    const parsed = parseEnvFile(this.#envText());
    this.#redactor.addVariables(parsed.values);
    return parsed;
  }

  #writeEnvFile(text: string): void {
    writePrivate(this.#paths.env, text);
  }

  #readKeys(): Record<string, string> {
    const text = readText(this.#paths.keys);
    if (text === null) return {};
    try {
      return keysFileSchema.parse(JSON.parse(text));
    } catch {
      this.#log.error('keys.json is damaged and is ignored; enter the keys again in Settings.');
      return {};
    }
  }

  #writeKeys(keys: Record<string, string>): void {
    writePrivate(this.#paths.keys, `${JSON.stringify(keys, null, 2)}\n`);
  }
}

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw homeError(file, error);
  }
}

function writePrivate(file: string, text: string): void {
  try {
    writeFileAtomic.sync(file, text, { mode: 0o600 });
  } catch (error) {
    throw homeError(file, error);
  }
}
