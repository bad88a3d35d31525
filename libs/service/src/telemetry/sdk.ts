import { errorCode } from '@taskmesh/contracts/error-details';
import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Span as SdkSpan,
  type Tracer,
} from '@opentelemetry/api';
import {
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceNameEnvDetector,
} from '@opentelemetry/resources';
import { ExportResultCode } from '@opentelemetry/core';
import { convertLegacyHttpOptions, createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { BatchSpanProcessor, TracerProvider, type ReadableSpan, type SpanExporter } from '@opentelemetry/sdk-trace';
import {
  errorTypeOf,
  formatTraceparent,
  parseTraceparent,
  type Span,
  type SpanDescription,
  type TraceParent,
  type Tracing,
} from './tracing.ts';

export interface DecisionOptions {
  /** The share of traces that start here to record, from 0 to 1. */
  ratio: number;
  /** Whether to respect the caller's decision. */
  isParentBased: boolean;
  /** How many traces per second to record because their callers do; beyond that, `ratio` applies. */
  callersPerS: number;
  /** From 0 up to 1. */
  random: () => number;
  /** Milliseconds of any monotonic clock. */
  monotonicMs: () => number;
}

/**
 * Decides whether to record a request from outside. OpenTelemetry's samplers do not fit: they trust every caller, and
 * the one based on trace ids lets a caller choose an id that is recorded. This one always respects a caller's "not
 * recorded", but "recorded" only up to a rate limit.
 */
export function createDecision(options: DecisionOptions): (parent: TraceParent | undefined) => boolean {
  const { ratio, isParentBased, callersPerS, random, monotonicMs } = options;
  let room = callersPerS;
  let lastMs = monotonicMs();

  const hasRoom = () => {
    const nowMs = monotonicMs();
    room = Math.min(callersPerS, room + ((nowMs - lastMs) / 1_000) * callersPerS);
    lastMs = nowMs;
    if (room < 1) return false;
    room--;
    return true;
  };

  return (parent) => {
    if (isParentBased && parent) {
      if (!parent.isSampled) return false;
      if (hasRoom()) return true;
    }
    return random() < ratio;
  };
}

export interface SdkOptions extends DecisionOptions {
  url: string;
  protocol: 'http/protobuf' | 'http/json';
  version: string;
  /** Identifies this process among others of its service. */
  instanceId: string;
  /** How many ended spans may wait for the collector; further ones are dropped. @default 2_048 */
  maxQueueSize?: number;
  /** @default 512 */
  maxExportBatchSize?: number;
  scheduledDelayMs: number;
  /** Called once when the collector stops accepting spans; `onRecovery` once when it accepts them again. */
  onOutage: (error: unknown) => void;
  onRecovery: () => void;
  /** Called once when the collector rejects spans or sends a warning; again only after an export without either. */
  onObjection: (objection: Objection) => void;
  /** Called with the number of spans of each export; with an error type for spans that the collector did not accept. */
  onExported: (spans: number, errorType?: string) => void;
}

/** OTLP's partial success; a warning if no spans were rejected. */
export interface Objection {
  rejectedSpans: number;
  message: string;
}

export type StartedSdk = ReturnType<typeof startSdk>;

/** Limits the collector's message in our log. */
const MAX_MESSAGE_LENGTH = 500;

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

/** Starts OpenTelemetry's SDK, which reads headers, certificates and timeouts from the environment. */
export function startSdk(options: SdkOptions) {
  const { maxQueueSize = 2_048, maxExportBatchSize = 512, scheduledDelayMs: scheduledDelayMillis } = options;
  const exporter = createExporter(options);
  const processor = new BatchSpanProcessor({ exporter, maxQueueSize, maxExportBatchSize, scheduledDelayMillis });
  const environmentResource = detectResources({ detectors: [resourceAttributesEnvDetector, serviceNameEnvDetector] });
  const decide = createDecision(options);
  const tracers = new Map<string, Tracer>();

  const tracerOf = (service: string): Tracer => {
    const known = tracers.get(service);
    if (known) return known;
    const resource = resourceFromAttributes({
      'service.name': `taskmesh-${service}`,
      'service.version': options.version,
      'service.instance.id': options.instanceId,
    }).merge(environmentResource);
    // Not registered globally: libraries would then trace every request, including the documents sent by clients.
    const fresh = new TracerProvider({ resource, spanProcessors: [processor] }).getTracer('taskmesh', options.version);
    tracers.set(service, fresh);
    return fresh;
  };

  const start = (
    tracer: Tracer,
    { name, kind = 'internal', attributes, startMs }: SpanDescription,
    parent?: SdkSpan,
  ) => {
    const context = parent ? trace.setSpan(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
    return tracer.startSpan(name, { kind: KINDS[kind], attributes, ...(startMs && { startTime: startMs }) }, context);
  };

  const wrap = (tracer: Tracer, span: SdkSpan, startMs: number): Span => {
    const { traceId, spanId } = span.spanContext();
    return {
      traceId,
      spanId,
      startMs,
      get traceparent() {
        return formatTraceparent({ traceId, spanId, isSampled: true });
      },
      child(description, service) {
        const own = service === undefined ? tracer : tracerOf(service);
        return wrap(own, start(own, description, span), description.startMs ?? Date.now());
      },
      set: (attributes) => void span.setAttributes(attributes),
      end(failure) {
        if (failure !== undefined) {
          span.setAttribute('error.type', errorTypeOf(failure));
          span.setStatus({ code: SpanStatusCode.ERROR });
        }
        span.end();
      },
    };
  };

  const open = (tracer: Tracer, parent: TraceParent | undefined, description: SpanDescription): Span => {
    const above = parent && trace.wrapSpanContext({ ...parent, traceFlags: TraceFlags.SAMPLED, isRemote: true });
    return wrap(tracer, start(tracer, description, above), description.startMs ?? Date.now());
  };

  return {
    tracing(service: string): Tracing {
      const tracer = tracerOf(service);
      return {
        begin(traceparent, describe) {
          const parent = traceparent === undefined ? undefined : parseTraceparent(traceparent);
          return decide(parent) ? open(tracer, parent, describe()) : undefined;
        },
        continueTrace(traceparent, describe) {
          const parent = traceparent == null ? undefined : parseTraceparent(traceparent);
          return parent?.isSampled ? open(tracer, parent, describe()) : undefined;
        },
        unrecorded(traceparent) {
          const parent = traceparent === undefined ? undefined : parseTraceparent(traceparent);
          return parent && formatTraceparent({ ...parent, isSampled: false });
        },
      };
    },
    /** Sends all spans that have ended, without a time limit. */
    async stop(): Promise<void> {
      await processor.shutdown().catch(() => undefined); // reported by `onOutage`
      await exporter.shutdown(); // unlike the processor, also waits for an export already in flight
    },
  };
}

const PROTOCOLS = {
  'http/protobuf': { contentType: 'application/x-protobuf', serializer: ProtobufTraceSerializer },
  'http/json': { contentType: 'application/json', serializer: JsonTraceSerializer },
} as const;

type PartialSuccess = NonNullable<ReturnType<typeof ProtobufTraceSerializer.deserializeResponse>['partialSuccess']>;

/** Exports spans and reports the outcomes. Never resends spans that the collector rejected. */
function createExporter({ url, protocol, onOutage, onRecovery, onObjection, onExported }: SdkOptions): SpanExporter {
  const { contentType, serializer } = PROTOCOLS[protocol];
  let isUnavailable = false;
  let isObjecting = false;
  /** From the response to the export that ends next: it is parsed right before. */
  let objection: Objection | undefined;

  const exporter = createOtlpHttpExportDelegate(
    // eslint-disable-next-line @typescript-eslint/no-deprecated -- nothing else reads headers, certificates and time-outs from the environment
    convertLegacyHttpOptions({ url }, 'TRACES', 'v1/traces', { 'Content-Type': contentType }),
    {
      serializeRequest: serializer.serializeRequest,
      deserializeResponse(response) {
        objection = objectionIn(serializer.deserializeResponse(response).partialSuccess);
        return {};
      },
    },
    'otlp_http_span_exporter',
    { name: 'span', countItems: (spans: ReadableSpan[]) => spans.length },
    undefined,
  );

  const succeeded = (spans: number) => {
    if (isUnavailable) onRecovery();
    if (objection && !isObjecting) onObjection(objection);
    [isUnavailable, isObjecting] = [false, objection !== undefined];
    const rejected = Math.min(objection?.rejectedSpans ?? 0, spans);
    onExported(spans - rejected);
    if (rejected > 0) onExported(rejected, 'rejected');
  };
  const failed = (spans: number, error: unknown) => {
    if (!isUnavailable) onOutage(error);
    isUnavailable = true;
    onExported(spans, errorCode(error) || errorTypeOf(error));
  };

  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        if (result.code === ExportResultCode.SUCCESS) succeeded(spans.length);
        else failed(spans.length, result.error);
        objection = undefined;
        done(result);
      });
    },
    forceFlush: () => exporter.forceFlush(),
    shutdown: () => exporter.shutdown(),
  };
}

function objectionIn({ rejectedSpans = 0, errorMessage }: PartialSuccess = {}): Objection | undefined {
  const rejected = Math.max(0, Number(rejectedSpans)); // in JSON it may be a string
  const message = String(errorMessage ?? '').slice(0, MAX_MESSAGE_LENGTH);
  return rejected > 0 || message !== '' ? { rejectedSpans: rejected || 0, message } : undefined;
}
