import { createServer, type IncomingHttpHeaders } from 'node:http';
import { listen } from './addresses.ts';

/** A span in OTLP's JSON, with plain attribute values. */
export type ReceivedSpan = ReturnType<typeof readOtlpJson>[number];

/** A `stringValue`, `boolValue`, `intValue`, `doubleValue` or `arrayValue`. */
type OtlpValue = Record<string, unknown> & { arrayValue?: { values?: OtlpValue[] } };
type OtlpAttributes = { key: string; value: OtlpValue }[];
interface OtlpSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer */
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

/** Parses the spans of one export (`POST /v1/traces`, JSON). @throws on anything else */
function readOtlpJson(text: string) {
  const { resourceSpans = [] } = JSON.parse(text) as OtlpTraces;
  return resourceSpans.flatMap(({ resource: of, scopeSpans = [] }) => {
    const resource = plain(of?.attributes);
    const service = String(resource['service.name'] ?? 'unknown');
    return scopeSpans.flatMap(({ spans = [] }) => spans.map((span) => ({ ...toSpan(span), service, resource })));
  });
}

function toSpan(span: OtlpSpan) {
  const { traceId, spanId, parentSpanId, name, kind, startTimeUnixNano, endTimeUnixNano, attributes, status } = span;
  return {
    ...{ traceId, spanId, parentSpanId: parentSpanId || undefined, name, kind, attributes: plain(attributes) },
    ...{ startMs: Number(startTimeUnixNano) / 1e6, endMs: Number(endTimeUnixNano) / 1e6 },
    isError: status?.code === ERROR,
  };
}

function plain(attributes: OtlpAttributes = []): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plainValue(value)]));
}

function plainValue({ arrayValue, ...value }: OtlpValue): unknown {
  return arrayValue ? (arrayValue.values ?? []).map(plainValue) : Object.values(value)[0];
}

export type TraceCollector = Awaited<ReturnType<typeof startTraceCollector>>;

export async function startTraceCollector() {
  const spans: ReceivedSpan[] = [];
  const exports: { path: string; headers: IncomingHttpHeaders; body: Buffer }[] = [];
  let status = 200;
  let nextBody: string | Uint8Array = '{}';
  let more: Record<string, string> = {};
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks);
      exports.push({ path: request.url ?? '', headers: request.headers, body });
      const isJson = request.headers['content-type'] === 'application/json';
      if (status === 200 && isJson) spans.push(...readOtlpJson(body.toString()));
      response.writeHead(status, { 'content-type': 'application/json', ...more }).end(nextBody);
    });
  });
  const { url, close } = await listen(server);
  return {
    url,
    spans,
    exports,
    /** Sets the status of further responses; any status but 200 rejects the export. */
    respondWith(next: number, headers: Record<string, string> = {}) {
      status = next;
      more = headers;
    },
    /** Sets the body of further responses. */
    setBody: (body: string | Uint8Array) => void (nextBody = body),
    stop: close,
  };
}
