import { eventually, fastestOf } from '@taskmesh/testing';
import { once } from 'node:events';
import { startTestGateway, USER } from './fakes/gateway.ts';
import { holdExecution } from './fakes/tasks.ts';
import { connectGraphqlWs, openWebSocket, streamGraphqlWs, streamHttp, type Message } from './fakes/streams.ts';

const CHANGES = 'subscription { taskChanges { task { title } } }';

const gateway = await startTestGateway();
beforeEach(() => gateway.untilSubscriptions(0));
afterAll(() => gateway.untilSubscriptions(0));

/** All messages about an operation with one result. */
const completed = (payload: unknown): Message[] => [{ id: '1', type: 'next', payload }, { id: '1', type: 'complete' }]; // prettier-ignore
const subscription = (id: string, query: string): Message => ({ id, type: 'subscribe', payload: { query } });

const client = async () => connectGraphqlWs(gateway.origin, await gateway.auth.token(USER));

describe('an operation over graphql-ws', () => {
  const failed = (code: string) => expect.objectContaining({ extensions: expect.objectContaining({ code }) });

  it('of which a part fails delivers its result, and the socket stays open', async () => {
    const { of, subscribe } = await client();
    subscribe('1', '{ taskStatistics { total } tasks(first: 0) { totalCount } }');
    const result = completed({ data: null, errors: [failed('BAD_USER_INPUT')] });
    await eventually(() => expect(of('1')).toEqual(result));
    subscribe('1', '{ taskStatistics { total } }');
    const next = completed({ data: { taskStatistics: { total: 2 } } });
    await eventually(() => expect(of('1')).toEqual([...result, ...next]));
  });

  it('that hits a defect ends nothing but itself', async () => {
    const { heads } = gateway.tasks.changes;
    gateway.tasks.changes.heads = async () => ({ epoch: 1 }) as never; // without heads
    const { of, subscribe } = await client();
    subscribe('1', CHANGES);
    const payload = [failed('INTERNAL_SERVER_ERROR')];
    await eventually(() => expect(of('1')).toEqual([{ id: '1', type: 'error', payload }]));
    gateway.tasks.changes.heads = heads;
    expect(JSON.stringify(of('1'))).not.toContain('undefined');
    subscribe('1', '{ __typename }');
    await eventually(() => expect(of('1')).toHaveLength(3));
  });
});

describe('an id of a client', () => {
  it('may be reused right after its complete: only the new operation gets a result', async () => {
    const { of, send, socket } = await client();
    send(
      subscription('1', CHANGES),
      { id: '1', type: 'complete' },
      subscription('1', '{ backups { file } }'),
      { id: '1', type: 'complete' },
      subscription('1', CHANGES),
    );
    await gateway.untilSubscriptions(1);
    gateway.commit(USER, { title: 'once' });
    await eventually(() => expect(of('1').length).toBeGreaterThan(0));
    gateway.commit(USER, { title: 'last' });
    await eventually(() => expect(JSON.stringify(of('1'))).toContain('last'));
    expect(of('1').map(({ type, payload }) => [type, payload])).toEqual(
      ['once', 'last'].map((title) => ['next', { data: { taskChanges: { task: { title } } } }]),
    );
    expect(socket.readyState).toBe(socket.OPEN);
  });

  it('cancels a stream that is still starting, and frees its place at once', async () => {
    const { of, send, socket } = await client();
    const { heads } = gateway.tasks.changes;
    const { promise: goesOn, resolve: goOn } = Promise.withResolvers<void>();
    gateway.tasks.changes.heads = async (...asked) => goesOn.then(() => heads(...asked));
    for (let count = 0; count < 25; count++) {
      send(subscription('1', CHANGES), subscription('2', '{ __typename }'));
      await eventually(() => expect(of('2')).toHaveLength(2 * (count + 1)));
      send({ id: '1', type: 'complete' });
    }
    send(subscription('3', CHANGES));
    goOn();
    gateway.tasks.changes.heads = heads;
    await gateway.untilSubscriptions(1);
    expect([...of('1'), ...of('3')]).toEqual([]);
    socket.close();
  });

  it.each([
    ['in use', '1', 4409, 'Subscriber for 1'],
    ['in use', 'ü'.repeat(255), 4409, `Subscriber for ${'ü'.repeat(40)}`],
    ['longer than 255 characters', 'ü'.repeat(256), 4400, 'An id has at most 255 characters'],
  ])('is refused while it is %s', async (_when, id, expected, why) => {
    const { of, send, socket } = await client();
    send(subscription(id, CHANGES), subscription(id, '{ __typename }'));
    const [code, reason] = await once(socket, 'close');
    expect([code, `${reason}`]).toEqual([expected, expect.stringContaining(why)]);
    expect(of(id)).toEqual([]);
  });
});

/** Closed after seconds, so it is opened before all tests. */
const silent = openWebSocket(`${gateway.origin}/graphql`, 'graphql-transport-ws').then((socket) =>
  once(socket, 'close'),
);

describe('the messages of the protocol', () => {
  const query = subscription('1', '{ __typename }');
  it.each([
    ['an operation before it is acknowledged', [query], 4401],
    ['a second connection_init', [{ type: 'connection_init' }, { type: 'connection_init' }], 4429],
    ['a message of the server', [{ type: 'next', id: '1', payload: { data: null } }], 4400],
    ['an operation without a query', [{ type: 'subscribe', id: '1', payload: {} }], 4400],
    ['no JSON', ['nonsense'], 4400],
    ['more than 64 KiB', [{ type: 'ping', payload: { x: 'x'.repeat(70_000) } }], 1009],
  ])('have their close codes: %s', async (_what, messages, code) => {
    const authorization = `Bearer ${await gateway.auth.token(USER)}`;
    const socket = await openWebSocket(`${gateway.origin}/graphql`, 'graphql-transport-ws', { authorization });
    for (const message of messages) socket.send(typeof message === 'string' ? message : JSON.stringify(message));
    expect((await once(socket, 'close'))[0]).toBe(code);
  });

  it.each([
    ['no token', 'graphql-transport-ws', {}, 4401],
    ['a bad token', 'graphql-transport-ws', { Authorization: 'Bearer nonsense' }, 4403],
    ['another protocol', 'graphql-ws', {}, 4406],
  ])('begin with a token in connection_init: %s', async (_what, protocol, payload, code) => {
    const socket = await openWebSocket(`${gateway.origin}/graphql`, protocol);
    const closed = once(socket, 'close');
    socket.send(JSON.stringify({ type: 'connection_init', payload }));
    expect((await closed)[0]).toBe(code);
  });

  it('answer a ping with its payload', async () => {
    const { messages, send } = await client();
    send({ type: 'ping', payload: { at: 1 } }, { type: 'ping' }, { type: 'pong' }, { type: 'complete', id: 'unknown' });
    await eventually(() => expect(messages.slice(1)).toEqual([{ type: 'pong', payload: { at: 1 } }, { type: 'pong' }]));
  });
});

describe('a session that ends', () => {
  const REFRESH = 'mutation { refreshSession(refreshToken: "r") { accessToken } }';
  const UNAUTHENTICATED = expect.objectContaining({ extensions: { code: 'UNAUTHENTICATED' } });
  it.each([
    ['logout', 'mutation { logout }', { data: { logout: true } }],
    ['a refresh token that was used before', REFRESH, { data: null, errors: [UNAUTHENTICATED] }],
  ])('delivers the result that ended it before the close: %s', async (_what, query, payload) => {
    const sid = crypto.randomUUID();
    const token = await gateway.auth.token(USER, { claims: { sid } });
    const leaving = await connectGraphqlWs(gateway.origin, token);
    const sse = await streamHttp('sse', { origin: gateway.origin, token, query: CHANGES });
    leaving.subscribe('stream', CHANGES);
    await gateway.untilSubscriptions(1);
    leaving.subscribe('1', query);
    await eventually(() => expect(leaving.closed).toBe(4403));
    expect(leaving.of('1')).toEqual(completed(payload));
    expect(leaving.of('stream')).toEqual([]);
    await eventually(() => expect(sse.ended).toBeDefined());
    expect(sse.errors).toEqual([UNAUTHENTICATED]);
  });

  it.each([
    { kind: 'sse', accept: 'text/event-stream' },
    { kind: 'multipart', accept: 'multipart/mixed;subscriptionSpec=1.0' },
  ] as const)('delivers the result that ended it over $kind', async ({ kind, accept }) => {
    const token = await gateway.auth.token(USER);
    const logout = { origin: gateway.origin, token, query: 'mutation { logout }', headers: { accept } };
    const result = await streamHttp(kind, logout);
    await eventually(() => expect(result.ended).toBeDefined());
    expect([result.events, result.errors]).toEqual([[{ data: { logout: true } }], []]);
  });

  it('does not wait for slow operations, and neither sends events nor accepts messages meanwhile', async () => {
    const round = async () => {
      const sid = crypto.randomUUID();
      const leaving = await connectGraphqlWs(gateway.origin, await gateway.auth.token(USER, { claims: { sid } }));
      leaving.subscribe('stream', CHANGES);
      await gateway.untilSubscriptions(1);
      const { isHeld, release } = holdExecution(gateway.tasks);
      leaving.subscribe('1', '{ taskStatistics { total } }');
      await eventually(isHeld);
      gateway.auth.end(sid);
      await eventually(async () => expect(await gateway.subscriptions()).toBe(0), { everyMs: 5 });
      const endedAt = performance.now();
      gateway.commit(USER);
      leaving.subscribe('2', '{ __typename }');
      await eventually(() => expect(leaving.closed).toBe(4403));
      const closedMs = performance.now() - endedAt;
      expect(leaving.messages).toEqual([{ type: 'connection_ack' }]);
      release();
      return closedMs;
    };
    expect(await fastestOf(round, 2)).toBeLessThan(2_000);
  });
});

it('a gateway that stops delivers pending results, so that no request is repeated', async () => {
  const stopping = await startTestGateway();
  const { isHeld, release } = holdExecution(stopping.tasks);
  const token = await stopping.auth.token(USER);
  const asking = await connectGraphqlWs(stopping.origin, token);
  const idle = await streamGraphqlWs({ origin: stopping.origin, token, query: CHANGES });
  asking.subscribe('1', 'mutation { createTask(input: { title: "once" }) { title } }');
  await eventually(isHeld);
  const stopped = stopping.stop();
  await eventually(() => expect(idle.ended).toEqual({ code: 1012 }));
  release(); // the other socket has been closed; this one waits up to a second for its result
  await eventually(() => expect(asking.closed).toBe(1012));
  expect(asking.of('1').map(({ type }) => type)).toEqual(['next', 'complete']);
  await stopped;
});

const MESSAGES_PER_S = 2;

it('a socket that sends too much gets the results of its earlier requests before the close, so that they are not repeated, and nothing else', async () => {
  const limited = await startTestGateway({ env: { REALTIME_MAX_MESSAGES_PER_S: String(MESSAGES_PER_S) } });
  const { release } = holdExecution(limited.tasks);
  const talking = await connectGraphqlWs(limited.origin, await limited.auth.token(USER));
  const create = 'mutation { createTask(input: { title: "once" }) { title } }';
  talking.subscribe('first', create);
  // The first of these are within the rate, together with the message above; the others exceed it.
  for (let count = 0; count < 10 * MESSAGES_PER_S; count++) talking.send({ type: 'ping' });
  talking.subscribe('late', create);
  await eventually(() => expect(talking.messages).toHaveLength(1 + 10 * MESSAGES_PER_S - 2));
  // Longer than sockets wait when they are closed for other reasons.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  expect(talking.closed).toBeUndefined();
  release();
  await eventually(() => expect(talking.closed).toBe(1013));
  expect(talking.messages.filter(({ id }) => id).map(({ id, type }) => `${id} ${type}`)).toEqual(['first next', 'first complete']); // prettier-ignore
  expect(limited.tasks.calls).toHaveLength(1);
});

it('a socket is closed if its client sends nothing at all', async () => expect((await silent)[0]).toBe(4408));
