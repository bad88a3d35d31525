import { createLatencyHistogram, type Observe, requestSpan, traceRequests, type Tracing } from '@taskmesh/service';
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { traceparentOf } from './client.ts';

/** What a request was, as far as it is counted by that: its route, never the path itself. */
interface Measured {
  method: string;
  routeOptions: { url?: string | undefined };
}

export type MeasureResponse = (request: Measured, status: number, seconds: number) => void;

/** Times requests, by method, route and status. */
export function createRequestMetrics(registry: Registry): MeasureResponse {
  const histogram = createLatencyHistogram<'method' | 'route' | 'status'>(registry, {
    name: 'http_request_duration_seconds',
    help: 'Time from the request to the end of its answer',
  });
  const observers = new Map<string, Map<number, Observe>>();

  const observerOf = ({ method, routeOptions }: Measured, status: number): Observe => {
    const route = routeOptions.url ?? 'unknown';
    const key = `${method} ${route}`;
    let byStatus = observers.get(key);
    if (!byStatus) observers.set(key, (byStatus = new Map()));
    let observe = byStatus.get(status);
    if (!observe) byStatus.set(status, (observe = histogram.observer({ method, route, status: String(status) })));
    return observe;
  };
  return (request, status, seconds) => observerOf(request, status)(seconds);
}

/** Times every request of the framework. */
export function measureRequests(app: FastifyInstance, measure: MeasureResponse): void {
  app.addHook('onResponse', (request, reply, done) => {
    measure(request, reply.statusCode, reply.elapsedTime / 1_000);
    done();
  });
}

/** Load balancers poll these constantly. */
const UNTRACED = new Set(['/health', '/livez', '/readyz']);

/** Traces begin here, for all other requests. */
export function traceClientRequests(app: FastifyInstance, tracing: Tracing): void {
  traceRequests(app, (request) =>
    UNTRACED.has(request.routeOptions.url ?? '')
      ? undefined
      : tracing.begin(traceparentOf(request.raw), () => requestSpan(request, request.id)),
  );
}
