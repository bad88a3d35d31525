const TIMEOUT_MS = 5_000;
const UNAUTHENTICATED = 401;

/** Which behaviour to expect: a `public` service must be ready, an `inner` one must refuse callers without a token. */
export type Side = 'public' | 'inner';

/** @throws Error with a sentence when the service behaves differently */
export async function smoke(side: Side, url: string): Promise<void> {
  const path = side === 'public' ? '/readyz' : '/graphql';
  const expected = side === 'public' ? 200 : UNAUTHENTICATED;
  const { status } = await fetch(`${url}${path}`, {
    ...(side === 'inner' && {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: '{ __typename }' }),
    }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  if (status !== expected) throw new Error(`${path} responded with ${status} instead of ${expected}.`);
}
