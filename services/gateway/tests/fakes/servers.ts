import {
  bearerToken,
  createIdentitySigner,
  createIdentityVerifier,
  createSigningKey,
  GATEWAY_ROLES,
  publicKeys,
} from '@taskmesh/identity';
import { authInternal, authSignIn, serveBackupWork, serveInternalApi, tasksInternal } from '@taskmesh/internal-api';
import { startAll, systemClock, type Log } from '@taskmesh/service';
import { createSubgraphServer, type Subgraph } from '@taskmesh/subgraph';
import type { FastifyInstance } from 'fastify';
import { connectHttp } from '../../src/connect-http.ts';
import type { InProcessServices } from '../../src/connect-in-process.ts';

/** Each service behind a server of its own, and the gateway's way to them. */
export async function connectServers({ auth, tasks, backup }: InProcessServices, log: Log) {
  const key = await createSigningKey('gateway-1');
  const keys = publicKeys({ keys: [key] });
  const verifierOf = (audience: string) =>
    createIdentityVerifier({ audience, keys, callers: { gateway: GATEWAY_ROLES }, clock: systemClock });
  const serve = (subgraph: Subgraph, routes: (app: FastifyInstance) => void) => {
    const verifier = verifierOf(subgraph.name);
    const authenticate = (authorization?: string) => verifier.verify(bearerToken(authorization));
    return createSubgraphServer({ subgraph, host: '127.0.0.1', port: 0, authenticate, routes, log });
  };
  const servers = {
    auth: serve(auth.subgraph, (app) => {
      serveInternalApi(app, authInternal, { implementation: auth.internal, verifier: verifierOf('auth'), log });
      serveInternalApi(app, authSignIn, { implementation: auth.signIn, verifier: verifierOf('auth'), log });
    }),
    tasks: serve(tasks.subgraph, (app) =>
      serveInternalApi(app, tasksInternal, { implementation: tasks.internal, verifier: verifierOf('tasks'), log }),
    ),
    backup: serve(backup.subgraph, (app) =>
      serveBackupWork(app, {
        work: backup.work,
        verifier: verifierOf('backup'),
        onDefect: (error) => log.error({ err: error }, 'work failed'),
      }),
    ),
  };
  await startAll(Object.values(servers));
  const signer = createIdentitySigner({ issuer: 'gateway', key, clock: systemClock });
  const urls = { auth: servers.auth.address(), tasks: servers.tasks.address(), backup: servers.backup.address() };
  return { connections: connectHttp({ urls, signer }), servers: Object.values(servers) };
}
