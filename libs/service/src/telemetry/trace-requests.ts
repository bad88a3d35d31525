import { within, type Span, type SpanDescription } from '../telemetry/index.ts';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServerResponse } from 'node:http';

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Named by the route, because paths and queries contain what clients sent. */
export function requestSpan(
  { method, routeOptions }: { method: string; routeOptions: { url?: string | undefined } },
  requestId?: string,
): SpanDescription {
  const known = METHODS.has(method) ? method : '_OTHER';
  const route = routeOptions.url;
  return {
    name: [known === '_OTHER' ? 'HTTP' : known, route].join(' ').trim(),
    kind: 'server',
    attributes: {
      'http.request.method': known,
      'http.route': route,
      'url.scheme': 'http',
      'taskmesh.request_id': requestId,
    },
  };
}

/** Gives requests the span that `begin` returns, if any; spans of their work become its children. */
export function traceRequests(app: FastifyInstance, begin: (request: FastifyRequest) => Span | undefined): void {
  app.addHook('onRequest', (request, reply, done) => {
    const span = begin(request);
    if (!span) return done();
    traceResponse(span, reply.raw);
    within(span, done);
  });
}

/** Ends a request's span with its response. */
export function traceResponse(span: Span, response: ServerResponse): void {
  // Emitted after every response, also when the client disconnects first.
  response.once('close', () => {
    const { headersSent, statusCode, writableFinished } = response;
    if (headersSent) span.set({ 'http.response.status_code': statusCode });
    const failure = writableFinished ? undefined : 'client_gone';
    span.end(statusCode >= 500 ? String(statusCode) : failure);
  });
}
