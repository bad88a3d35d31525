import { unavailable } from '@taskmesh/contracts';
import type { IdentitySigner } from '@taskmesh/identity';
import {
  authInternal,
  authOperators,
  authSignIn,
  backupOperators,
  createBackupWorkClient,
  createInternalClient,
  createServicePool,
  createStreamPool,
  deadLettersInternal,
  tasksInternal,
  tasksOperators,
} from '@taskmesh/internal-api';
import { inSpan, type Clock, type Log } from '@taskmesh/service';
import type { SubgraphRequest } from '@taskmesh/subgraph';
import type { GatewayProcess } from '../config.ts';
import { REQUEST_TIMEOUT_MS, type Connections, type RequestOptions } from './connections.ts';
import { createExternalSubgraphClient, fetchSpan, postGraphQL } from './requests.ts';
import { createServiceClocks } from './service-clocks.ts';

const CALLER = 'gateway';
/** Internal calls have their own connections, so that they never wait behind clients' requests. */
const INTERNAL_CONNECTIONS = 32;

export interface HttpConnectionOptions {
  /** The services' origins. */
  urls: GatewayProcess['urls'];
  /** Signs the gateway's identity tokens. */
  signer: IdentitySigner;
  clock: Clock;
  log: Log;
}

/** Connects to services over HTTP. */
export function connectHttp({ urls, signer, clock, log }: HttpConnectionOptions): Connections {
  const clocks = createServiceClocks({ clock, log });
  const byName = new Map(Object.entries(urls).map(([name, url]) => [name, createServicePool(url)]));
  const few = { connections: INTERNAL_CONNECTIONS };
  const internal = {
    auth: clocks.watch('auth', createServicePool(urls.auth, few)),
    // A slow provider must not delay other internal calls.
    signIn: createServicePool(urls.auth, few),
    tasks: clocks.watch('tasks', createServicePool(urls.tasks, few)),
    backup: clocks.watch('backup', createServicePool(urls.backup, few)),
    backupWork: createStreamPool(urls.backup, few),
  };
  const outside = createExternalSubgraphClient();

  const post = async (service: string, request: SubgraphRequest, options: RequestOptions, traceparent?: string) => {
    const { call, idempotent, signal, timeoutMs = REQUEST_TIMEOUT_MS } = options;
    const pool = byName.get(service);
    if (!pool) throw unavailable(undefined, new Error(`There is no service "${service}".`));
    const token = await signer.tokenFor(call.identity, service);
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      'x-request-id': call.requestId,
    };
    if (traceparent) headers.traceparent = traceparent;
    return postGraphQL(pool, { path: '/graphql', headers, request, isOurs: true, idempotent, signal, timeoutMs });
  };
  const ask = (service: string, request: SubgraphRequest, asked: RequestOptions) =>
    inSpan(
      () => fetchSpan(service),
      (span) => post(service, request, asked, span?.traceparent ?? asked.call.traceparent),
    );

  return {
    async request(service, url, request, asked) {
      return url === undefined ? ask(service, request, asked) : outside.request(service, url, request, asked);
    },
    auth: createInternalClient(authInternal, { pool: internal.auth, signer }),
    signIn: createInternalClient(authSignIn, { pool: internal.signIn, signer }),
    tasks: createInternalClient(tasksInternal, { pool: internal.tasks, signer }),
    backup: createBackupWorkClient({ pool: internal.backupWork, signer }),
    deadLetters: createInternalClient(deadLettersInternal, { pool: internal.tasks, signer }),
    status: {
      auth: createInternalClient(authOperators, { pool: internal.auth, signer }),
      tasks: createInternalClient(tasksOperators, { pool: internal.tasks, signer }),
      backup: createInternalClient(backupOperators, { pool: internal.backup, signer }),
    },
    aheadSeconds: clocks.aheadSeconds,
    async probe(service, url) {
      if (url !== undefined) return outside.probe(url);
      const call = { identity: { role: 'service', name: CALLER } as const, requestId: 'probe' };
      const { errors } = await post(service, { query: '{ __typename }' }, { call, idempotent: true });
      if (errors) throw unavailable(undefined, new Error(errors[0]?.message));
    },
    async close() {
      await Promise.all([...byName.values(), ...Object.values(internal)].map((pool) => pool.destroy()));
      await outside.close();
    },
  };
}
