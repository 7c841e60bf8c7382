/** Encrypts keys with the system's keychain; only the desktop has one. Text in, opaque base64 out. */
export interface Keychain {
  encrypt(text: string): Promise<string>;
  decrypt(data: string): Promise<string>;
}

/** Where the program says what happens; never given secrets. */
export interface Logger {
  info(message: string): void;
  error(message: string, error?: unknown): void;
}

export type HostKind = 'desktop' | 'browser' | 'cli';
