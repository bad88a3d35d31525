import { unavailable } from '@taskmesh/errors';
import type { IdentitySigner } from '@taskmesh/identity';
import { authInternal, createBackupWorkClient, createInternalClient, tasksInternal } from '@taskmesh/internal-api';
import type { SubgraphRequest } from '@taskmesh/subgraph';
import type { Connections, RequestOptions } from './connections.ts';
import { createPool, postGraphQL } from './http-client.ts';
import { createOutsideClient } from './outside-client.ts';

const CALLER = 'gateway';
/** Internal calls are small and asked for again soon: a slow one is given up early. */
const INTERNAL_TIMEOUT_MS = 3_000;

/** Services by HTTP. `urls` are their origins, `signer` speaks for the gateway. */
export function connectHttp(options: {
  urls: { auth: string; tasks: string; backup: string };
  signer: IdentitySigner;
}): Connections {
  const { urls, signer } = options;
  const pools = {
    auth: createPool(new URL(urls.auth).origin),
    tasks: createPool(new URL(urls.tasks).origin),
    backup: createPool(new URL(urls.backup).origin),
  };
  const byName = new Map(Object.entries(pools));
  const outside = createOutsideClient();
  const internal = { signer, caller: CALLER, timeoutMs: INTERNAL_TIMEOUT_MS };

  const ask = async (service: string, request: SubgraphRequest, { call, ...rest }: RequestOptions) => {
    const pool = byName.get(service);
    if (!pool) throw unavailable(undefined, new Error(`There is no service "${service}".`));
    const token = await signer.tokenFor(call.identity, service);
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      'x-request-id': call.requestId,
    };
    if (call.traceparent) headers.traceparent = call.traceparent;
    return postGraphQL(pool, { path: '/graphql', headers, request, okOnly: true, ...rest });
  };

  return {
    async request(service, url, request, requestOptions) {
      return url === undefined ? ask(service, request, requestOptions) : outside.request(url, request, requestOptions);
    },
    auth: createInternalClient(authInternal, { pool: pools.auth, ...internal }),
    tasks: createInternalClient(tasksInternal, { pool: pools.tasks, ...internal }),
    backup: createBackupWorkClient({ pool: pools.backup, signer }),
    async probe(service, url) {
      if (url !== undefined) return outside.probe(url);
      const call = { identity: { role: 'service', name: CALLER } as const, requestId: 'probe' };
      const { errors } = await ask(service, { query: '{ __typename }' }, { call, idempotent: true });
      if (errors) throw unavailable(undefined, new Error(errors[0]?.message));
    },
    async close() {
      await Promise.all([...byName.values()].map((pool) => pool.destroy()));
      await outside.close();
    },
  };
}
