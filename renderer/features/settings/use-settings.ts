import type { Client } from '#shared/contract/index.ts';
import { type Loaded, useClient, useLoad } from '../../lib/engine-context.tsx';
import { useErrorText } from '../../lib/errors.ts';
import { useToasts } from '../../ui/Toasts.tsx';

/**
 * Settings that are saved as they are changed. What cannot be saved is said, and what holds is read again.
 * @param save of the fields that change; resolves with all of them as they are now
 */
export function useSettings<T>(read: (client: Client) => Promise<T>, save: (client: Client, change: Partial<T>) => Promise<T>): Loaded<T> & { update: (change: Partial<T>) => void } {
  const client = useClient();
  const toast = useToasts();
  const errorText = useErrorText();
  const settings = useLoad(read, []);
  const update = (change: Partial<T>): void => {
    save(client, change).then(settings.set, (error: unknown) => {
      settings.reload();
      toast({ title: errorText(error), kind: 'bad' });
    });
  };
  return { ...settings, update };
}
