import { AppError, forbidden, notFound, toAppError, unauthenticated } from '@taskmesh/errors';
import { fastify, type FastifyReply } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { collectDefaultMetrics, Counter, Gauge, Registry } from 'prom-client';
import type { HealthReport, Service } from './lifecycle.ts';
import { readVersion } from './version.ts';
import { lostLogLines } from './log-output.ts';
import type { Log } from './log.ts';
import { networkOf } from './network-of.ts';
import { bearerTokenOf, createOperatorCheck } from './operator-check.ts';
import { closePromptly } from './prompt-close.ts';
import { limitTokenGuesses, type MakeLimiter } from './token-guesses.ts';

/** An operation for operators only: reads (GET), or acts (POST with a JSON body). */
export interface AdminRoute {
  method: 'GET' | 'POST';
  path: string;
  /** Resolves with the JSON answer; an AppError is answered as in REST. Only JSON is accepted: no page can send it. */
  handle(request: { query: Record<string, string>; body: unknown }): Promise<unknown>;
}

/** What operators can do beside reading health and figures. */
export interface Operations {
  routes: AdminRoute[];
  /** What they must send; if undefined, those on this machine need no token. */
  token: string | undefined;
  /** Counts wrong tokens. */
  limiter: MakeLimiter;
}

export interface AdminServerOptions {
  host: string;
  port: number;
  metrics: Registry;
  ready: () => HealthReport | Promise<HealthReport>;
  operations?: Operations;
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

/** The private port: `/livez`, `/readyz` (with `?verbose`) and `/metrics` for everybody, `operations` for operators. */
export function createAdminServer(options: AdminServerOptions): Service & { address(): string } {
  const { host, port, metrics, ready, operations, log } = options;
  const refuseUnknownPath = (_request: unknown, reply: FastifyReply) =>
    sendError(reply, notFound('There is nothing at this path.'));
  const app = fastify({
    logger: false,
    // A path that cannot be decoded matches nothing.
    frameworkErrors: (_error, request, reply) => void refuseUnknownPath(request, reply),
  });
  app.setNotFoundHandler(refuseUnknownPath);
  app.setErrorHandler((error, request, reply) => {
    const known = toAppError(error);
    if (known.httpStatus === 500) log.error({ err: error, path: request.routeOptions.url }, 'an operation failed');
    return sendError(reply, known);
  });
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

  const refusalOf = operations && refuseStrangers(operations);
  for (const { method, path, handle } of operations?.routes ?? [])
    app.route({
      method,
      url: path,
      onRequest: async ({ raw }, reply) => {
        const refusal = await refusalOf?.(raw);
        if (refusal) await sendError(reply, refusal);
      },
      handler: async ({ query, body, headers }) => {
        if (method === 'POST' && !/^application\/json\b/.test(headers['content-type'] ?? ''))
          throw new AppError('BAD_USER_INPUT', 'A JSON body is needed.');
        return handle({ query: query as Record<string, string>, body }); // the handler refuses repeated names
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

/** Why somebody is refused who is no operator, or has guessed too often to be told. */
function refuseStrangers({ token, limiter }: Operations): (request: IncomingMessage) => Promise<AppError | undefined> {
  const operator = createOperatorCheck({ token });
  const refusalOf = limitTokenGuesses('admin', limiter);
  return async (request) => {
    const check = operator(request);
    const given = token === undefined ? undefined : bearerTokenOf(request);
    const caller = networkOf(request.socket.remoteAddress ?? '');
    const refusal = given === undefined ? undefined : await refusalOf({ caller, token: given });
    if (refusal || check.ok) return refusal;
    return check.status === 401
      ? unauthenticated('The admin token is missing or wrong.')
      : forbidden('This is for callers on this machine (localhost) only, unless there is an admin token.');
  };
}

function sendError(
  reply: FastifyReply,
  { httpStatus, code, message, issues, retryAfterSeconds }: AppError,
): FastifyReply {
  if (httpStatus === 401) reply.header('www-authenticate', 'Bearer');
  if (retryAfterSeconds !== undefined) reply.header('retry-after', String(retryAfterSeconds));
  return reply.code(httpStatus).send({ message, error: { code, ...(issues && { details: issues }) } });
}
