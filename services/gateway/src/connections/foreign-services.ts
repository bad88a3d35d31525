import { createServicePool, type ServicePool } from '@taskmesh/internal-api';
import type { SubgraphResult } from '@taskmesh/subgraph';
import { inSpan } from '@taskmesh/service';
import { REQUEST_TIMEOUT_MS, type RequestOptions, type ServiceRequest } from './connections.ts';
import { fetchSpan } from './fetch-span.ts';
import { postGraphQL } from './post-graphql.ts';

/** It is parsed and merged at once, while all other requests wait. */
const MAX_RESPONSE_BYTES = 8 * 1024 * 1024;
const HEADERS = { 'content-type': 'application/json', accept: 'application/json' };

/** For services of a foreign graph: they are told neither identities nor any header of our clients. */
export function createExternalSubgraphClient() {
  const pools = new Map<string, ServicePool>();

  const poolOf = (origin: string): ServicePool => {
    const pool = pools.get(origin) ?? createServicePool(origin, { maxResponseSize: MAX_RESPONSE_BYTES });
    pools.set(origin, pool);
    return pool;
  };

  const post = (
    url: string,
    graphql: ServiceRequest,
    options: Omit<RequestOptions, 'call'>,
  ): Promise<SubgraphResult> => {
    const { origin, pathname, search } = new URL(url);
    const { idempotent, timeoutMs = REQUEST_TIMEOUT_MS, signal } = options;
    return postGraphQL(poolOf(origin), {
      path: pathname + search,
      headers: HEADERS,
      request: graphql,
      isOurs: false,
      idempotent,
      timeoutMs,
      signal,
    });
  };

  return {
    request: (service: string, ...asked: Parameters<typeof post>) =>
      inSpan(
        () => fetchSpan(service),
        () => post(...asked),
      ),
    async probe(url: string): Promise<void> {
      await post(url, { query: '{ __typename }' }, { idempotent: true });
    },
    async close(): Promise<void> {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
    },
  };
}
