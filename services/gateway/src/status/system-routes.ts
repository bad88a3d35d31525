import { unavailable } from '@taskmesh/contracts';
import type { KeySet } from '@taskmesh/identity';
import type { HealthReport } from '@taskmesh/service';
import type { FastifyInstance } from 'fastify';
import { refuseOtherMethods } from '../http/method-not-allowed.ts';

const READ = ['GET', 'HEAD'];

export interface SystemState {
  ready(): HealthReport;
  /** The names of services that are not well. */
  unavailable(): Promise<string[]>;
  keys(): KeySet | undefined;
}

interface SystemAnswer {
  status: number;
  body: object;
}

/** Routes for the infrastructure: liveness, readiness, health, and the public keys of access tokens. */
export function systemRoutes(app: FastifyInstance, ask: SystemState): void {
  const get = (url: string, answer: () => SystemAnswer | Promise<SystemAnswer>) => {
    app.route({
      method: READ,
      url,
      handler: async (_request, reply) => {
        const { status, body } = await answer();
        if (status === 503) reply.header('retry-after', '1');
        return reply.code(status).header('cache-control', 'no-store').send(body);
      },
    });
    refuseOtherMethods(app, url, READ);
  };

  // Browsers ask for it beside any page; those of ours name their icon.
  app.route({
    method: READ,
    url: '/favicon.ico',
    handler: (_request, reply) => reply.code(204).header('cache-control', 'public, max-age=86400').send(),
  });
  refuseOtherMethods(app, '/favicon.ico', READ);

  get('/livez', () => ({ status: 200, body: { status: 'ok' } }));
  get('/readyz', () =>
    ask.ready().ok ? { status: 200, body: { status: 'ok' } } : { status: 503, body: { status: 'unavailable' } },
  );
  get('/health', async () => {
    const names = await ask.unavailable();
    return names.length === 0
      ? { status: 200, body: { status: 'ok' } }
      : { status: 503, body: { status: 'degraded', unavailable: names } };
  });
  get('/.well-known/jwks.json', () => {
    const keys = ask.keys();
    if (!keys) throw unavailable();
    return { status: 200, body: keys };
  });
}
