import {
  createIdentitySigner,
  createIdentityVerifier,
  createSigningKey,
  GATEWAY_ROLES,
  publicKeys,
} from '@taskmesh/identity';
import {
  authInternal,
  authOperators,
  authSignIn,
  backupOperators,
  backupWorkRoutes,
  createSubgraphServer,
  deadLettersInternal,
  internalRoutes,
  tasksInternal,
  tasksOperators,
  type Routes,
  type Subgraph,
} from '@taskmesh/internal-api';
import { bearerToken, startAll, systemClock, type Clock, type Log } from '@taskmesh/service';
import { connectHttp } from '../../src/connections/over-http.ts';
import type { InProcessServices } from '../../src/connections/in-process.ts';
import type { OwnService } from './fake-subgraph.ts';

type SubgraphServer = ReturnType<typeof createSubgraphServer>;

/** Each service behind its own server, and the gateway's connections to them, with the gateway's clock. */
export async function connectServers({ auth, tasks, backup }: InProcessServices, log: Log, clock: Clock) {
  const key = await createSigningKey('gateway-1');
  const keys = publicKeys({ keys: [key] });
  const verifierOf = (audience: string) =>
    createIdentityVerifier({ audience, keys, callers: { gateway: GATEWAY_ROLES }, clock: systemClock });
  const serve = (subgraph: Subgraph, ...routes: Routes[]) => {
    const verifier = verifierOf(subgraph.name);
    const authenticate = (authorization?: string) => verifier.verify(bearerToken(authorization));
    return createSubgraphServer({ subgraph, host: '127.0.0.1', port: 0, authenticate, routes, log });
  };
  const servers: Record<OwnService, SubgraphServer> = {
    auth: serve(
      auth.subgraph,
      internalRoutes(authInternal, auth.internal),
      internalRoutes(authSignIn, auth.signIn),
      internalRoutes(authOperators, auth.operators),
    ),
    tasks: serve(
      tasks.subgraph,
      internalRoutes(tasksInternal, tasks.internal),
      internalRoutes(tasksOperators, tasks.operators),
      internalRoutes(deadLettersInternal, tasks.deadLetters),
    ),
    backup: serve(backup.subgraph, backupWorkRoutes(backup.work), internalRoutes(backupOperators, backup.operators)),
  };
  await startAll(Object.values(servers));
  const signer = createIdentitySigner({ issuer: 'gateway', key, clock });
  const urls = Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, server.address()]));
  return { connections: connectHttp({ urls: urls as Record<OwnService, string>, signer, clock, log }), servers };
}
