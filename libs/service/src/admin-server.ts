import { notFound } from '@taskmesh/contracts';
import { fastify, type FastifyReply } from 'fastify';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { HealthReport, Service } from './lifecycle.ts';
import { readVersion } from './version.ts';
import { lostLogLines } from './log-output.ts';
import type { Log } from './log.ts';
import { closePromptly } from './prompt-close.ts';

export interface AdminServerOptions {
  host: string;
  port: number;
  metrics: Registry;
  ready: () => HealthReport | Promise<HealthReport>;
  log: Log;
}

/** A registry with the process's own metrics (version, event loop, memory, CPU). Create one per process. */
export function createMetrics(labels: Record<string, string> = {}): Registry {
  const registry = new Registry();
  registry.setDefaultLabels(labels);
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'taskmesh_build_info',
    help: 'Always 1: which version this is',
    labelNames: ['version'],
    registers: [registry],
  }).set({ version: readVersion() }, 1);
  new Counter({
    name: 'taskmesh_log_lines_lost_total',
    help: 'Log lines that could not be written: the disk is full, or nothing reads the log',
    registers: [registry],
    collect() {
      this.reset();
      this.inc(lostLogLines());
    },
  });
  return registry;
}

/** The private port: `/livez`, `/readyz` (with `?verbose`) and `/metrics`, for anyone who reaches it. */
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
