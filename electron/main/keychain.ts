import type { SafeStorage } from 'electron';
import type { Keychain } from '#engine/store/types.ts';

/** A keychain that can be asked beforehand whether it will do. */
export interface CheckedKeychain extends Keychain {
  /** @throws KeychainUnavailableError when keys cannot be kept safely; the message says why. */
  check(): Promise<void>;
}

type Storage = Pick<SafeStorage, 'isAsyncEncryptionAvailable' | 'encryptStringAsync' | 'decryptStringAsync' | 'getSelectedStorageBackend'>;

/** The system has no place where a key would be safe. */
export class KeychainUnavailableError extends Error {
  readonly code = 'KEYCHAIN_UNAVAILABLE';
}

/**
 * Encrypts keys with the system's keychain.
 * @throws {KeychainUnavailableError} from every call where there is none; on Linux also when Chromium would fall back to
 *   `basic_text`, which hides a key behind a password that is public
 */
export function systemKeychain(storage: Storage, platform: NodeJS.Platform): CheckedKeychain {
  const requireSafe = async (): Promise<void> => {
    if (!(await storage.isAsyncEncryptionAvailable())) {
      throw new KeychainUnavailableError('This system has no keychain that can be used, so keys are not kept in one.');
    }
    if (platform === 'linux' && storage.getSelectedStorageBackend() === 'basic_text') {
      throw new KeychainUnavailableError(
        'No keyring is running, so keys are not kept in one. Start GNOME Keyring or KWallet before Talaria to change that.',
      );
    }
  };
  return {
    check: requireSafe,
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
