import { useMemo, useSyncExternalStore } from 'preact/compat';

/** Where somebody is: the name of a view, and what it was told, as the address's fragment has it. */
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

/** Where a view is, with what it is told. */
export function addressOf(name: string, query = new URLSearchParams()): string {
  const text = query.toString();
  return `#/${name}${text && `?${text}`}`;
}

/** Tells the view something else, without a step in the history. */
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
