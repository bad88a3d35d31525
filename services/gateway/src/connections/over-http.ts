import { unavailable } from '@taskmesh/contracts';
import { CLOCK_SKEW_S, type IdentitySigner } from '@taskmesh/identity';
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
  type ServicePool,
} from '@taskmesh/internal-api';
import { createFailureLog, inSpan, type Clock, type Log } from '@taskmesh/service';
import type { SubgraphRequest } from '@taskmesh/subgraph';
import type { GatewayProcess } from '../config.ts';
import { REQUEST_TIMEOUT_MS, type Connections, type RequestOptions } from './connections.ts';
import { createExternalSubgraphClient, fetchSpan, postGraphQL } from './requests.ts';

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
  // Logins may wait for seconds until their passwords are hashed, and there may be many.
  const strangers = createServicePool(urls.auth);
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
    const { call, timeoutMs = REQUEST_TIMEOUT_MS, ...more } = options;
    const pool = service === 'auth' && call.identity.role === 'anonymous' ? strangers : byName.get(service);
    if (!pool) throw unavailable(undefined, new Error(`There is no service "${service}".`));
    const token = await signer.tokenFor(call.identity, service);
    const headers: Record<string, string> = {
      'content-type': 'application/json',
      authorization: `Bearer ${token}`,
      'x-request-id': call.requestId,
    };
    if (traceparent) headers.traceparent = traceparent;
    return postGraphQL(pool, { path: '/graphql', headers, isOurs: true, request, timeoutMs, ...more });
  };
  const send = (service: string, request: SubgraphRequest, options: RequestOptions) =>
    inSpan(
      () => fetchSpan(service),
      (span) => post(service, request, options, span?.traceparent ?? options.call.traceparent),
    );

  return {
    async request(service, url, request, options) {
      return url === undefined ? send(service, request, options) : outside.request(service, url, request, options);
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
      await Promise.all([...byName.values(), strangers, ...Object.values(internal)].map((pool) => pool.destroy()));
      await outside.close();
    },
  };
}

/** The `Date` of a response has whole seconds. */
const RESOLUTION_MS = 1_000;

/** Logs clocks that differ by more than the tolerance, beyond which tokens are refused; each at most once a minute. */
function createServiceClocks({ clock, log }: { clock: Clock; log: Log }) {
  const differences = new Map<string, number>();

  const watcherOf = (service: string) => {
    const problem = createFailureLog(() =>
      log.warn(
        { peer: service, aheadSeconds: differences.get(service) },
        'the clock of a service is wrong, or this one is',
      ),
    );
    return (aheadSeconds: number) => {
      differences.set(service, aheadSeconds);
      if (aheadSeconds === 0) problem.succeeded();
      else problem.failed(new Error('different'));
    };
  };

  return {
    /** Compares the service's clock with this gateway's at each response. */
    watch(service: string, { post, ...pool }: ServicePool): ServicePool {
      const note = watcherOf(service);
      return {
        ...pool,
        async post(request) {
          const [sentAt, begun] = [clock.now(), performance.now()];
          const response = await post(request);
          const dateMs = Date.parse(response.date ?? '');
          if (!Number.isNaN(dateMs)) note(outOfTolerance(dateMs, sentAt, performance.now() - begun));
          return response;
        },
      };
    },
    aheadSeconds: (service: string) => differences.get(service) ?? 0,
  };
}

/** Seconds that the service's clock is ahead; 0 within the tolerance. The service set `Date` at some time while the gateway waited. */
function outOfTolerance(dateMs: number, sentAtMs: number, waitedMs: number): number {
  const aheadMs = Math.max(0, dateMs - (sentAtMs + waitedMs)) || Math.min(0, dateMs + RESOLUTION_MS - sentAtMs);
  return Math.abs(aheadMs) > CLOCK_SKEW_S * 1_000 ? Math.round(aheadMs / 1_000) : 0;
}
