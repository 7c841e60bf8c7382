import { describe, expect, test } from 'vitest';
import { KeychainUnavailableError, systemKeychain } from './keychain.ts';
import { mainKeychain } from './utility-keychain.ts';

/** The outside: Electron's safeStorage, with a cipher that anybody can undo. */
function storage(backend: 'gnome_libsecret' | 'basic_text', available = true) {
  return {
    isAsyncEncryptionAvailable: () => Promise.resolve(available),
    getSelectedStorageBackend: () => backend,
    encryptStringAsync: (text: string) => Promise.resolve(Buffer.from(text).reverse()),
    decryptStringAsync: (data: Buffer) => Promise.resolve({ result: Buffer.from(data).reverse().toString('utf8'), shouldReEncrypt: false }),
  };
}

describe('systemKeychain', () => {
  test('gives back what it was given, in any script', async () => {
    const keychain = systemKeychain(storage('gnome_libsecret'), 'linux');
    const stored = await keychain.encrypt('sk-密钥');
    expect(stored).not.toContain('sk-');
    expect(await keychain.decrypt(stored)).toBe('sk-密钥');
  });

  // A key "encrypted" with the fixed password of basic_text would look safe and be readable by everybody.
  test('refuses the backend basic_text on Linux, whatever it is asked', async () => {
    const keychain = systemKeychain(storage('basic_text'), 'linux');
    await expect(keychain.check()).rejects.toThrow(KeychainUnavailableError);
    await expect(keychain.encrypt('sk')).rejects.toThrow(KeychainUnavailableError);
    await expect(keychain.decrypt('a3M=')).rejects.toThrow(/GNOME Keyring or KWallet/);
  });

  test('refuses where the system has no encryption at all', async () => {
    await expect(systemKeychain(storage('gnome_libsecret', false), 'darwin').encrypt('sk')).rejects.toThrow(KeychainUnavailableError);
  });
});

describe('mainKeychain', () => {
  // Answers come back in any order: one must not get the other's key.
  test('matches answers to questions by their number', async () => {
    const asked: { id: number; text: string }[] = [];
    const keychain = mainKeychain((message) => {
      if (message.type === 'keychain') asked.push({ id: message.id, text: message.text });
    });
    const both = Promise.all([keychain.encrypt('one'), keychain.decrypt('two')]);
    for (const { id, text } of asked.reverse()) keychain.receive({ type: 'keychain', id, ok: true, value: `${text}!` });
    expect(await both).toEqual(['one!', 'two!']);
  });

  test('knows whether the keychain will do', async () => {
    const keychain = mainKeychain((message) => {
      if (message.type === 'keychain') keychain.receive({ type: 'keychain', id: message.id, ok: true, value: '' });
    });
    await expect(keychain.check()).resolves.toBeUndefined();
  });

  test('passes on why main refused', async () => {
    const keychain = mainKeychain((message) => {
      if (message.type === 'keychain') keychain.receive({ type: 'keychain', id: message.id, ok: false, message: 'No keyring is running.' });
    });
    await expect(keychain.encrypt('x')).rejects.toThrow('No keyring is running.');
  });
});
