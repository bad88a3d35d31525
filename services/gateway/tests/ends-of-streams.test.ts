import { jest } from '@jest/globals';
import { unavailable } from '@taskmesh/contracts';
import { eventually } from '@taskmesh/testing';
import { startTestGateway, type TestGateway } from './fakes/gateway.ts';
import { GRAPHQL_PROTOCOLS, streamBy, streamGraphqlWs, type Protocol, type TestStream } from './fakes/streams.ts';

const USER = 'a0000000-0000-4000-8000-000000000001';
const SID = 'c0000000-0000-4000-8000-00000000000c';
const QUERY = 'subscription ($after: String) { taskChanges(after: $after) { sequence task { owner { name } } } }';

let gateway: TestGateway;
const open: TestStream[] = [];

beforeEach(async () => {
  gateway = await startTestGateway();
});
afterEach(async () => {
  for (const each of open.splice(0)) each.close();
  await gateway.stop();
});

const stream = async (protocol: Protocol, after?: string): Promise<TestStream> => {
  const token = await gateway.auth.token(USER, { claims: { sid: SID } });
  const request = { origin: gateway.origin, token, query: QUERY, variables: { after } };
  const opened = await streamBy(protocol, request);
  open.push(opened);
  return opened;
};
const running = async (protocol: Protocol, count: number) =>
  eventually(async () =>
    expect(await gateway.metrics.metrics()).toContain(
      `taskmesh_realtime_subscriptions{protocol="${protocol}"} ${count}\n`,
    ),
  );
/** A stream that has delivered one event. */
const standing = async (protocol: Protocol) => {
  const opened = await stream(protocol);
  await running(protocol, 1);
  const { cursor } = gateway.commit(USER);
  await eventually(() => expect(opened.events).toHaveLength(1));
  return { opened, cursor };
};
const ending = async (of: TestStream) => {
  const before = of.events.length;
  await eventually(() => expect(of.ended).toBeDefined());
  expect(of.events).toHaveLength(before);
  return { ...of.ended, errors: of.errors.map(({ extensions }) => extensions?.['code']) };
};

describe.each(GRAPHQL_PROTOCOLS)('a stream over %s', (protocol) => {
  const isSocket = protocol === 'graphql-ws';
  /** Its client reconnects with its cursor. */
  const brokenOff = (code: number) => (isSocket ? { code, errors: [] } : { isTorn: true, errors: [] });
  const failed = (code: string) => ({ errors: [code] });

  it('whose session ends says so', async () => {
    const { opened } = await standing(protocol);
    gateway.auth.end(SID);
    expect(await ending(opened)).toEqual(isSocket ? brokenOff(4403) : failed('UNAUTHENTICATED'));
  });

  it('whose cursor cannot be used says so', async () => {
    const opened = await stream(protocol, 'nonsense');
    expect(await ending(opened)).toEqual(failed('CURSOR_EXPIRED'));
  });

  it('of a store that was restored says that its cursor cannot be used', async () => {
    const { opened } = await standing(protocol);
    gateway.tasks.changes.heads = async () => ({ epoch: 2, heads: {} });
    expect(await ending(opened)).toEqual(failed('CURSOR_EXPIRED'));
  });

  it('at a gateway that stops breaks off', async () => {
    const { opened } = await standing(protocol);
    await Promise.all([gateway.stop(), eventually(() => expect(opened.ended).toBeDefined())]);
    expect(await ending(opened)).toEqual(brokenOff(1012));
  });

  it('breaks off before an event that a service stays away for, and continues with it when that is back', async () => {
    const { opened, cursor } = await standing(protocol);
    const { execute } = gateway.auth.subgraph;
    let asked = 0;
    gateway.auth.subgraph.execute = async () => {
      asked++;
      throw unavailable();
    };
    gateway.commit(USER);
    gateway.commit(USER);
    await eventually(() => expect(asked).toBeGreaterThan(0));
    expect(opened.ended).toBeUndefined();
    const now = performance.now.bind(performance);
    const later = jest.spyOn(performance, 'now').mockImplementation(() => now() + 31_000);
    expect(await ending(opened)).toEqual(brokenOff(1013));
    later.mockRestore();
    await running(protocol, 0);
    await eventually(async () =>
      expect(await gateway.metrics.metrics()).toContain(
        `taskmesh_realtime_connections_ended_total{protocol="${protocol}",reason="unavailable"} 1\n`,
      ),
    );

    gateway.auth.subgraph.execute = execute;
    const resumed = await stream(protocol, cursor);
    await eventually(() => expect(resumed.events).toHaveLength(2));
    const owner = { name: `Name of ${USER}` };
    expect(resumed.events).toEqual(
      [2, 3].map((sequence) => ({ data: { taskChanges: { sequence, task: { owner } } } })),
    );
  });
});

describe('a stream that cannot begin because the tasks service stays away', () => {
  const now = performance.now.bind(performance);
  let aheadMs = 0;
  let asked = 0;
  let held: Promise<void> | undefined;
  beforeEach(() => {
    aheadMs = 0;
    asked = 0;
    held = undefined;
    jest.spyOn(performance, 'now').mockImplementation(() => now() + aheadMs);
    gateway.tasks.changes.heads = async () => {
      asked++;
      await held;
      aheadMs += 6_000;
      throw unavailable();
    };
  });
  afterEach(() => jest.restoreAllMocks());

  it('breaks off over graphql-ws: no client comes back after an error', async () => {
    expect(await ending(await stream('graphql-ws'))).toEqual({ code: 1013, errors: [] });
    await running('graphql-ws', 0);
  });

  it('ends nothing over graphql-ws whose client has given it up', async () => {
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    held = promise;
    const token = await gateway.auth.token(USER);
    const socket = await streamGraphqlWs({ origin: gateway.origin, token, query: '{ __typename }' });
    open.push(socket);
    socket.send({ id: 'given up', type: 'subscribe', payload: { query: QUERY } });
    await eventually(() => expect(asked).toBe(1));
    socket.send({ id: 'given up', type: 'complete' });
    socket.send({ id: 'second', type: 'subscribe', payload: { query: '{ __typename }' } });
    await eventually(() => expect(socket.events).toHaveLength(2));
    goOn();
    await eventually(() => expect(aheadMs).toBeGreaterThan(0));
    socket.send({ id: 'third', type: 'subscribe', payload: { query: '{ __typename }' } });
    await eventually(() => expect(socket.events).toHaveLength(3));
  });

  it('is a 503 over server-sent events', async () => {
    const token = await gateway.auth.token(USER);
    const response = await fetch(`${gateway.origin}/graphql?query=${encodeURIComponent(QUERY)}`, {
      headers: { accept: 'text/event-stream', authorization: `Bearer ${token}` },
    });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    await response.body?.cancel();
  });
});
