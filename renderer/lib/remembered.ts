import { useCallback, useState } from 'react';

/** Storage that may be missing or full: the page works without it. */
export function readRemembered(key: string): string | null {
  try {
    return window.localStorage.getItem(`talaria.${key}`);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string): void {
  try {
    window.localStorage.setItem(`talaria.${key}`, value);
  } catch {
    // Not kept: only comfort is lost.
  }
}

/** A small piece of view state (an open panel, a sort order) that survives the page. Never for content. */
export function useRemembered<T extends string>(key: string, initial: T, allowed: readonly T[]): [T, (value: T) => void] {
  const [value, setValue] = useState<T>(() => {
    const kept = readRemembered(key);
    return allowed.find((a) => a === kept) ?? initial;
  });
  const set = useCallback(
    (next: T) => {
      setValue(next);
      remember(key, next);
    },
    [key],
  );
  return [value, set];
}
