import { atEnd, eventually } from '@taskmesh/testing';
import { createDecision, startSdk, type DecisionOptions, type SdkOptions, type StartedSdk } from './sdk.ts';
import { startTraceCollector, type TraceCollector } from '@taskmesh/testing/trace-collector';
import { createRecordingLog } from '../../tests/index.ts';
import { runAndEndSpan } from './tracing.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const FROM_CLIENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;
const RECORDED = { traceId: TRACE_ID, spanId: '00f067aa0ba902b7', isSampled: true };
const UNRECORDED = { ...RECORDED, isSampled: false };

function fixture(options: Partial<DecisionOptions> = {}) {
  const clock = { ms: 0 };
  const defaults = { ratio: 0, isParentBased: true, callersPerS: 3, random: () => 0.5, monotonicMs: () => clock.ms };
  const decide = createDecision({ ...defaults, ...options });
  const countOf = (parent: Parameters<typeof decide>[0], requests: number) =>
    Array.from({ length: requests }, () => decide(parent)).filter(Boolean).length;
  return { clock, countOf };
}

describe('the decision to record a request', () => {
  // A trace id is chosen by the caller, and decides nothing.
  const CHOSEN = { ...RECORDED, traceId: '0'.repeat(31) + '1' };

  it.each([
    ['all with a ratio of 1', { ratio: 1 }, undefined, 10],
    ['none with a ratio of 0', { ratio: 0, random: () => 0 }, undefined, 0],
    ['none if the caller does not record', { ratio: 1 }, UNRECORDED, 0],
    ['none for a lucky trace id', { ratio: 0.01, callersPerS: 0 }, CHOSEN, 0],
    ['all by the ratio alone, without a parent-based sampler', { ratio: 1, isParentBased: false }, UNRECORDED, 10],
    ['none by the ratio alone, without a parent-based sampler', { isParentBased: false }, RECORDED, 0],
  ])('is positive for %s', (_which, options, parent, expected) =>
    expect(fixture(options).countOf(parent, 10)).toBe(expected),
  );

  it('depends on the ratio if the caller sends no trace context', () => {
    const draws = [0, 0.09, 0.1, 0.99];
    const { countOf } = fixture({ ratio: 0.1, random: () => draws.shift() ?? 1 });
    expect(countOf(undefined, 4)).toBe(2);
  });

  it('is positive if the caller records, up to a rate limit', () => {
    const { clock, countOf } = fixture();
    expect(countOf(RECORDED, 1_000)).toBe(3);
    clock.ms = 1_000;
    expect(countOf(RECORDED, 1_000)).toBe(3);
    clock.ms = 1_000_000;
    expect(countOf(RECORDED, 1_000)).toBe(3);
  });
});

describe('recorded traces', () => {
  let collector: TraceCollector;
  let reports: string[];
  let counts: Map<string, number>;

  const start = (options: Partial<SdkOptions> = {}) => {
    const sdk = startSdk({
      url: `${collector.url}/v1/traces`,
      protocol: 'http/json',
      version: '1.2.3',
      instanceId: 'one',
      ...{ ratio: 1, isParentBased: true, callersPerS: 10, random: () => 0, monotonicMs: () => 0 },
      ...{ maxQueueSize: 100, maxExportBatchSize: 10, scheduledDelayMs: 10 },
      onOutage: (error) => reports.push(`away: ${String(error)}`),
      onRecovery: () => reports.push('back'),
      onObjection: ({ rejectedSpans, message }) => reports.push(`rejects ${rejectedSpans}: ${message}`),
      onExported: (spans, errorType = 'taken') => counts.set(errorType, (counts.get(errorType) ?? 0) + spans),
      ...options,
    });
    atEnd(() => sdk.stop());
    return sdk;
  };

  const sendOne = (sdk: StartedSdk, name = 'x') =>
    sdk
      .tracing('gateway')
      .begin(undefined, () => ({ name }))
      ?.end();

  beforeEach(async () => {
    collector = await startTraceCollector();
    [reports, counts] = [[], new Map()];
  });

  it('are linked to the log lines that are written within them', async () => {
    const span = start()
      .tracing('gateway')
      .begin(FROM_CLIENT, () => ({ name: 'request', kind: 'server' }));
    if (!span) throw new Error('not recorded');
    const { log, lines } = createRecordingLog();
    await runAndEndSpan(span, async () => log.info('inside'));
    log.info('outside');
    expect(lines).toEqual([
      expect.objectContaining({ trace_id: TRACE_ID, span_id: span.spanId }),
      expect.not.objectContaining({ trace_id: expect.anything() }),
    ]);
  });

  it('are not recorded by later services if they are not recorded here, and start here without a valid trace context', async () => {
    const tracing = start({ ratio: 0, callersPerS: 0 }).tracing('gateway');
    const begin = () => ({ name: 'request' });
    expect(tracing.begin(FROM_CLIENT, begin)).toBeUndefined();
    expect(tracing.unrecorded(FROM_CLIENT)).toBe(`${FROM_CLIENT.slice(0, -2)}00`);
    expect(tracing.unrecorded('nonsense')).toBeUndefined();
    const recording = start().tracing('gateway');
    const parents = [undefined, 'nonsense', `ff${FROM_CLIENT.slice(2)}`];
    const ids = parents.map((parent) => recording.begin(parent, begin)?.traceId);
    expect(new Set([...ids, TRACE_ID]).size).toBe(4);
  });

  it('contain only the code or type of an error, never its message', async () => {
    const tracing = start().tracing('gateway');
    const failures = ['504', Object.assign(new Error('planted'), { code: '23505' }), new TypeError('planted'), 7];
    for (const failure of failures) tracing.begin(undefined, () => ({ name: 'request' }))?.end(failure);
    await eventually(() => expect(collector.spans).toHaveLength(4));
    const kinds = collector.spans.map(({ attributes, isError }) => isError && attributes['error.type']);
    expect(kinds).toEqual(['504', '23505', 'TypeError', '_OTHER']);
    expect(collector.exports.map(({ body }) => body.toString()).join()).not.toContain('planted');
  });

  it.each([
    ['that are still waiting', { scheduledDelayMs: 600_000 }],
    ['that are being sent', { maxExportBatchSize: 1 }],
  ])('are sent before a stop ends: those %s', async (_which, options) => {
    const sdk = start(options);
    sendOne(sdk);
    await sdk.stop();
    expect(collector.spans.map(({ name }) => name)).toEqual(['x']);
  });

  it('are dropped while the collector refuses them, which is reported once, and sent when it accepts them again', async () => {
    const sdk = start();
    collector.respondWith(400);
    for (const expected of [1, 2, 3]) {
      sendOne(sdk, 'lost');
      await eventually(() => expect(collector.exports).toHaveLength(expected));
    }
    collector.respondWith(200);
    await eventually(() => {
      sendOne(sdk, 'found');
      expect(collector.spans.length).toBeGreaterThan(0);
    });
    await eventually(() => expect(reports).toEqual([expect.stringMatching(/^away: /), 'back']));
  });

  describe('of which the collector rejects some', () => {
    it('are reported once, and counted', async () => {
      const sdk = start({ protocol: 'http/protobuf' });
      const answer = inProtobuf(1, 'a span is older than a day');
      const send = async (body: Buffer, taken: number) => {
        collector.setBody(body);
        for (const name of ['x', 'y', 'z']) sendOne(sdk, name);
        await eventually(() => expect(counts.get('taken')).toBe(taken));
      };
      await send(answer, 2);
      await send(answer, 4);
      expect([counts.get('rejected'), reports]).toEqual([2, ['rejects 1: a span is older than a day']]);
      await send(Buffer.of(), 7);
      await send(answer, 9);
      expect(reports).toHaveLength(2);
      const sent = collector.exports.map(({ path, headers }) => [path, headers['content-type']]);
      expect(sent).toEqual(Array(4).fill(['/v1/traces', 'application/x-protobuf']));
    });

    it.each<[unknown, Record<string, number>, string[]]>([
      [{ partialSuccess: { errorMessage: 'many attributes' } }, { taken: 1 }, ['rejects 0: many attributes']],
      ['ok', { taken: 1 }, []],
      [null, { taken: 1 }, []],
      [{ partialSuccess: { rejectedSpans: -1 } }, { taken: 1 }, []],
      // Never more than were sent, and a message of bounded length.
      [
        { partialSuccess: { rejectedSpans: 1_000, errorMessage: 'x'.repeat(10_000) } },
        { taken: 0, rejected: 1 },
        [`rejects 1000: ${'x'.repeat(500)}`],
      ],
    ])('are counted if the response is %j', async (response, expected, said) => {
      collector.setBody(response === 'ok' ? response : JSON.stringify(response));
      sendOne(start());
      await eventually(() => expect(Object.fromEntries(counts)).toEqual(expected));
      expect(reports).toEqual(said);
    });
  });

  it.each<[status: number, headers: Record<string, string>, reason: string]>([
    [401, {}, '401'],
    [503, { 'retry-after': '3600' }, 'OTLPExporterError'], // longer than the exporter keeps trying
  ])('are counted with the reason why the collector did not accept them: %i', async (status, headers, reason) => {
    collector.respondWith(status, headers);
    sendOne(start());
    await eventually(() => expect([...counts]).toEqual([[reason, 1]]));
  });

  it('need no more memory than the queue while the collector is unavailable', async () => {
    const sdk = start({ maxQueueSize: 10, scheduledDelayMs: 600_000, maxExportBatchSize: 10 });
    collector.respondWith(503); // makes the exporter retry for a while
    for (let count = 0; count < 1_000; count++) sendOne(sdk);
    await eventually(() => expect(collector.exports).toHaveLength(1));
    collector.respondWith(200);
    await sdk.stop();
    expect(collector.spans.length).toBeLessThanOrEqual(20); // one batch being sent, one in the queue
  }, 15_000);
});

/** Encodes an `ExportTraceServiceResponse` with a partial success: its field 1, with a number in field 1 and a text in field 2. */
function inProtobuf(rejectedSpans: number, message: string): Buffer {
  const text = Buffer.from(message);
  const partial = Buffer.concat([Buffer.of(0x08, rejectedSpans, 0x12, text.length), text]);
  return Buffer.concat([Buffer.of(0x0a, partial.length), partial]);
}
