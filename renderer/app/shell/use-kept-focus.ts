import { useEffect } from 'react';
import { COVER_SELECTOR } from '../../lib/commands.tsx';

/**
 * Keeps the focus in the page when what had it goes away (another screen, a dialog, a button that has done its work): it then
 * moves to the screen's `<main>`, so that keys and screen readers go on from there and not from the start of the page.
 */
export function useKeptFocus(): void {
  useEffect(() => {
    const watch = new MutationObserver(() => {
      if (document.activeElement !== document.body || document.querySelector(COVER_SELECTOR)) return;
      document.querySelector('main')?.focus({ preventScroll: true });
    });
    watch.observe(document.body, { childList: true, subtree: true });
    return () => watch.disconnect();
  }, []);
}
