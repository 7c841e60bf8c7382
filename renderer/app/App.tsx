import { CSPProvider } from '@base-ui/react/csp-provider';
import type { ToastManager } from '@base-ui/react/toast';
import type { i18n } from 'i18next';
import type { ReactNode } from 'react';
import { I18nextProvider } from 'react-i18next';
import { Router } from 'wouter';
import type { StoreApi } from 'zustand';
import type { Engine } from '../lib/client.ts';
import { CommandsProvider, type CommandRegistry } from '../lib/commands.tsx';
import { EngineProvider } from '../lib/engine-context.tsx';
import { useHashSearch, usePath } from '../lib/hash-location.ts';
import { ToastProvider } from '../ui/Toasts.tsx';
import { TooltipProvider } from '../ui/Tooltip.tsx';
import type { Prefs } from './prefs.ts';
import { PrefsProvider } from './prefs-context.tsx';
import { Shell } from './shell/Shell.tsx';

export interface AppProps {
  engine: Engine;
  words: i18n;
  prefs: StoreApi<Prefs>;
  commands: CommandRegistry;
  toasts: ToastManager<{ kind: 'info' | 'good' | 'bad' }>;
}

export function App({ engine, words, prefs, commands, toasts }: AppProps): ReactNode {
  return (
    <CSPProvider disableStyleElements>
      <I18nextProvider i18n={words}>
        <EngineProvider engine={engine}>
          <CommandsProvider registry={commands}>
            <TooltipProvider>
              <ToastProvider manager={toasts}>
                <PrefsProvider prefs={prefs}>
                  <Router hook={usePath} searchHook={useHashSearch} hrefs={usePath.hrefs}>
                    <Shell />
                  </Router>
                </PrefsProvider>
              </ToastProvider>
            </TooltipProvider>
          </CommandsProvider>
        </EngineProvider>
      </I18nextProvider>
    </CSPProvider>
  );
}
