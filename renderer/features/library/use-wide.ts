import { useCallback, useSyncExternalStore } from 'react';

/** Whether the window is at least so wide, in CSS pixels (so that zoom counts). */
export function useWide(minPx: number): boolean {
  const query = `(min-width: ${minPx}px)`;
  const subscribe = useCallback(
    (onChange: () => void) => {
      const media = window.matchMedia(query);
      media.addEventListener('change', onChange);
      return () => media.removeEventListener('change', onChange);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}
