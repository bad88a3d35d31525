/** Sends this many different wrong operator tokens, and returns the statuses. */
export function guess(
  origin: string,
  count: number,
  { path = '/api/operations/status', headers = {} }: { path?: string; headers?: Record<string, string> } = {},
): Promise<number[]> {
  const tries = Array.from({ length: count }, async (_, index) => {
    const authorization = `Bearer wrong-${index}`;
    return (await fetch(`${origin}${path}`, { headers: { ...headers, authorization } })).status;
  });
  return Promise.all(tries);
}
