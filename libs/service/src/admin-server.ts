import { AppError } from '@taskmesh/errors';
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

/** Something that an operator can look at (GET) or have done (POST, with a JSON body). */
export interface AdminRoute {
  method: 'GET' | 'POST';
  path: string;
  /** Resolves with the answer's JSON; an AppError is told as REST tells it. A POST needs a JSON body, so that no page can send it. */
  handle(request: { query: Record<string, string>; body: unknown }): Promise<unknown>;
}

export interface AdminServerOptions {
  host: string;
  port: number;
  metrics: Registry;
  ready: () => HealthReport | Promise<HealthReport>;
  /** Besides the ordinary ones. */
  routes?: AdminRoute[];
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
  const { host, port, metrics, ready, routes = [], log } = options;
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

  for (const { method, path, handle } of routes)
    app.route({
      method,
      url: path,
      handler: async ({ query, body, headers }, reply) => {
        try {
          if (method === 'POST' && !/^application\/json\b/.test(headers['content-type'] ?? ''))
            throw new AppError('BAD_USER_INPUT', 'A JSON body is needed.');
          return await handle({ query: query as Record<string, string>, body }); // a repeated name is refused by who reads it
        } catch (error) {
          const known = error instanceof AppError ? error : undefined;
          if (!known) log.error({ err: error, path }, 'an operation failed');
          return reply.code(known?.httpStatus ?? 500).send({
            message: known?.message ?? 'Internal server error',
            error: { code: known?.code ?? 'INTERNAL_SERVER_ERROR' },
          });
        }
      },
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
