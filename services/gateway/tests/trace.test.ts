import { eventually } from '@taskmesh/testing';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';
import { openWebSocket, PROTOCOLS, streamBy } from './fakes/streams.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';
const TRACE = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';

describe('the trace of the request that made a change', () => {
  let gateway: TestGateway;
  let token: string;

  beforeAll(async () => {
    gateway = await startTestGateway();
    token = await gateway.auth.token(USER);
  });
  afterAll(() => gateway.stop());

  it.each([
    ['in the event', 'subscription { taskChanges { sequence } }'],
    ['of other services', 'subscription { taskChanges { sequence task { owner { name } } } }'],
  ])('is in each frame of every protocol, and not in those of other changes (fields %s)', async (_what, query) => {
    const start = { origin: gateway.origin, token, query };
    const streams = await Promise.all(PROTOCOLS.map((protocol) => streamBy(protocol, start)));
    await eventually(async () =>
      expect(await gateway.metrics.metrics()).toContain('taskmesh_realtime_subscriptions{protocol="graphql-ws"} 1'),
    );
    gateway.commit(USER, { traceparent: TRACE });
    gateway.commit(USER);
    for (const stream of streams) await eventually(() => expect(stream.events).toHaveLength(2));
    const [channel] = streams.splice(3);
    for (const { events } of streams)
      expect(events.map(({ extensions }) => extensions)).toEqual([{ traceparent: TRACE }, undefined]);
    expect(channel?.events.map(({ traceparent }) => traceparent)).toEqual([TRACE, undefined]);
    // The row itself contains no trace.
    expect(JSON.stringify(channel?.events[0]?.['data'])).not.toContain('traceparent');
    expect(gateway.logged).toContainEqual(expect.objectContaining({ level: 'debug', traceparent: TRACE }));
    for (const stream of [...streams, channel]) stream?.close();
    await eventually(async () =>
      expect(await gateway.metrics.metrics()).toContain('taskmesh_realtime_subscriptions{protocol="graphql-ws"} 0'),
    );
  });

  it('comes in the extensions of a message over graphql-ws, when it is one', async () => {
    gateway.tasks.calls.length = 0;
    const socket = await openWebSocket(`${gateway.origin}/graphql`, 'graphql-transport-ws');
    const types: string[] = [];
    socket.on('message', (bytes) => types.push((JSON.parse(String(bytes)) as { type: string }).type));
    socket.send(JSON.stringify({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } }));
    await eventually(() => expect(types).toEqual(['connection_ack']));
    for (const [id, traceparent] of Object.entries({ a: TRACE, b: 'nonsense' })) {
      const payload = { query: '{ taskStatistics { total } }', extensions: { traceparent } };
      socket.send(JSON.stringify({ id, type: 'subscribe', payload }));
    }
    await eventually(() => expect(types.filter((type) => type === 'complete')).toHaveLength(2));
    expect(gateway.tasks.calls.map((call) => call.traceparent)).toEqual([TRACE, undefined]);
    socket.close();
  });
});
