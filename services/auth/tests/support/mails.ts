/** The token that is alone on a line of a mail. */
export function tokenIn(text: string | undefined): string {
  const [token, ...more] = (text ?? '').split('\n').filter((line) => /^[\w-]{43}$/.test(line));
  if (!token || more.length > 0) throw new Error(`No single token alone on a line in:\n${text}`);
  return token;
}
