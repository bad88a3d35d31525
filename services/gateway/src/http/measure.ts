import { createLatencyHistogram, requestSpan, traceRequests, type Tracing } from '@taskmesh/service';
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { traceparentOf } from './client.ts';

/** Labels of requests that no route serves. Strangers could otherwise create thousands of series: any method on each route. */
const UNSERVED = { method: 'other', route: 'unknown' };

/** Times every request, by method, route (never the path itself) and status. */
export function measureRequests(app: FastifyInstance, registry: Registry): void {
  const histogram = createLatencyHistogram(
    registry,
    'http_request_duration_seconds',
    'Time from the request to the end of its response',
    ...(['method', 'route', 'status'] as const),
  );

  app.addHook('onResponse', ({ method, routeOptions: { url: route, config } }, { statusCode, elapsedTime }, done) => {
    const labels = route === undefined || config.refusesMethod ? UNSERVED : { method, route };
    histogram.observe({ ...labels, status: statusCode }, elapsedTime / 1_000);
    done();
  });
}

/** Load balancers poll these constantly. */
const UNTRACED = new Set(['/health', '/livez', '/readyz']);

/** Begins a trace for each other request. */
export function traceClientRequests(app: FastifyInstance, tracing: Tracing): void {
  traceRequests(app, (request) =>
    UNTRACED.has(request.routeOptions.url ?? '')
      ? undefined
      : tracing.begin(traceparentOf(request.raw), () => requestSpan(request, request.id)),
  );
}
