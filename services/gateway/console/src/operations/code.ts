/**
 * The code that the address was opened with, behind `#/operations?code=`. Whatever stands there is taken out of the address at
 * once: no bookmark and no picture of the screen has it, and the history that a browser keeps has a code that is used up.
 */
export function takeCode(): string | undefined {
  const [path = '', query] = location.hash.split('?');
  if (query === undefined) return undefined;
  history.replaceState(history.state, '', path);
  return new URLSearchParams(query).get('code') ?? undefined;
}
