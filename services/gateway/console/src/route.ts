import { useMemo, useSyncExternalStore } from 'preact/compat';

/** The current view and its parameters, from the fragment of the address. */
export interface Route {
  name: string;
  query: URLSearchParams;
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return useMemo(() => routeOf(hash), [hash]);
}

export function currentRoute(): Route {
  return routeOf(location.hash);
}

export function addressOf(name: string, query = new URLSearchParams()): string {
  const text = query.toString();
  return `#/${name}${text && `?${text}`}`;
}

/** Replaces a view's parameters without adding a history entry. */
export function replaceQuery(name: string, query: URLSearchParams): void {
  location.replace(addressOf(name, query));
}

function subscribe(listener: () => void): () => void {
  addEventListener('hashchange', listener);
  return () => removeEventListener('hashchange', listener);
}

function routeOf(hash: string): Route {
  const [name = '', query] = hash.replace(/^#\/?/, '').split('?');
  return { name, query: new URLSearchParams(query) };
}
