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
