import { createLatencyHistogram, type Observe } from '@taskmesh/service';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';

/** Times every request, by method, route (never the path itself) and status. */
export function measureRequests(app: FastifyInstance, registry: Registry): void {
  const histogram = createLatencyHistogram<'method' | 'route' | 'status'>(registry, {
    name: 'http_request_duration_seconds',
    help: 'Time from the request to the end of its answer',
  });
  const observers = new Map<string, Map<number, Observe>>();

  const observerOf = ({ method, routeOptions }: FastifyRequest, status: number): Observe => {
    const route = routeOptions.url ?? 'unknown';
    const key = `${method} ${route}`;
    let byStatus = observers.get(key);
    if (!byStatus) observers.set(key, (byStatus = new Map()));
    let observe = byStatus.get(status);
    if (!observe) byStatus.set(status, (observe = histogram.observer({ method, route, status: String(status) })));
    return observe;
  };
  app.addHook('onResponse', (request, reply, done) => {
    observerOf(request, reply.statusCode)(reply.elapsedTime / 1000);
    done();
  });
}
