import { AppError, forbidden, unauthenticated } from '@taskmesh/errors';
import { fastify, type FastifyReply } from 'fastify';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { HealthReport, Service } from './lifecycle.ts';
import { readVersion } from './version.ts';
import type { Log } from './log.ts';
import { createOperatorCheck } from './operator-check.ts';
import { closePromptly } from './prompt-close.ts';

/** Something that an operator, and nobody else, can look at (GET) or have done (POST, with a JSON body). */
export interface AdminRoute {
  method: 'GET' | 'POST';
  path: string;
  /** Resolves with the answer's JSON; an AppError is told as REST tells it. A POST needs a JSON body, so that no page can send it. */
  handle(request: { query: Record<string, string>; body: unknown }): Promise<unknown>;
}

export interface AdminServerOptions {
  host: string;
  port: number;
  /** What operators show for `routes`; undefined: those on this machine need none. */
  token?: string | undefined;
  metrics: Registry;
  ready: () => HealthReport | Promise<HealthReport>;
  /** Besides the ordinary ones. */
  routes?: AdminRoute[];
  log: Log;
}

/** A registry with the process' own figures (version, event loop, memory, CPU). One for each process. */
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
  return registry;
}

/** What the public does not see: `/livez`, `/readyz` (with `?verbose`), `/metrics` for whoever reaches it, `routes` for operators. */
export function createAdminServer(options: AdminServerOptions): Service & { address(): string } {
  const { host, port, token, metrics, ready, routes = [], log } = options;
  const operator = createOperatorCheck(token);
  const app = fastify({ logger: false });
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

  for (const { method, path, handle } of routes)
    app.route({
      method,
      url: path,
      onRequest: async ({ raw }, reply) => {
        const check = operator(raw);
        if (!check.ok) await sendError(reply, refusal(check.status));
      },
      handler: async ({ query, body, headers }, reply) => {
        try {
          if (method === 'POST' && !/^application\/json\b/.test(headers['content-type'] ?? ''))
            throw new AppError('BAD_USER_INPUT', 'A JSON body is needed.');
          return await handle({ query: query as Record<string, string>, body }); // a repeated name is refused by who reads it
        } catch (error) {
          if (error instanceof AppError) return sendError(reply, error);
          log.error({ err: error, path }, 'an operation failed');
          return sendError(reply, new AppError('INTERNAL_SERVER_ERROR', 'Internal server error'));
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

function refusal(status: 401 | 403): AppError {
  return status === 401
    ? unauthenticated('The admin token is missing or wrong.')
    : forbidden('This is for callers on this machine (localhost) only, unless there is an admin token.');
}

function sendError(reply: FastifyReply, { httpStatus, code, message }: AppError): FastifyReply {
  if (httpStatus === 401) reply.header('www-authenticate', 'Bearer');
  return reply.code(httpStatus).send({ message, error: { code } });
}
