/**
 * The token that the address was opened with, behind `#/operations?token=`. It is taken out of the address at once, so that it
 * stays in no history, no bookmark and no picture of the screen.
 */
export function takeToken(): string | undefined {
  const [path = '', query] = location.hash.split('?');
  const token = new URLSearchParams(query).get('token');
  if (token === null) return undefined;
  history.replaceState(history.state, '', path);
  return token || undefined;
}
