import { AsyncLocalStorage } from 'node:async_hooks';

/** Names and texts of our own, never a client's: whatever is written here leaves the product. */
export type Attributes = Record<string, string | number | boolean | string[] | undefined>;

export interface SpanDescription {
  name: string;
  /** @default 'internal' */
  kind?: 'server' | 'client' | 'producer' | 'consumer' | 'internal';
  /** By the names of OpenTelemetry's semantic conventions, or `taskmesh.…`. */
  attributes?: Attributes;
  /** Unix milliseconds. @default now */
  startMs?: number;
}

/** A span of a trace that is recorded. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** For whoever goes on with the trace: W3C trace context. */
  readonly traceparent: string;
  readonly startMs: number;
  /** A span below this one. `service`: whose it is when another service of this process works. */
  child(description: SpanDescription, service?: string): Span;
  set(attributes: Attributes): void;
  /** Once. `failure`: why it failed, of which only the kind is told; its message may quote what a client sent. */
  end(failure?: unknown): void;
}

const active = new AsyncLocalStorage<Span>();

/** The span that the present work belongs to; undefined when its trace is not recorded. */
export const activeSpan = (): Span | undefined => active.getStore();

/** Runs work, and all that it leads to, below a span. */
export const within = <Result>(span: Span, work: () => Result): Result => active.run(span, work);

/** What goes on by itself belongs to no request, whoever began it. */
export const outside = <Result>(work: () => Result): Result => active.exit(work);

/** Work with a span of its own when it belongs to a trace that is recorded, and otherwise just the work. */
export function inSpan<Result>(
  describe: () => SpanDescription,
  work: (span: Span | undefined) => Promise<Result>,
  service?: string,
): Promise<Result> {
  const parent = active.getStore();
  return parent ? workIn(parent.child(describe(), service), work) : work(undefined);
}

/** The same below a span that has begun; ends it. */
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

/** What a line of a log has to say of its trace. */
export function logFields(): { trace_id?: string; span_id?: string } {
  const span = active.getStore();
  return span ? { trace_id: span.traceId, span_id: span.spanId } : {};
}
