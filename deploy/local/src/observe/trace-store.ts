import type { ReceivedSpan } from '@taskmesh/telemetry/otlp-json';

/** A developer looks at what was just done: more are forgotten, the oldest first. */
const MOST_TRACES = 500;
const MOST_SPANS = 500;

export type Trace = ReturnType<typeof traceOf>;

/** A span, and how deep it is below the first. */
interface TraceRow {
  span: ReceivedSpan;
  depth: number;
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
      for (const traceId of [...spansByTrace.keys()].slice(0, -MOST_TRACES)) spansByTrace.delete(traceId);
    },
    /** The newest first. */
    all: (): Trace[] => [...spansByTrace.values()].map(traceOf).toSorted((one, other) => other.startMs - one.startMs),
    find(traceId: string): Trace | undefined {
      const spans = spansByTrace.get(traceId);
      return spans && traceOf(spans);
    },
  };
}

function traceOf(spans: ReceivedSpan[]) {
  const rows = treeOf(spans.toSorted((one, other) => one.startMs - other.startMs));
  const startMs = Math.min(...spans.map((span) => span.startMs));
  return {
    traceId: spans[0]?.traceId ?? '',
    name: nameOf(rows),
    startMs,
    durationMs: Math.max(...spans.map(({ endMs }) => endMs)) - startMs,
    hasError: spans.some(({ isError }) => isError),
    rows,
  };
}

/**
 * What it began with, as far as that is here; of a client's GraphQL operation with the fields that it asks for. Those of REST
 * and of services behind the gateway say no more than the route.
 */
function nameOf([first, ...others]: TraceRow[]): string {
  if (!first) return '';
  const ofFirst = [first, ...others].filter(({ span }) => span.service === first.span.service);
  const fields = ofFirst.map(({ span }) => span.attributes['taskmesh.graphql.fields']).find(Array.isArray);
  return fields ? `${first.span.name} { ${fields.join(' ')} }` : first.span.name;
}

/** In the order of a tree. Those whose parent is not here stand beside the first. */
function treeOf(spans: ReceivedSpan[]): TraceRow[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  const children = Map.groupBy(spans, ({ parentSpanId: id }) => (id && ids.has(id) ? id : undefined));
  const rowsBelow = (parentId: string | undefined, depth: number): TraceRow[] =>
    (children.get(parentId) ?? []).flatMap((span) => [{ span, depth }, ...rowsBelow(span.spanId, depth + 1)]);
  return rowsBelow(undefined, 0);
}
