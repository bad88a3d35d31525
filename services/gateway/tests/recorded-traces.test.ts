import { openTelemetry, readTelemetry, createLog, type Telemetry } from '@taskmesh/service';
import { startTraceCollector, type ReceivedSpan, type TraceCollector } from '@taskmesh/testing/trace-collector';
import { eventually } from '@taskmesh/testing';
import { Registry } from 'prom-client';
import type { Connections } from '../src/connections/connections.ts';
import { startTestGateway, type TestGateway, type TestGatewayOptions, USER } from './fakes/gateway.ts';
import { openRaw, rawRequest, statusOf } from '@taskmesh/testing/raw';
import { connectGraphqlWs, streamGraphqlWs } from './fakes/streams.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const TRACE = `00-${TRACE_ID}-00f067aa0ba902b7-01`;
const UNRECORDED = `${TRACE.slice(0, -2)}00`;
const QUERY = '{ taskStatistics { total } }';

describe('a gateway with a collector', () => {
  let collector: TraceCollector;
  let telemetry: Telemetry;
  let gateway: TestGateway;
  let token: string;

  const start = async (settings: Record<string, string> = {}, options: TestGatewayOptions = {}) => {
    collector = await startTraceCollector();
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', ...settings };
    const log = createLog({ service: 'test', level: 'silent' });
    telemetry = await openTelemetry(readTelemetry(env), log, new Registry());
    gateway = await startTestGateway({ tracing: telemetry.tracing('gateway'), ...options });
    token = await gateway.auth.token(USER);
  };
  const names = () => collector.spans.map(({ name }) => name);
  const pathOf = (span: ReceivedSpan): string => {
    const parent = collector.spans.find(({ spanId }) => spanId === span.parentSpanId);
    return parent ? `${pathOf(parent)} > ${span.name}` : span.name;
  };
  /** Each span with its ancestors, from the request on. */
  const paths = () => collector.spans.map(pathOf);
  const askedWith = () => gateway.tasks.calls.map(({ traceparent }) => traceparent);
  const traceIds = () => new Set(collector.spans.map(({ traceId }) => traceId));

  const stop = async () => {
    await gateway.stop();
    await telemetry.stop();
    await collector.stop();
  };

  describe('that records all requests', () => {
    beforeAll(() => start());
    beforeEach(() => {
      collector.spans.length = 0;
      gateway.tasks.calls.length = 0;
    });
    afterAll(stop);

    it('does not pass on other trace headers of a client', async () => {
      const headers = { traceparent: TRACE, tracestate: 'planted=1', baggage: 'planted=1' };
      await gateway.graphql(QUERY, { token, headers });
      await eventually(() => expect(names()).toContain('POST /graphql'));
      expect(collector.exports.map(({ body }) => body.toString()).join()).not.toContain('planted');
    });

    it('records operations over graphql-ws, each on its own', async () => {
      const { send } = await connectGraphqlWs(gateway.origin, token);
      for (const id of ['a', 'b'])
        send({ id, type: 'subscribe', payload: { query: QUERY, extensions: { traceparent: TRACE } } });
      await eventually(() => expect(names().filter((name) => name === 'graphql-ws subscribe')).toHaveLength(2));
      expect(traceIds()).toEqual(new Set([TRACE_ID]));
      expect(names()).toContain('query');
    });

    it('ends the span of a request whose client disconnects', async () => {
      const headers = ['Content-Type: application/json', 'Content-Length: 10', 'Expect: 100-continue'];
      const socket = await openRaw(gateway.origin, rawRequest('POST /graphql', headers));
      expect(await statusOf(socket)).toBe(100); // the gateway waits for the rest
      socket.write('{');
      socket.destroy();
      const attributes = expect.objectContaining({ 'error.type': 'client_gone' });
      const span = expect.objectContaining({ name: 'POST /graphql', attributes });
      await eventually(() => expect(collector.spans).toContainEqual(span));
    });
  });

  describe('with settings of its own', () => {
    afterEach(stop);

    it('passes on its own span of the trace that it records', async () => {
      await start({ OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, { mode: 'http' });
      await gateway.graphql(QUERY, { token, headers: { traceparent: TRACE } });
      await gateway.graphql(QUERY, { token });
      await eventually(() => expect(names()).toContain('POST /graphql'));
      const fetched = collector.spans.find(({ name }) => name === 'fetch tasks');
      expect(fetched?.traceId).toBe(TRACE_ID);
      expect(askedWith()).toEqual([`00-${TRACE_ID}-${fetched?.spanId}-01`, undefined]);
    });

    it.each(['in-process', 'http'] as const)('reports that a service did not respond in time: %s', async (mode) => {
      const wrap = ({ request, ...others }: Connections): Connections => ({
        ...others,
        request: (service, url, asked, options) => request(service, url, asked, { ...options, timeoutMs: 1 }),
      });
      await start({}, { mode, wrap });
      const { promise: late, resolve } = Promise.withResolvers<object>();
      gateway.tasks.subgraph.execute = () => late;
      const { body } = await gateway.graphql(QUERY, { token });
      expect(body.errors?.[0]?.extensions).toEqual({ code: 'SERVICE_UNAVAILABLE' });
      resolve({ data: null });
      await eventually(() =>
        expect(paths()).toEqual(expect.arrayContaining(['POST /graphql', 'POST /graphql > query > fetch tasks'])),
      );
      expect(collector.spans.find(({ name }) => name === 'fetch tasks')).toMatchObject({
        service: 'taskmesh-gateway',
        isError: true,
        attributes: { 'error.type': 'SERVICE_UNAVAILABLE', 'service.peer.name': 'tasks' },
      });
    });

    it("ignores a caller's wish to record beyond its limit, and passes that decision on to services", async () => {
      await start({ OTEL_TRACES_SAMPLER: 'parentbased_always_off', TRACE_CALLERS_PER_S: '0' });
      await gateway.graphql(QUERY, { token, headers: { traceparent: TRACE } });
      expect(askedWith()).toEqual([UNRECORDED]);
      await telemetry.stop();
      expect(collector.exports).toEqual([]);
    });

    it('records the delivery of a change in its trace, even with fields of other services, and of no other change', async () => {
      await start({ OTEL_TRACES_SAMPLER: 'always_off' });
      const query = 'subscription { taskChanges { sequence task { owner { name } } } }';
      const open = (query: string) => streamGraphqlWs({ origin: gateway.origin, token, query });
      const streams = [await open(query), await open('subscription { taskChanges { sequence } }')];
      await gateway.untilSubscriptions(2);
      for (const traceparent of [TRACE, UNRECORDED, 'nonsense']) gateway.commit(USER, { traceparent });
      for (const { events } of streams) await eventually(() => expect(events).toHaveLength(3));
      await eventually(() => expect(names().filter((name) => name === 'deliver graphql-ws')).toHaveLength(2));
      expect(collector.spans).toContainEqual(expect.objectContaining({ service: 'taskmesh-auth', name: 'query' }));
      expect(traceIds()).toEqual(new Set([TRACE_ID]));
    });
  });
});
