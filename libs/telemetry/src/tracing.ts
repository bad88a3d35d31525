import type { Span, SpanDescription } from './span.ts';

/** Where the traces of one service begin, and where those of others go on. */
export interface Tracing {
  /**
   * A request from outside. Its caller's trace is gone on with; whether it is recorded is decided here (see `createDecision`).
   * Undefined when it is not.
   */
  begin(traceparent: string | undefined, describe: () => SpanDescription): Span | undefined;
  /** A part of ours has recorded what led here, or not: so it stays. */
  goOn(traceparent: string | null | undefined, describe: () => SpanDescription): Span | undefined;
  /** A caller's trace context as it is passed on where nothing is recorded: so that nobody behind us records it either. */
  unrecorded(traceparent: string | undefined): string | undefined;
}

/** Nothing is recorded, and a caller's trace is passed on as it came. */
export const NO_TRACING: Tracing = {
  begin: () => undefined,
  goOn: () => undefined,
  unrecorded: (traceparent) => traceparent,
};
