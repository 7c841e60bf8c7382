import '../lib/zod-without-eval.ts';
import { Toast } from '@base-ui/react/toast';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { createEngine } from '../lib/client.ts';
import { createCommandRegistry } from '../lib/commands.tsx';
import { createI18n, resolveLanguage } from '../lib/i18n.ts';
import { browserTransport, desktopTransport, hostKind } from '../lib/transports.ts';
import { App } from './App.tsx';
import { applyPrefs, createPrefs } from './prefs.ts';
import './styles.css';

/** The page's composition root: everything it holds for its whole life is made here and passed in. */
async function start(): Promise<void> {
  const prefs = createPrefs();
  const words = await createI18n(resolveLanguage(prefs.getState().language, navigator.languages));
  applyPrefs(prefs, words, window);
  const engine = createEngine((events) =>
    hostKind(document) === 'desktop' ? desktopTransport(window, events) : browserTransport(window, events),
  );
  const commands = createCommandRegistry(/Mac|iPhone|iPad/.test(navigator.platform));
  const toasts = Toast.createToastManager<{ kind: 'info' | 'good' | 'bad' }>();
  const root = document.getElementById('root');
  if (!root) throw new Error('index.html has no #root.');
  createRoot(root).render(
    <StrictMode>
      <App engine={engine} words={words} prefs={prefs} commands={commands} toasts={toasts} />
    </StrictMode>,
  );
}

void start();
