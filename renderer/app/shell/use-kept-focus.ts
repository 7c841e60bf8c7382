import { useEffect, type RefObject } from 'react';
import { COVER_SELECTOR } from '../../lib/commands.tsx';

/**
 * Keeps the focus in the page when what had it goes away (another screen, a button that has done its work): it then moves to
 * the screen, so that keys and screen readers go on from there and not from the start of the page.
 * @param root what holds the screens; the screen is its `<main>`
 */
export function useKeptFocus(root: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const place = root.current;
    if (!place) return;
    const watch = new MutationObserver(() => {
      if (document.activeElement !== document.body || document.querySelector(COVER_SELECTOR)) return;
      place.querySelector('main')?.focus({ preventScroll: true });
    });
    watch.observe(place, { childList: true, subtree: true });
    return () => watch.disconnect();
  }, [root]);
}
