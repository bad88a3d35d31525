import { AsyncLocalStorage } from 'node:async_hooks';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { ServerResponse } from 'node:http';

const TRACEPARENT = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

export interface TraceParent {
  traceId: string;
  spanId: string;
  /** Whether the sender records the trace. */
  isSampled: boolean;
}

/** Parses a W3C trace context; returns undefined for anything else. */
export function parseTraceparent(text: unknown): TraceParent | undefined {
  if (typeof text !== 'string') return undefined;
  const [, traceId, spanId, flags] = TRACEPARENT.exec(text) ?? [];
  if (!traceId || !spanId || !flags) return undefined;
  return { traceId, spanId, isSampled: (parseInt(flags, 16) & 1) === 1 };
}

export function formatTraceparent({ traceId, spanId, isSampled }: TraceParent): string {
  return `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`;
}

/** Never contain a client's data, because attributes leave the product. */
export type Attributes = Record<string, string | number | boolean | string[] | undefined>;

export interface SpanDescription {
  name: string;
  /** @default 'internal' */
  kind?: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  /** Named after OpenTelemetry's semantic conventions, or `taskmesh.…`. */
  attributes?: Attributes;
  /** Unix milliseconds. @default now */
  startMs?: number;
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** W3C trace context to pass on. */
  readonly traceparent: string;
  readonly startMs: number;
  /** A child span; `service` is set when another service in this process does the work. */
  child(description: SpanDescription, service?: string): Span;
  set(attributes: Attributes): void;
  /** Call once. Exports only the type of `failure`, because its message may quote a client's data. */
  end(failure?: unknown): void;
}

const active = new AsyncLocalStorage<Span>();

/** The span of the current work; undefined when its trace is not recorded. */
export const activeSpan = (): Span | undefined => active.getStore();

/** Runs work, and everything it calls, as part of a span. */
export const runInSpan = <Result>(span: Span, work: () => Result): Result => active.run(span, work);

/** Runs background work outside any span, even if a request started it. */
export const runOutsideSpans = <Result>(work: () => Result): Result => active.exit(work);

/** Runs work in a child span when the current trace is recorded, otherwise without one. */
export function inSpan<Result>(
  describe: () => SpanDescription,
  work: (span: Span | undefined) => Promise<Result>,
  service?: string,
): Promise<Result> {
  const parent = active.getStore();
  return parent ? runAndEndSpan(parent.child(describe(), service), work) : work(undefined);
}

/** Runs work in a span that has begun; ends the span. */
export async function runAndEndSpan<Result>(span: Span, work: (span: Span) => Promise<Result>): Promise<Result> {
  try {
    const result = await active.run(span, work, span);
    span.end();
    return result;
  } catch (error) {
    span.end(error);
    throw error;
  }
}

export function logFields(): { trace_id?: string; span_id?: string } {
  const span = active.getStore();
  return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
}

export interface Tracing {
  /**
   * Starts a span for a request from outside, in its caller's trace; returns undefined when `createDecision` decides against it.
   */
  begin(traceparent: string | undefined, describe: () => SpanDescription): Span | undefined;
  /** Starts a span for a call between our own services, if the caller records the trace. */
  continueTrace(traceparent: string | null | undefined, describe: () => SpanDescription): Span | undefined;
  /** The trace context to pass on when nothing is recorded, so that later services do not record either. */
  unrecorded(traceparent: string | undefined): string | undefined;
}

/** Records nothing, and passes a caller's trace context on unchanged. */
export const NO_TRACING: Tracing = {
  begin: () => undefined,
  continueTrace: () => undefined,
  unrecorded: (traceparent) => traceparent,
};

/** `error.type` of spans and metrics: an error's code, type (Kafka) or name, never its message, which may quote a client's data. */
export function errorTypeOf(failure: unknown): string {
  if (typeof failure === 'string') return failure;
  if (!(failure instanceof Error)) return '_OTHER';
  const { code, type } = failure as { code?: unknown; type?: unknown };
  if (typeof code === 'string') return code;
  return typeof type === 'string' ? type : failure.name;
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Named after the route, because paths and queries contain clients' data. */
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

/** Runs each request in the span that `begin` returns, if any; spans of its work become children. */
export function traceRequests(app: FastifyInstance, begin: (request: FastifyRequest) => Span | undefined): void {
  app.addHook('onRequest', (request, reply, done) => {
    const span = begin(request);
    if (!span) return done();
    traceResponse(span, reply.raw);
    runInSpan(span, done);
  });
}

/** Ends a request's span with its response. */
export function traceResponse(span: Span, response: ServerResponse): void {
  // Emitted after every response, even if the client disconnects first.
  response.once('close', () => {
    const { headersSent, statusCode, writableFinished } = response;
    if (headersSent) span.set({ 'http.response.status_code': statusCode });
    const failure = writableFinished ? undefined : 'client_gone';
    span.end(statusCode >= 500 ? String(statusCode) : failure);
  });
}
