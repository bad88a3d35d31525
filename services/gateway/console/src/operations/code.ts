/**
 * The one-time code from the address, `#/operations?code=`. Removed from the address at once, so that it gets into no
 * bookmark or screenshot; in the browser's history it is used up.
 */
export function takeCode(): string | undefined {
  const [path = '', query] = location.hash.split('?');
  if (query === undefined) return undefined;
  history.replaceState(history.state, '', path);
  return new URLSearchParams(query).get('code') ?? undefined;
}
