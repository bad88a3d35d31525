import type { Span, SpanDescription } from './span.ts';

export interface Tracing {
  /**
   * A span for a request from outside, in its caller's trace; undefined when `createDecision` decides not to record it.
   */
  begin(traceparent: string | undefined, describe: () => SpanDescription): Span | undefined;
  /** A span for a call between our own services: follows the caller's decision. */
  goOn(traceparent: string | null | undefined, describe: () => SpanDescription): Span | undefined;
  /** The trace context to pass on when nothing is recorded, so that later services do not record either. */
  unrecorded(traceparent: string | undefined): string | undefined;
}

/** Records nothing, and passes a caller's trace context on unchanged. */
export const NO_TRACING: Tracing = {
  begin: () => undefined,
  goOn: () => undefined,
  unrecorded: (traceparent) => traceparent,
};
