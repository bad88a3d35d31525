import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { openConnection, useConnections } from '../load/connections.ts';

export interface GatewayLoadOptions {
  url: string;
  query: string;
  /** The correct response, as JSON. */
  expected: string;
  connections: number;
}

/** Opens connections to a gateway. @throws unless the first response is correct and all others have the same length */
export function openGatewayConnections({ url, query, expected, connections }: GatewayLoadOptions) {
  const { origin, pathname } = new URL(url);
  const { data } = JSON.parse(expected) as { data: unknown };
  const isExpected = (response: { data?: unknown; errors?: unknown }) =>
    isDeepStrictEqual([response.data, response.errors], [data, undefined]);
  // Each request has another user, so that no gateway can use one fetch for two of them.
  const call = () => ({ request: `POST ${pathname}`, token: randomUUID(), body: { query }, expected: isExpected });
  const check = ({ length }: string, first: string) => {
    if (length !== first.length) throw new Error(`${url} returned ${length} characters instead of ${first.length}.`);
  };
  return useConnections(Array.from({ length: connections }, () => openConnection(origin, call, check)));
}
