import { unavailable } from '@taskmesh/errors';
import type { KeySet } from '@taskmesh/identity';
import type { HealthReport } from '@taskmesh/service';
import type { FastifyInstance } from 'fastify';
import { refuseOtherMethods } from './method-not-allowed.ts';

const READ = ['GET', 'HEAD'];

/** Routes for the infrastructure: liveness, readiness, and the public keys of access tokens. */
export function systemRoutes(app: FastifyInstance, ask: { ready(): HealthReport; keys(): KeySet | undefined }): void {
  const get = (url: string, answer: () => { status: number; body: object }) => {
    app.route({
      method: READ,
      url,
      handler: (_request, reply) => {
        const { status, body } = answer();
        if (status === 503) reply.header('retry-after', '1');
        return reply.code(status).header('cache-control', 'no-store').send(body);
      },
    });
    refuseOtherMethods(app, url, READ);
  };

  get('/livez', () => ({ status: 200, body: { status: 'ok' } }));
  get('/readyz', () =>
    ask.ready().ok ? { status: 200, body: { status: 'ok' } } : { status: 503, body: { status: 'unavailable' } },
  );
  get('/.well-known/jwks.json', () => {
    const keys = ask.keys();
    if (!keys) throw unavailable();
    return { status: 200, body: keys };
  });
}
