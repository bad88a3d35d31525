import { eventually } from '@taskmesh/testing';
import { createDecision, startSdk, type DecisionOptions, type SdkOptions, type StartedSdk } from './sdk.ts';
import { startTraceCollector, type TraceCollector } from '@taskmesh/testing/trace-collector';
import { createRecordingLog } from '../../tests/index.ts';
import { activeSpan, runInSpan, runAndEndSpan } from './tracing.ts';

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
  it('depends on the ratio if the caller sends no trace context', () => {
    const draws = [0, 0.09, 0.1, 0.99];
    const { countOf } = fixture({ ratio: 0.1, random: () => draws.shift() ?? 1 });
    expect(countOf(undefined, 4)).toBe(2);
  });

  it('is positive for all requests with a ratio of 1, and for none with 0', () => {
    expect(fixture({ ratio: 1 }).countOf(undefined, 10)).toBe(10);
    expect(fixture({ ratio: 0, random: () => 0 }).countOf(undefined, 10)).toBe(0);
  });

  it('is negative if the caller does not record', () => {
    expect(fixture({ ratio: 1 }).countOf(UNRECORDED, 10)).toBe(0);
  });

  it('is positive if the caller records, up to a rate limit', () => {
    const { clock, countOf } = fixture();
    expect(countOf(RECORDED, 1_000)).toBe(3);
    clock.ms = 1_000;
    expect(countOf(RECORDED, 1_000)).toBe(3);
    clock.ms = 1_000_000;
    expect(countOf(RECORDED, 1_000)).toBe(3);
  });

  it('does not depend on the trace id, which a caller can choose', () => {
    const { countOf } = fixture({ ratio: 0.01, callersPerS: 0 });
    expect(countOf({ ...RECORDED, traceId: '0'.repeat(31) + '1' }, 1_000)).toBe(0);
  });

  it('depends only on the ratio without a parent-based sampler', () => {
    expect(fixture({ ratio: 1, isParentBased: false }).countOf(UNRECORDED, 10)).toBe(10);
    expect(fixture({ isParentBased: false }).countOf(RECORDED, 10)).toBe(0);
  });
});

describe('recorded traces', () => {
  let collector: TraceCollector;
  const started: StartedSdk[] = [];
  const reports: string[] = [];
  const counts = new Map<string, number>();

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
    started.push(sdk);
    return sdk;
  };

  const sendOne = (sdk: StartedSdk, name = 'x') =>
    sdk
      .tracing('gateway')
      .begin(undefined, () => ({ name }))
      ?.end();

  beforeEach(async () => {
    collector = await startTraceCollector();
  });
  afterEach(async () => {
    await Promise.all(started.splice(0).map((sdk) => sdk.stop()));
    await collector.stop();
    reports.length = 0;
    counts.clear();
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

  it('continue in another process only if they are recorded', async () => {
    const tracing = start().tracing('tasks');
    const describe = () => ({ name: 'part' });
    expect(tracing.continueTrace(FROM_CLIENT, describe)?.traceparent).toMatch(
      new RegExp(`^00-${TRACE_ID}-[0-9a-f]{16}-01$`),
    );
    for (const other of [undefined, null, 'nonsense', `${FROM_CLIENT.slice(0, -2)}00`, `00-${'0'.repeat(32)}-1-01`])
      expect(tracing.continueTrace(other, describe)).toBeUndefined();
  });

  it('are not recorded by later services if they are not recorded here', async () => {
    const tracing = start({ ratio: 0, callersPerS: 0 }).tracing('gateway');
    expect(tracing.begin(FROM_CLIENT, () => ({ name: 'request' }))).toBeUndefined();
    expect(tracing.unrecorded(FROM_CLIENT)).toBe(`${FROM_CLIENT.slice(0, -2)}00`);
    expect(tracing.unrecorded('nonsense')).toBeUndefined();
  });

  it('start here if the caller has no valid trace context', async () => {
    const tracing = start().tracing('gateway');
    const ids = [undefined, 'nonsense', `ff${FROM_CLIENT.slice(2)}`].map(
      (parent) => tracing.begin(parent, () => ({ name: 'request' }))?.traceId,
    );
    expect(new Set([...ids, TRACE_ID]).size).toBe(4);
  });

  it('contain only the code or type of an error, never its message', async () => {
    const tracing = start().tracing('gateway');
    const failures = ['504', Object.assign(new Error('planted'), { code: '23505' }), new TypeError('planted'), 7];
    for (const failure of failures) tracing.begin(undefined, () => ({ name: 'request' }))?.end(failure);
    await eventually(() => expect(collector.spans).toHaveLength(4));
    const kinds = collector.spans.map(({ attributes, isError }) => [attributes['error.type'], isError]);
    expect(kinds).toEqual([
      ['504', true],
      ['23505', true],
      ['TypeError', true],
      ['_OTHER', true],
    ]);
    expect(collector.exports.map(({ body }) => body.toString()).join()).not.toContain('planted');
  });

  it('can also be sent as protobuf', async () => {
    sendOne(start({ protocol: 'http/protobuf' }), 'named so');
    await eventually(() => expect(collector.exports).toHaveLength(1));
    const [{ path, headers, body } = { path: '', headers: {}, body: Buffer.of() }] = collector.exports;
    expect([path, headers['content-type']]).toEqual(['/v1/traces', 'application/x-protobuf']);
    expect(body.includes('named so')).toBe(true);
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
    const tracing = start().tracing('gateway');
    const send = (name: string) => tracing.begin(undefined, () => ({ name }))?.end();
    collector.respondWith(400);
    for (const expected of [1, 2, 3]) {
      send('lost');
      await eventually(() => expect(collector.exports).toHaveLength(expected));
    }
    collector.respondWith(200);
    await eventually(() => {
      send('found');
      expect(collector.spans.length).toBeGreaterThan(0);
    });
    await eventually(() => expect(reports).toEqual([expect.stringMatching(/^away: /), 'back']));
  });

  describe('of which the collector rejects some', () => {
    const PARTIAL = { rejectedSpans: '1', errorMessage: 'a span is older than a day' };

    it.each([
      ['http/json', JSON.stringify({ partialSuccess: PARTIAL })],
      ['http/protobuf', inProtobuf(1, PARTIAL.errorMessage)],
    ] as const)('are reported once, and counted: %s', async (protocol, answer) => {
      const tracing = start({ protocol }).tracing('gateway');
      const send = async (exports: number) => {
        const spans = [1, 2, 3].map(() => tracing.begin(undefined, () => ({ name: 'x' })));
        for (const span of spans) span?.end();
        await eventually(() => expect(collector.exports).toHaveLength(exports));
      };
      collector.setBody(answer);
      await send(1);
      await send(2);
      await eventually(() => expect([...counts]).toEqual([['taken', 4], ['rejected', 2]])); // prettier-ignore
      expect(reports).toEqual(['rejects 1: a span is older than a day']);
      collector.setBody(protocol === 'http/json' ? '{"partialSuccess":{}}' : Buffer.of());
      await send(3);
      await eventually(() => expect(counts.get('taken')).toBe(7));
      collector.setBody(answer);
      await send(4);
      await eventually(() => expect(reports).toHaveLength(2));
      expect(collector.exports).toHaveLength(4);
    });

    it.each([
      [JSON.stringify({ partialSuccess: { errorMessage: 'too many attributes' } }), ['rejects 0: too many attributes']],
      ['ok', []],
      ['null', []],
      ['{"partialSuccess":{"rejectedSpans":-1}}', []],
    ])('count as accepted if the response is %j', async (response, expected) => {
      collector.setBody(response);
      sendOne(start());
      await eventually(() => expect([...counts]).toEqual([['taken', 1]]));
      expect(reports).toEqual(expected);
    });

    it('never count as more than were sent, even if the response claims it', async () => {
      collector.setBody(JSON.stringify({ partialSuccess: { rejectedSpans: 1_000, errorMessage: 'x'.repeat(10_000) } }));
      sendOne(start());
      await eventually(() => expect([...counts]).toEqual([['taken', 0], ['rejected', 1]])); // prettier-ignore
      expect(reports[0]).toHaveLength('rejects 1000: '.length + 500);
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
    const tracing = start({ maxQueueSize: 10, scheduledDelayMs: 600_000, maxExportBatchSize: 10 }).tracing('gateway');
    collector.respondWith(503); // makes the exporter retry for a while
    for (let count = 0; count < 1_000; count++) tracing.begin(undefined, () => ({ name: `request ${count}` }))?.end();
    await eventually(() => expect(collector.exports).toHaveLength(1));
    collector.respondWith(200);
    await started.pop()?.stop();
    expect(collector.spans.length).toBeLessThanOrEqual(20); // one batch being sent, one in the queue
  }, 15_000);

  it('end correctly when work in them throws', async () => {
    const tracing = start().tracing('gateway');
    const span = tracing.begin(undefined, () => ({ name: 'request' }));
    if (!span) throw new Error('not recorded');
    await expect(runAndEndSpan(span, () => Promise.reject(new RangeError('no')))).rejects.toThrow('no');
    expect(runInSpan(span, () => activeSpan())).toBe(span);
    await eventually(() => expect(collector.spans).toHaveLength(1));
  });
});

/** Encodes an `ExportTraceServiceResponse` with a partial success: its field 1, with a number in field 1 and a text in field 2. */
function inProtobuf(rejectedSpans: number, message: string): Buffer {
  const text = Buffer.from(message);
  const partial = Buffer.concat([Buffer.of(0x08, rejectedSpans, 0x12, text.length), text]);
  return Buffer.concat([Buffer.of(0x0a, partial.length), partial]);
}
