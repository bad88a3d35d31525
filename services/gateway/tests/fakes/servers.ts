import {
  createIdentitySigner,
  createIdentityVerifier,
  createSigningKey,
  GATEWAY_ROLES,
  publicKeys,
  type IdentityVerifier,
} from '@taskmesh/identity';
import {
  authInternal,
  authOperators,
  authSignIn,
  backupOperators,
  deadLettersInternal,
  serveBackupWork,
  serveInternalApi,
  tasksInternal,
  tasksOperators,
  createSubgraphServer,
  type Subgraph,
} from '@taskmesh/internal-api';
import { bearerToken, startAll, systemClock, type Clock, type Log } from '@taskmesh/service';
import type { FastifyInstance } from 'fastify';
import { connectHttp } from '../../src/connections/over-http.ts';
import type { InProcessServices } from '../../src/connections/in-process.ts';
import type { OwnService } from './type-defs.ts';

type SubgraphServer = ReturnType<typeof createSubgraphServer>;

interface Shared {
  verifier: IdentityVerifier;
  log: Log;
}

/** Each service behind a server of its own, and the gateway's way to them, by the gateway's clock. */
export async function connectServers({ auth, tasks, backup }: InProcessServices, log: Log, clock: Clock) {
  const key = await createSigningKey('gateway-1');
  const keys = publicKeys({ keys: [key] });
  const verifierOf = (audience: string) =>
    createIdentityVerifier({ audience, keys, callers: { gateway: GATEWAY_ROLES }, clock: systemClock });
  const serve = (subgraph: Subgraph, routes: (app: FastifyInstance, shared: Shared) => void) => {
    const verifier = verifierOf(subgraph.name);
    const authenticate = (authorization?: string) => verifier.verify(bearerToken(authorization));
    const shared = { verifier, log };
    return createSubgraphServer({
      ...{ subgraph, host: '127.0.0.1', port: 0, authenticate, log },
      routes: (app) => routes(app, shared),
    });
  };
  const servers: Record<OwnService, SubgraphServer> = {
    auth: serve(auth.subgraph, (app, shared) => {
      serveInternalApi(app, authInternal, { implementation: auth.internal, ...shared });
      serveInternalApi(app, authSignIn, { implementation: auth.signIn, ...shared });
      serveInternalApi(app, authOperators, { implementation: auth.operators, ...shared });
    }),
    tasks: serve(tasks.subgraph, (app, shared) => {
      serveInternalApi(app, tasksInternal, { implementation: tasks.internal, ...shared });
      serveInternalApi(app, tasksOperators, { implementation: tasks.operators, ...shared });
      serveInternalApi(app, deadLettersInternal, { implementation: tasks.deadLetters, ...shared });
    }),
    backup: serve(backup.subgraph, (app, shared) => {
      serveBackupWork(app, {
        work: backup.work,
        verifier: shared.verifier,
        onDefect: (error) => log.error({ err: error }, 'work failed'),
      });
      serveInternalApi(app, backupOperators, { implementation: backup.operators, ...shared });
    }),
  };
  await startAll(Object.values(servers));
  const signer = createIdentitySigner({ issuer: 'gateway', key, clock });
  const urls = Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, server.address()]));
  return { connections: connectHttp({ urls: urls as Record<OwnService, string>, signer, clock, log }), servers };
}
