import { notFound } from '@taskmesh/contracts';
import { fastify, type FastifyReply } from 'fastify';
import type { Registry } from 'prom-client';
import type { HealthReport, Service } from './lifecycle.ts';
import type { Log } from './log.ts';
import { createMeters } from './metrics.ts';
import { closePromptly } from './network.ts';

export interface AdminServerOptions {
  host: string;
  port: number;
  metrics: Registry;
  ready: () => HealthReport | Promise<HealthReport>;
  log: Log;
}

/** The private port: `/livez`, `/readyz` (with `?verbose`) and `/metrics`, without authentication. */
export function createAdminServer(options: AdminServerOptions): Service & { address(): string } {
  const { host, port, metrics, ready, log } = options;
  const { httpStatus, code, message } = notFound('There is nothing at this path.');
  const refuseUnknownPath = (_request: unknown, reply: FastifyReply) =>
    reply.code(httpStatus).send({ message, error: { code } });
  const app = fastify({
    logger: false,
    // A path that cannot be decoded matches nothing.
    frameworkErrors: (_error, request, reply) => void refuseUnknownPath(request, reply),
  });
  app.setNotFoundHandler(refuseUnknownPath);
  closePromptly(app);
  let address = '';
  createMeters(metrics).gauge('taskmesh_ready', '1 while the process is ready for requests, otherwise 0', async () =>
    Number((await ready()).ok),
  );

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
