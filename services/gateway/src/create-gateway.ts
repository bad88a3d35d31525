import { createDocuments } from '@taskmesh/federation';
import {
  closeOnStop,
  inOrder,
  monotonicClock,
  type HealthReport,
  type Service,
  NO_TRACING,
  type Tracing,
} from '@taskmesh/service';
import { Registry } from 'prom-client';
import { createAccessKeys } from './auth/access-keys.ts';
import { type Authenticator, createAuthenticator } from './auth/authenticator.ts';
import { createEndedSessions, createSessionUses } from './auth/sessions.ts';
import { createOperators } from './auth/operators.ts';
import { createPersonalTokens } from './auth/personal-tokens.ts';
import type { GatewayConfig } from './config.ts';
import { createCallerBulkheads, createExecutor, createGraphMetrics, DOCUMENT_RULES } from './supergraph/executor.ts';
import { createServiceMap } from './supergraph/data-source.ts';
import { createLargeResponses } from './supergraph/large-responses.ts';
import { createLiveGraph, type Graph, watchSupergraph } from './supergraph/live-graph.ts';
import { createRequestCall } from './http/client.ts';
import { openSupergraph, type Supergraph } from './supergraph/supergraph.ts';
import { createAdmission, loadTrustedDocuments } from './graphql/admission.ts';
import { createGraphQLServer } from './graphql/apollo-server.ts';
import { createPersistedQueries, NO_PERSISTED_QUERIES } from './graphql/persisted-queries.ts';
import { graphqlRoutes } from './graphql/routes.ts';
import { createApp } from './http/app.ts';
import { isServing } from './http/client-connections.ts';
import { createClientIp } from './http/client-ip.ts';
import { measureRequests, traceClientRequests } from './http/measure.ts';
import { createMemory } from './http/memory.ts';
import { createBlockingWork } from './supergraph/blocking-work.ts';
import { trackUnreadResponses } from './http/unread-responses.ts';
import { findConsole, serveConsole, serveTokenForms, serveUnknownPath } from './pages/pages.ts';
import { createHealth, createReadiness, systemRoutes } from './probes.ts';
import type { GatewayContext } from './context.ts';
import { createRealtime } from './transports/create-realtime.ts';
import { restRoutes } from './rest/rest.ts';

export interface GatewayDeps extends Pick<GatewayContext, 'clock' | 'log' | 'keyValue' | 'eventLog' | 'connections'> {
  metrics?: Registry;
  /** @default nothing is traced */
  tracing?: Tracing;
  /** From 0 to 1. @default Math.random */
  random?: () => number;
}

/** The product's public face. Its connections, event log and store are closed by their creator. */
export type Gateway = Service & {
  /** The URL it listens on. */
  address(): string;
  ready(): HealthReport;
  /** Reloads SUPERGRAPH_FILE, if set, without waiting until a change is noticed. Never rejects. */
  reload(): Promise<void>;
};

/** @throws when the supergraph or the trusted documents cannot be used */
export async function createGateway(config: GatewayConfig, deps: GatewayDeps): Promise<Gateway> {
  const { clock, log, keyValue, connections, metrics = new Registry(), random = Math.random } = deps;
  const { tracing = NO_TRACING } = deps;
  const { build, initial } = await openSupergraph(config.supergraphFile);
  // A foreign graph does not use our accounts, so there is no one to sign in.
  const page = initial.own ? findConsole() : undefined;
  if (initial.own && !page) log.warn('the console was never built: browsers find nothing at /');
  const trusted = await loadTrustedDocuments(config.graphql, page?.documents);

  const keys = createAccessKeys({ auth: connections.auth, log });
  const endedSessions = createEndedSessions({ auth: connections.auth, clock, log });
  const sessionUses = createSessionUses({ auth: connections.auth, clock, log });
  const personalTokens = createPersonalTokens({ auth: connections.auth, clock });
  const { authenticate, authenticateToken } = initial.own
    ? createAuthenticator({ keys, endedSessions, personalTokens, sessionUses, clock })
    : noAccounts;

  const memory = createMemory({ maxBytes: config.maxKeptBytes, metrics, log });
  const graphMetrics = createGraphMetrics(metrics);
  const runForCaller = createCallerBulkheads();
  const blockingWork = createBlockingWork();
  const largeResponses = createLargeResponses();
  const graphOf = (supergraph: Supergraph): Graph => {
    const documents = createDocuments({ schema: supergraph.schema, limits: config.graphql, ...DOCUMENT_RULES });
    const shared = { metrics: graphMetrics, clock: monotonicClock, log };
    const services = createServiceMap(supergraph, { connections, ...shared });
    const bounds = { runForCaller, blockingWork, largeResponses, endedSessions, requireRoom: memory.requireRoom };
    const executor = createExecutor({ supergraph, services, ...shared, ...bounds, kind: config.executor });
    return { supergraph, services, executor, ...documents };
  };
  const graph = createLiveGraph({ initial: graphOf(initial), build: (sdl) => graphOf(build(sdl)) });
  const persisted =
    config.graphql.trustedDocuments === 'only' ? NO_PERSISTED_QUERIES : createPersistedQueries(keyValue);
  const admission = createAdmission({
    config: config.graphql,
    graph,
    trusted,
    persisted,
    blockingWork,
    metrics: graphMetrics,
    log,
  });
  const apollo = createGraphQLServer({ graph, log });
  const clientIp = createClientIp(config.trustedProxies);

  const context: GatewayContext = {
    config,
    log,
    clock,
    metrics,
    tracing,
    connections,
    keyValue,
    eventLog: deps.eventLog,
    accessKeys: keys,
    endedSessions,
    graph,
    authenticate,
    authenticateToken,
    clientIp,
    memory,
    blockingWork,
    largeResponses,
    admission,
    operators: createOperators({
      rules: { token: config.secrets.backupToken, machineToken: config.secrets.machineToken?.token },
      ...{ keyValue, clientIp },
    }),
    requestCall: createRequestCall({ clientIp, endedSessions, tracing }),
  };
  const realtime = initial.own ? createRealtime(context, { random }) : undefined;
  const file = config.supergraphFile;
  const watch = file === undefined ? undefined : watchSupergraph({ file, graph, metrics, log });
  const readiness = createReadiness({ graph, connections, log });
  const ready = () =>
    readiness.report(initial.own ? { endedSessions: endedSessions.loaded(), keys: keys.current() !== undefined } : {});

  const app = createApp(config, {
    ...{ log, memory, clientIp },
    isUpgrade: (request) => realtime?.isUpgrade(request) ?? false,
    serveUnknownPath: page && serveUnknownPath,
  });
  memory.watch(trackUnreadResponses(app.server, clientIp));
  measureRequests(app, metrics);
  if (tracing !== NO_TRACING) traceClientRequests(app, tracing);
  systemRoutes(app, { ready, unavailable: createHealth({ graph, connections }), keys: () => keys.current() });
  graphqlRoutes(app, { context, server: apollo, streams: realtime?.streams });
  restRoutes(app, context);
  if (page) serveConsole(app, page);
  // Without our accounts there is no password to set, and no address to confirm.
  if (initial.own) serveTokenForms(app);
  app.server.on('upgrade', (request, socket, head) => {
    // An error of one socket must end only that socket.
    try {
      // The upgrade's bytes would end up in the middle of the response that is being sent.
      if (isServing(request.socket)) socket.destroy();
      else realtime?.upgrade(request, socket, head);
    } catch (error) {
      log.error({ err: error }, 'an upgrade failed');
      socket.destroy();
    }
  });

  let address = '';
  const listen = async () => {
    // For a name with two addresses, Fastify would open a second server without our limits.
    const host = config.host === 'localhost' ? '127.0.0.1' : config.host;
    address = await app.listen({ host, port: config.port });
    log.info({ address }, 'listening');
  };
  const parts = inOrder([
    ...(initial.own ? [keys, endedSessions, sessionUses] : []),
    readiness,
    apollo,
    memory,
    closeOnStop(() => app.close()), // after the clients of streams have been notified
    ...(realtime ? [realtime] : []),
    ...(watch ? [watch] : []),
    { start: listen, stop: async () => undefined },
  ]);

  return {
    start: parts.start,
    async stop() {
      readiness.drain();
      await parts.stop();
    },
    address: () => address,
    ready,
    reload: async () => watch?.reload(),
  };
}

/** A foreign graph does not use our accounts, so no token is valid. */
const noAccounts: Authenticator = {
  authenticate: async (values) => ({ kind: values.length === 0 ? 'anonymous' : 'invalid' }),
  authenticateToken: async () => ({ kind: 'invalid' }),
};
