import { requestSpan, traceRequests } from '@taskmesh/service';
import type { Tracing } from '@taskmesh/telemetry';
import type { FastifyInstance } from 'fastify';
import { traceparentOf } from '../graph/request-call.ts';

/** Load balancers ask for these all day. */
const UNTRACED = new Set(['/livez', '/readyz']);

/** Every other request may be recorded: here traces begin. */
export function traceClientRequests(app: FastifyInstance, tracing: Tracing): void {
  traceRequests(app, (request) =>
    UNTRACED.has(request.routeOptions.url ?? '')
      ? undefined
      : tracing.begin(traceparentOf(request.raw), () => ({
          ...requestSpan(request),
          attributes: { ...requestSpan(request).attributes, 'taskmesh.request_id': request.id },
        })),
  );
}
