import { AsyncLocalStorage } from 'node:async_hooks';

/** Our own names and texts, never a client's: attributes leave the product. */
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
  /** Call once. Of `failure` only the kind is exported, as its message may quote what a client sent. */
  end(failure?: unknown): void;
}

const active = new AsyncLocalStorage<Span>();

/** The span of the current work; undefined when its trace is not recorded. */
export const activeSpan = (): Span | undefined => active.getStore();

/** Runs work, with all that it calls, as part of a span. */
export const within = <Result>(span: Span, work: () => Result): Result => active.run(span, work);

/** Runs background work, which belongs to no request, whichever started it. */
export const outside = <Result>(work: () => Result): Result => active.exit(work);

/** Runs work in a child span when the current trace is recorded, otherwise without one. */
export function inSpan<Result>(
  describe: () => SpanDescription,
  work: (span: Span | undefined) => Promise<Result>,
  service?: string,
): Promise<Result> {
  const parent = active.getStore();
  return parent ? workIn(parent.child(describe(), service), work) : work(undefined);
}

/** Runs work in a span that has begun; ends the span. */
export async function workIn<Result>(span: Span, work: (span: Span) => Promise<Result>): Promise<Result> {
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
