import { unavailable } from '@taskmesh/contracts';
import type { KeySet } from '@taskmesh/identity';
import { createTimedQuery, createPeriodic, type HealthReport, type Log } from '@taskmesh/service';
import type { FastifyInstance } from 'fastify';
import type { Connections } from './connections/connections.ts';
import { serveReadOnly } from './http/replies.ts';
import type { LiveGraph } from './supergraph/live-graph.ts';

const CHECK_EVERY_MS = 1_000;
const MAX_WAIT_MS = 2_000;

/** Finds services that do not respond or cannot reach their store. Checks at most once a second, however often it is called. */
export function createHealth({ graph, connections }: { graph: LiveGraph; connections: Connections }) {
  const { probe, status } = connections;
  const queries = new Map<string, () => Promise<boolean | undefined>>();
  for (const [name, service] of Object.entries(status))
    queries.set(
      name,
      createTimedQuery(MAX_WAIT_MS, async () => (await service.status()).store?.isUp ?? true),
    );

  const isHealthy = async (name: string, url: string | undefined): Promise<boolean> => {
    if (url === undefined) return (await queries.get(name)?.()) ?? false;
    return (await createTimedQuery(MAX_WAIT_MS, () => probe(name, url).then(() => true))()) ?? false;
  };
  const check = async (): Promise<string[]> => {
    const services = graph.current.supergraph.services;
    const results = await Promise.all(services.map(({ name, url, own }) => isHealthy(name, own ? undefined : url)));
    return services.flatMap(({ name }, index) => (results[index] ? [] : [name])).sort();
  };

  let checkedAtMs = -Infinity;
  let latest: Promise<string[]> = Promise.resolve([]);
  return (): Promise<string[]> => {
    if (performance.now() - checkedAtMs >= CHECK_EVERY_MS) {
      checkedAtMs = performance.now();
      latest = check();
    }
    return latest;
  };
}

const PROBE_EVERY_MS = 250;

/** Probes each service until it has responded once. If one fails later, only the requests that need it fail. */
export function createReadiness(deps: { graph: LiveGraph; connections: Connections; log: Log }) {
  const { graph, connections, log } = deps;
  const responded = new Set<string>();
  /** Services that join the graph later must not make a running gateway unready. */
  let hasAll = false;
  let isDraining = false;
  const services = () => graph.current.supergraph.services;

  const probe = async () => {
    const silent = services().filter(({ name }) => !responded.has(name));
    const failures: unknown[] = [];
    await Promise.all(
      silent.map(async ({ name, url, own }) => {
        try {
          await connections.probe(name, own ? undefined : url);
          responded.add(name);
        } catch (error) {
          failures.push(error);
        }
      }),
    );
    if (failures.length > 0) throw failures[0];
    hasAll = true;
    void poll.stop();
  };

  const poll = createPeriodic({ everyMs: PROBE_EVERY_MS, task: probe, what: 'a service of the graph', log });

  return {
    start: async () => poll.start(),
    stop: () => poll.stop(),
    drain: () => {
      isDraining = true;
    },
    /** `loaded` lists other preconditions. */
    report(loaded: Record<string, boolean>): HealthReport {
      const known = services().map(({ name }) => [name, hasAll || responded.has(name)] as const);
      const checks = { ...loaded, ...Object.fromEntries(known), draining: isDraining };
      const isLoaded = Object.values(loaded).every(Boolean) && known.every(([, has]) => has);
      return { ok: isLoaded && !isDraining, checks };
    },
  };
}

export interface SystemState {
  ready(): HealthReport;
  /** The names of unhealthy services. */
  unavailable(): Promise<string[]>;
  keys(): KeySet | undefined;
}

/** Routes for the infrastructure: liveness, readiness, health, and the public keys of access tokens. */
export function systemRoutes(app: FastifyInstance, state: SystemState): void {
  const get = (url: string, read: () => Promise<{ status: number; body: object }>) =>
    serveReadOnly(app, url, async (_request, reply) => {
      const { status, body } = await read();
      if (status === 503) reply.header('retry-after', '1');
      return reply.code(status).header('cache-control', 'no-store').send(body);
    });

  // Browsers request it for any page; our pages name their own icon.
  serveReadOnly(app, '/favicon.ico', (_request, reply) =>
    reply.code(204).header('cache-control', 'public, max-age=86400').send(),
  );

  get('/livez', async () => ({ status: 200, body: { status: 'ok' } }));
  get('/readyz', async () =>
    state.ready().ok ? { status: 200, body: { status: 'ok' } } : { status: 503, body: { status: 'unavailable' } },
  );
  get('/health', async () => {
    const names = await state.unavailable();
    return names.length === 0
      ? { status: 200, body: { status: 'ok' } }
      : { status: 503, body: { status: 'degraded', unavailable: names } };
  });
  get('/.well-known/jwks.json', async () => {
    const keys = state.keys();
    if (!keys) throw unavailable();
    return { status: 200, body: keys };
  });
}
