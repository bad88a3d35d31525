import { startTraceCollector } from '@taskmesh/testing/trace-collector';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { eventually } from '@taskmesh/testing';
import { Registry } from 'prom-client';
import { createRecordingLog } from '../../tests/index.ts';
import { createLog } from '../log.ts';
import { openTelemetry, readTelemetry } from './open-telemetry.ts';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318/' };

describe('the settings for traces', () => {
  it.each([{ OTEL_EXPORTER_OTLP_ENDPOINT: '' }, { OTEL_TRACES_SAMPLER: 'always_on', OTEL_SERVICE_NAME: 'mine' }])(
    'disable tracing: %j',
    (env) => expect(readTelemetry(env)).toBeUndefined(),
  );

  it('have the defaults of OpenTelemetry', () => {
    expect(readTelemetry(ENDPOINT)).toEqual({
      url: 'http://127.0.0.1:4318/v1/traces',
      protocol: 'http/protobuf',
      ...{ ratio: 1, isParentBased: true, callersPerS: 10 },
    });
  });

  it.each([
    ['always_on', '0.5', { ratio: 1, isParentBased: false }],
    ['always_off', '0.5', { ratio: 0, isParentBased: false }],
    ['parentbased_always_off', '1', { ratio: 0, isParentBased: true }],
    ['parentbased_traceidratio', '0.01', { ratio: 0.01, isParentBased: true }],
  ])('support the sampler %s', (sampler, arg, expected) => {
    const env = { ...ENDPOINT, OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: arg };
    expect(readTelemetry(env)).toMatchObject(expected);
  });

  it.each([
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318'],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', 'grpc'],
    ['OTEL_TRACES_SAMPLER', 'xray'],
    ['OTEL_TRACES_SAMPLER_ARG', '1.5'],
    ['TRACE_CALLERS_PER_S', '-1'],
    // OpenTelemetry's SDK would silently ignore these.
    ['OTEL_RESOURCE_ATTRIBUTES', 'team=tasks,load=50%'],
    ['OTEL_RESOURCE_ATTRIBUTES', '=tasks'],
    ['OTEL_RESOURCE_ATTRIBUTES', `long=${'x'.repeat(256)}`],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'Authorization: Bearer x'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key=x,other=50%'],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'api-key=a;b'],
  ])('refuse %s=%s', (name, value) => expect(() => readTelemetry({ ...ENDPOINT, [name]: value })).toThrow(name));

  it.each([
    ['OTEL_RESOURCE_ATTRIBUTES', 'team=tasks, deployment.environment.name=a%2Cb%20c,'],
    ['OTEL_RESOURCE_ATTRIBUTES', 'note='],
    ['OTEL_EXPORTER_OTLP_HEADERS', 'Authorization=Basic bWU6eA==, api-key=50%25'],
  ])('accept %s=%s', (name, value) => expect(readTelemetry({ ...ENDPOINT, [name]: value })).toBeDefined());
});

describe('telemetry', () => {
  it('does not even load the SDK of OpenTelemetry without a collector', async () => {
    const program = `
      import { registerHooks } from 'node:module';
      const loaded = [];
      registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
      const { createLog, openTelemetry, readTelemetry } = await import('@taskmesh/service');
      for (const lib of ['store', 'internal-api', 'event-log', 'subgraph']) await import('@taskmesh/' + lib);
      const { Registry } = await import('prom-client');
      const open = async (env) => {
        const log = createLog({ service: 'test', level: 'silent' });
        const telemetry = await openTelemetry(readTelemetry(env), log, new Registry());
        return telemetry.tracing('tasks').begin(undefined, () => ({ name: 'x' })) !== undefined;
      };
      // prom-client loads the API even without tracing.
      const count = () => loaded.filter((url) => /\\/@opentelemetry\\/(?!api\\/)/.test(url)).length;
      const off = [await open({}), count()];
      const on = [await open({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }), count() > 0];
      console.log(JSON.stringify({ off, on }));
      process.exit();`;
    const args = ['--input-type=module', '--eval', program];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: import.meta.dirname });
    expect(JSON.parse(stdout)).toEqual({ off: [false, 0], on: [true, true] });
  });

  it('does not wait for a silent collector when it stops', async () => {
    const collector = await startTraceCollector();
    collector.respondWith(503);
    const config = readTelemetry({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const telemetry = await openTelemetry(config, createLog({ service: 'test', level: 'silent' }), new Registry());
    const span = telemetry.tracing('tasks').begin(undefined, () => ({ name: 'x' }));
    span?.end();
    const begun = performance.now();
    await telemetry.stop();
    expect(performance.now() - begun).toBeLessThan(5_000);
  }, 10_000);
});

it('logs spans that the collector rejects, with its message, and counts them', async () => {
  const { log, lines } = createRecordingLog();
  const metrics = new Registry();
  const collector = await startTraceCollector();
  collector.setBody(JSON.stringify({ partialSuccess: { rejectedSpans: '1', errorMessage: 'too old' } }));
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json' };
  const telemetry = await openTelemetry(readTelemetry(env), log, metrics);
  const tracing = telemetry.tracing('tasks');
  for (const span of [1, 2, 3].map(() => tracing.begin(undefined, () => ({ name: 'x' })))) span?.end();
  await telemetry.stop();
  await eventually(() => expect(lines).toHaveLength(1));
  expect(lines).toMatchObject([
    { level: 'warn', msg: 'the collector rejects some of the traces', rejectedSpans: 1, reason: 'too old' },
  ]);
  const text = await metrics.metrics();
  expect(text).toMatch(/^otel_sdk_exporter_span_exported_total 2$/m);
  expect(text).toMatch(/^otel_sdk_exporter_span_exported_total\{error_type="rejected"\} 1$/m);
  for (const { path, headers } of collector.exports)
    expect([path, headers['content-type']]).toEqual(['/v1/traces', 'application/json']);
});
