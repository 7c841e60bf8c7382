import { createContext, use, useCallback, type ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useStore, type StoreApi } from 'zustand';
import { useClient, useLoad } from '../lib/engine-context.tsx';
import { errorText } from '../lib/errors.ts';
import { useToasts } from '../ui/Toasts.tsx';
import type { Prefs } from './prefs.ts';
import { useEffect } from 'react';

const PrefsContext = createContext<StoreApi<Prefs> | null>(null);

export function PrefsProvider({ prefs, children }: { prefs: StoreApi<Prefs>; children: ReactNode }): ReactNode {
  return (
    <PrefsContext value={prefs}>
      <FromEngine prefs={prefs} />
      {children}
    </PrefsContext>
  );
}

function FromEngine({ prefs }: { prefs: StoreApi<Prefs> }): ReactNode {
  const { data } = useLoad((client) => client.settings.get(), []);
  useEffect(() => {
    if (data) prefs.setState({ theme: data.theme, language: data.language });
  }, [data, prefs]);
  return null;
}

/** Theme and language, and a way to change them: at once in the page, then in the engine's config. */
export function usePrefs(): [Prefs, (change: Partial<Prefs>) => void] {
  const prefs = use(PrefsContext);
  if (!prefs) throw new Error('PrefsProvider is missing.');
  const client = useClient();
  const toast = useToasts();
  const { t } = useTranslation('app');
  const change = useCallback(
    (next: Partial<Prefs>) => {
      const before = prefs.getState();
      prefs.setState(next);
      client.settings.update(next).catch((error: unknown) => {
        prefs.setState(before);
        toast({ title: errorText(error, t), kind: 'bad' });
      });
    },
    [prefs, client, toast, t],
  );
  return [useStore(prefs), change];
}
