import { requestSpan, traceRequests, type Tracing } from '@taskmesh/service';
import type { FastifyInstance } from 'fastify';
import { traceparentOf } from '../supergraph/request-call.ts';

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
