import type { SafeStorage } from 'electron';
import type { Keychain } from '#engine/store/types.ts';

type Storage = Pick<SafeStorage, 'isAsyncEncryptionAvailable' | 'encryptStringAsync' | 'decryptStringAsync' | 'getSelectedStorageBackend'>;

/** The system has no place where a key would be safe. */
export class KeychainUnavailableError extends Error {
  readonly code = 'KEYCHAIN_UNAVAILABLE';
}

/**
 * Encrypts keys with the system's keychain.
 * @throws {KeychainUnavailableError} from both calls where there is none; on Linux also when Chromium would fall back to
 *   `basic_text`, which hides a key behind a password that is public
 */
export function systemKeychain(storage: Storage, platform: NodeJS.Platform): Keychain {
  const requireSafe = async (): Promise<void> => {
    if (!(await storage.isAsyncEncryptionAvailable())) {
      throw new KeychainUnavailableError('This system has no keychain that can be used. Give the key by an environment variable instead.');
    }
    if (platform === 'linux' && storage.getSelectedStorageBackend() === 'basic_text') {
      throw new KeychainUnavailableError(
        'No keyring is running, so a key could not be stored safely. Start GNOME Keyring or KWallet, or give the key by an environment variable.',
      );
    }
  };
  return {
    async encrypt(text) {
      await requireSafe();
      return (await storage.encryptStringAsync(text)).toString('base64');
    },
    async decrypt(data) {
      await requireSafe();
      return (await storage.decryptStringAsync(Buffer.from(data, 'base64'))).result;
    },
  };
}
