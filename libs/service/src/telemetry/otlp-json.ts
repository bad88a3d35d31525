/** A span in OTLP's JSON, with plain attribute values. */
export interface ReceivedSpan {
  /** `service.name` */
  service: string;
  resource: Record<string, unknown>;
  traceId: string;
  spanId: string;
  parentSpanId: string | undefined;
  name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer */
  kind: number;
  startMs: number;
  endMs: number;
  attributes: Record<string, unknown>;
  isError: boolean;
}

interface OtlpValue {
  stringValue?: string;
  boolValue?: boolean;
  intValue?: number | string;
  doubleValue?: number;
  arrayValue?: { values?: OtlpValue[] };
}
type OtlpAttributes = { key: string; value: OtlpValue }[];
interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes?: OtlpAttributes;
  status?: { code?: number };
}
interface OtlpTraces {
  resourceSpans?: { resource?: { attributes?: OtlpAttributes }; scopeSpans?: { spans?: OtlpSpan[] }[] }[];
}

const ERROR = 2;

/** The spans of one export (`POST /v1/traces`, JSON). @throws on anything else */
export function readOtlpJson(text: string): ReceivedSpan[] {
  const { resourceSpans = [] } = JSON.parse(text) as OtlpTraces;
  return resourceSpans.flatMap(({ resource: of, scopeSpans = [] }) => {
    const resource = plain(of?.attributes);
    const service = String(resource['service.name'] ?? 'unknown');
    return scopeSpans.flatMap(({ spans = [] }) => spans.map((span) => ({ ...toSpan(span), service, resource })));
  });
}

function toSpan(span: OtlpSpan): Omit<ReceivedSpan, 'service' | 'resource'> {
  const { traceId, spanId, parentSpanId, name, kind, startTimeUnixNano, endTimeUnixNano, attributes, status } = span;
  return {
    traceId,
    spanId,
    parentSpanId: parentSpanId || undefined,
    name,
    kind,
    startMs: Number(startTimeUnixNano) / 1e6,
    endMs: Number(endTimeUnixNano) / 1e6,
    attributes: plain(attributes),
    isError: status?.code === ERROR,
  };
}

function plain(attributes: OtlpAttributes = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue({ arrayValue, ...value }: OtlpValue): unknown {
  return arrayValue ? (arrayValue.values ?? []).map(plainValue) : Object.values(value)[0];
}
