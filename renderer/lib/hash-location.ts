import { useCallback, useSyncExternalStore } from 'react';

/** The place inside the page lives in the hash, query included: `#/library?run=ID` works under app:// and over HTTP alike. */

function subscribe(onChange: () => void): () => void {
  window.addEventListener('hashchange', onChange);
  window.addEventListener('popstate', onChange);
  return () => {
    window.removeEventListener('hashchange', onChange);
    window.removeEventListener('popstate', onChange);
  };
}

/** Splits a hash into path and query. Pure. */
export function splitHash(hash: string): { path: string; search: string } {
  const text = hash.replace(/^#?\/?/, '');
  const at = text.indexOf('?');
  return at === -1 ? { path: `/${text}`, search: '' } : { path: `/${text.slice(0, at)}`, search: text.slice(at + 1) };
}

/** Goes to a path ("/library?run=x"). @param options.replace no new entry in the history */
export function navigate(to: string, options: { replace?: boolean } = {}): void {
  const url = `#/${to.replace(/^#?\/?/, '')}`;
  if (url === window.location.hash) return;
  if (options.replace) window.history.replaceState(null, '', url);
  else window.history.pushState(null, '', url);
  window.dispatchEvent(new PopStateEvent('popstate'));
}

export function usePath(): [string, typeof navigate] {
  const path = useSyncExternalStore(subscribe, () => splitHash(window.location.hash).path);
  return [path, navigate];
}
usePath.hrefs = (href: string): string => `#${href}`;

export function useHashSearch(): string {
  return useSyncExternalStore(subscribe, () => splitHash(window.location.hash).search);
}

/** The query of the place, and a way to change parts of it (null removes). Changes replace the history entry. */
export function useQuery(): [URLSearchParams, (changes: Record<string, string | null>) => void] {
  const search = useHashSearch();
  const change = useCallback((changes: Record<string, string | null>) => {
    const { path, search: now } = splitHash(window.location.hash);
    const query = new URLSearchParams(now);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === '') query.delete(name);
      else query.set(name, value);
    }
    const text = query.toString();
    navigate(text ? `${path}?${text}` : path, { replace: true });
  }, []);
  return [new URLSearchParams(search), change];
}
