import type { ReceivedSpan } from '@taskmesh/telemetry/otlp-json';

/** A developer looks at what was just done: more are forgotten, the oldest first. */
const MOST_TRACES = 500;
const MOST_SPANS = 500;

export interface Trace {
  traceId: string;
  /** What it began with, as far as that is here. */
  name: string;
  startMs: number;
  durationMs: number;
  hasError: boolean;
  spans: readonly ReceivedSpan[];
}

export function createTraceStore() {
  const spansByTrace = new Map<string, ReceivedSpan[]>();

  return {
    add(spans: ReceivedSpan[]): void {
      for (const span of spans) {
        const known = spansByTrace.get(span.traceId) ?? [];
        if (known.length < MOST_SPANS) known.push(span);
        spansByTrace.set(span.traceId, known);
      }
      for (const traceId of spansByTrace.keys()) {
        if (spansByTrace.size <= MOST_TRACES) break;
        spansByTrace.delete(traceId);
      }
    },
    /** The newest first. */
    all: (): Trace[] => [...spansByTrace.values()].map(traceOf).toSorted((one, other) => other.startMs - one.startMs),
    find(traceId: string): Trace | undefined {
      const spans = spansByTrace.get(traceId);
      return spans && traceOf(spans);
    },
  };
}

function traceOf(spans: ReceivedSpan[]): Trace {
  const sorted = spans.toSorted((one, other) => one.startMs - other.startMs);
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const first = sorted.find(({ parentSpanId }) => !parentSpanId || !ids.has(parentSpanId)) ?? sorted[0];
  const startMs = sorted[0]?.startMs ?? 0;
  return {
    traceId: first?.traceId ?? '',
    name: first?.name ?? '',
    startMs,
    durationMs: Math.max(...spans.map(({ endMs }) => endMs)) - startMs,
    hasError: spans.some(({ isError }) => isError),
    spans: sorted,
  };
}

/** In the order of a tree, each with how deep it is below the first. Those whose parent is not here stand beside that. */
export function treeOf({ spans }: Trace): { span: ReceivedSpan; depth: number }[] {
  const children = Map.groupBy(spans, ({ parentSpanId }) => parentSpanId ?? '');
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const rowsBelow = (span: ReceivedSpan, depth: number): ReturnType<typeof treeOf> => [
    { span, depth },
    ...(children.get(span.spanId) ?? []).flatMap((child) => rowsBelow(child, depth + 1)),
  ];
  return spans
    .filter(({ parentSpanId }) => !parentSpanId || !ids.has(parentSpanId))
    .flatMap((span) => rowsBelow(span, 0));
}
