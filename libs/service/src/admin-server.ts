import { fastify } from 'fastify';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { Service } from './lifecycle.ts';
import type { Log } from './log.ts';

/** One thing that the health page tells: whether it works, and if not, why. */
export interface HealthReport {
  ok: boolean;
  /** Part by part, for `/readyz?verbose`. */
  checks?: Record<string, boolean | number | string>;
}

export interface AdminServerOptions {
  host: string;
  port: number;
  metrics: Registry;
  ready: () => HealthReport | Promise<HealthReport>;
  log: Log;
}

/** A registry with the process' own figures (event loop, memory, CPU). One for each process. */
export function createMetrics(labels: Record<string, string> = {}): Registry {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** What operators see and the public does not: `/livez`, `/readyz` (with `?verbose`), `/metrics`. */
export function createAdminServer(options: AdminServerOptions): Service & { address(): string } {
  const { host, port, metrics, ready, log } = options;
  const app = fastify({ logger: false });
  let address = '';

  app.get('/livez', () => ({ status: 'ok' }));
  app.get<{ Querystring: { verbose?: string } }>('/readyz', async (request, reply) => {
    const report = await ready();
    const status = report.ok ? 'ok' : 'unavailable';
    return reply
      .code(report.ok ? 200 : 503)
      .send(request.query.verbose === undefined ? { status } : { ...report, status });
  });
  app.get('/metrics', async (_request, reply) => {
    const text = await metrics.metrics();
    return reply.header('content-type', metrics.contentType).send(text);
  });

  return {
    async start() {
      address = await app.listen({ host, port });
      log.debug({ address }, 'admin server listening');
    },
    stop: () => app.close(),
    address: () => address,
  };
}
