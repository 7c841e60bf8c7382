import type { FromEngine, ToEngine } from './engine-messages.ts';
import type { CheckedKeychain } from './keychain.ts';

type Answer = Extract<ToEngine, { type: 'keychain' }>;

/** The engine's side of main's keychain: asks over the parent port, `receive` takes the answers. */
export function mainKeychain(send: (message: FromEngine) => void): CheckedKeychain & { receive(answer: Answer): void } {
  const pending = new Map<number, { resolve(value: string): void; reject(error: Error): void }>();
  let lastId = 0;
  const ask = (call: 'encrypt' | 'decrypt' | 'check', text: string): Promise<string> =>
    new Promise((resolve, reject) => {
      lastId += 1;
      pending.set(lastId, { resolve, reject });
      send({ type: 'keychain', id: lastId, call, text });
    });
  return {
    async check() {
      await ask('check', '');
    },
    encrypt: (text) => ask('encrypt', text),
    decrypt: (data) => ask('decrypt', data),
    receive(answer) {
      const waiting = pending.get(answer.id);
      pending.delete(answer.id);
      if (answer.ok) waiting?.resolve(answer.value);
      else waiting?.reject(new Error(answer.message));
    },
  };
}
