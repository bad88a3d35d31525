import { errorCode } from '@taskmesh/contracts/error-details';
import { randomUUID } from 'node:crypto';
import type { Registry } from 'prom-client';
import { z } from 'zod';
import { settlesWithin } from '../time.ts';
import { isDecodable, readEnv, readVersion, setting, type Env } from '../config.ts';
import type { Service } from '../lifecycle.ts';
import type { Log } from '../log.ts';
import { createMeters } from '../metrics.ts';
import type { SdkOptions } from './sdk.ts';
import { NO_TRACING, type Tracing } from './tracing.ts';

const FLUSH_MS = 3_000;
const SEND_EVERY_MS = 1_000;

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** Validated here because the SDK silently drops what it cannot parse (one bad attribute drops all). */
const pairs = (isPair: (pair: string) => boolean, rule: string) =>
  setting
    .text()
    .refine(
      (text) => text.split(',').every((pair) => pair.trim() === '' || (isDecodable(pair) && isPair(pair))),
      `must be name=value, several between commas; ${rule}`,
    );
const MAX_ATTRIBUTE_LENGTH = 255;
const isShort = (part: string) => decodeURIComponent(part.trim()).length <= MAX_ATTRIBUTE_LENGTH;

const settings = z.object({
  OTEL_EXPORTER_OTLP_ENDPOINT: setting.url('http:', 'https:').optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: setting.oneOf(['http/protobuf', 'http/json']).default('http/protobuf'),
  OTEL_TRACES_SAMPLER: setting.oneOf(SAMPLERS).default('parentbased_always_on'),
  OTEL_TRACES_SAMPLER_ARG: setting.number(0, 1).default(1),
  TRACE_CALLERS_PER_S: setting.int(0, 1_000_000).default(10),
  // Only validated here; the SDK itself reads these, and OTEL_SERVICE_NAME.
  OTEL_RESOURCE_ATTRIBUTES: pairs(
    (pair) => /^[^=]*[^=\s][^=]*=[^=]*$/.test(pair) && pair.split('=').every(isShort),
    `each at most ${MAX_ATTRIBUTE_LENGTH} characters, with %2C for a comma, %3D for "=" and %25 for "%"`,
  ).optional(),
  OTEL_EXPORTER_OTLP_HEADERS: pairs(
    (pair) => /^\s*[^=\s;]+\s*=\s*[^\s;][^;]*$/.test(pair),
    'with %2C for a comma, %3B for ";" and %25 for "%"',
  ).optional(),
});

/** Undefined if tracing is off. */
export type TelemetryConfig =
  Pick<SdkOptions, 'url' | 'protocol' | 'ratio' | 'isParentBased' | 'callersPerS'> | undefined;

/** Reads OpenTelemetry's standard variables. @throws ConfigError with every problem */
export function readTelemetry(env: Env): TelemetryConfig {
  const values = readEnv(settings, env);
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } = values;
  if (!endpoint) return undefined;
  const sampler = values.OTEL_TRACES_SAMPLER.replace('parentbased_', '');
  return {
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    protocol: values.OTEL_EXPORTER_OTLP_PROTOCOL,
    ratio: sampler === 'traceidratio' ? values.OTEL_TRACES_SAMPLER_ARG : Number(sampler === 'always_on'),
    isParentBased: values.OTEL_TRACES_SAMPLER.startsWith('parentbased_'),
    callersPerS: values.TRACE_CALLERS_PER_S,
  };
}

/** Stop it last, so that it also sends the spans that end while the others stop. */
export interface Telemetry extends Service {
  tracing(service: string): Tracing;
}

/** Does not even load OpenTelemetry without a collector. `random` (from 0 up to 1) is for sampling. */
export async function openTelemetry(
  config: TelemetryConfig,
  log: Log,
  metrics: Registry,
  random = Math.random,
): Promise<Telemetry> {
  if (!config) return { start: async () => undefined, stop: async () => undefined, tracing: () => NO_TRACING };
  const { startSdk } = await import('./sdk.ts');
  const exported = createMeters(metrics).counter(
    'otel_sdk_exporter_span_exported_total',
    'Spans that were sent to the collector; with an error_type, it did not accept them',
    'error_type',
  );
  const sdk = startSdk({
    ...config,
    scheduledDelayMs: SEND_EVERY_MS,
    version: readVersion(),
    instanceId: randomUUID(),
    random,
    monotonicMs: () => performance.now(),
    onOutage: (error) =>
      log.warn({ reason: reasonOf(error) }, 'the collector does not accept traces; continuing without it'),
    onRecovery: () => log.info('the collector accepts traces again'),
    onObjection: ({ rejectedSpans, message }) =>
      log.warn(
        { rejectedSpans, reason: message },
        rejectedSpans > 0 ? 'the collector rejects some of the traces' : 'the collector warns about the traces',
      ),
    onExported: (spans, errorType) => exported.inc(errorType === undefined ? {} : { error_type: errorType }, spans),
  });
  return {
    start: async () => undefined,
    tracing: sdk.tracing,
    // Unsent spans are lost after that time; the outage has been logged.
    stop: async () => void (await settlesWithin(sdk.stop(), FLUSH_MS)),
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return errorCode(error) || error.message;
}
