import { QueryPlanner } from '@apollo/query-planner';
import { collectGarbage, eventually, liveBytes } from '@taskmesh/testing';
import { Server, type IncomingMessage } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { readParameters } from '../src/http/query-parameters.ts';
import { fetchGraphQL, startTestGateway, USER } from './fakes/gateway.ts';
import { holdExecution } from './fakes/tasks.ts';
import { openRaw, rawRequest, statusOf } from '@taskmesh/testing/raw';
import { connectGraphqlWs, streamChannel, streamGraphqlWs, streamHttp, type GraphqlWsClient } from './fakes/streams.ts';

const KIB = 1024;

const gateway = await startTestGateway();
const token = await gateway.auth.token(USER);

const overSse = (query: string, variables = {}) =>
  fetchGraphQL(gateway.origin, { query, variables }, { accept: 'text/event-stream', authorization: `Bearer ${token}` });
const openSocket = (as = token) => connectGraphqlWs(gateway.origin, as);
const subscribe = (id: string, query: string, variables = {}) =>
  JSON.stringify({ id, type: 'subscribe', payload: { query, variables } });
const refusalsOf = (sockets: GraphqlWsClient[]) =>
  sockets.flatMap(({ messages }) => messages.filter(({ type }) => type === 'error'));

describe('the memory that a gateway keeps for a subscription', () => {
  const QUERY = 'subscription ($filter: TaskFilter) { taskChanges(filter: $filter) { sequence } }';
  const variables = { filter: { category: 'x'.repeat(50 * KIB) } };

  it('is limited for all subscriptions of a network together, with however many accounts', async () => {
    const users = ['1', '2', '3'].map((digit) => USER.replace(/1$/, digit));
    const sockets = await Promise.all(users.map(async (user) => openSocket(await gateway.auth.token(user))));
    for (let index = 0; index < 12; index++) sockets[index % 3]?.socket.send(subscribe(`${index}`, QUERY, variables));
    await eventually(() => expect(refusalsOf(sockets)).toHaveLength(2));
    expect(JSON.stringify(refusalsOf(sockets))).toContain('RATE_LIMITED');
    const refused = await overSse(QUERY, variables);
    expect([refused.status, await refused.text()]).toEqual([429, expect.stringContaining('RATE_LIMITED')]);
    for (const { socket } of sockets) socket.terminate();
    await eventually(async () => expect(await gateway.figure('taskmesh_realtime_owners')).toBe(0));
    await streamHttp('sse', { origin: gateway.origin, token, query: QUERY, variables });
  });

  it('includes each text once, however many streams have a document that is no longer cached, or values of its text', async () => {
    const users = await Promise.all(['4', '5'].map((digit) => gateway.auth.token(USER.replace(/1$/, digit))));
    const [length, live, enoughForTheCache] = [62_000, 60, 130];
    const comment = `#${'x'.repeat(length)}\n`;
    const subscriptionOf = (at: number) => `#ā${comment}subscription ($of: String = "of more than a few letters") {
      taskChanges(filter: { category: $of }) { a${at}: cursor } }`;
    const sockets = await Promise.all(Array.from({ length: 8 }, (_, at) => openSocket(users[at % 2])));
    const before = liveBytes();
    for (const round of [1, 2]) {
      for (let at = 0; at < live; at++) sockets[at % 8]?.subscribe(`${round} ${at}`, subscriptionOf(at));
      await gateway.untilSubscriptions(round * live);
      for (let at = 0; at < enoughForTheCache; at++)
        await (await fetchGraphQL(gateway.origin, { query: `${comment}{ a${at}: __typename }` })).text();
    }
    const [ofStreams, cached] = [2 * length * live, (32 * KIB * KIB) / 4]; // a character counts as 4 bytes
    expect(liveBytes() - before).toBeLessThan(1.6 * (ofStreams + cached));
    for (const { socket } of sockets) socket.terminate();
  });

  it('is limited to half a million characters per event; a stream with larger events ends with an error that says so', async () => {
    const query = 'subscription { taskChanges { task { a: title b: title c: title d: title e: title } } }';
    const stream = await streamGraphqlWs({ origin: gateway.origin, token, query });
    await eventually(async () => expect(await gateway.figure('taskmesh_realtime_owners')).toBe(1));
    gateway.commit(USER, { title: 'x'.repeat(100 * KIB) });
    await eventually(() => expect(stream.events).toHaveLength(1));
    gateway.commit(USER, { title: 'x'.repeat(110 * KIB) });
    await eventually(() => expect(stream.errors).toHaveLength(1));
    expect(stream.events).toHaveLength(1);
    expect(JSON.stringify(stream.errors)).toContain('PAYLOAD_TOO_LARGE');
  });
});

it('changes that wait for another service take little memory, however many streams an account has', async () => {
  const user = USER.replace(/1$/, '3');
  const [sockets, streams, changes] = [8, 10, 100];
  const { release } = holdExecution(gateway.auth);
  const open = await Promise.all(
    Array.from({ length: sockets }, async () => openSocket(await gateway.auth.token(user))),
  );
  for (const { socket } of open)
    for (let id = 0; id < streams; id++)
      socket.send(subscribe(`${id}`, `subscription s${id} { taskChanges { sequence task { owner { name } } } }`));
  await gateway.untilSubscriptions(sockets * streams);
  const before = liveBytes();
  for (let sequence = 0; sequence < changes; sequence++) gateway.commit(user);
  await setTimeout(500);
  expect((liveBytes() - before) / (sockets * streams * changes)).toBeLessThan(200);
  release();
  for (const { messages } of open)
    await eventually(() => expect(messages.filter(({ type }) => type === 'next')).toHaveLength(streams * changes));
});

it('changes that wait for the streams of an account may take 16 MiB, each counted once; then the streams end as too slow, and resume', async () => {
  const as = await gateway.auth.token(USER.replace(/1$/, '5'));
  const query = (alias: string) =>
    `subscription ($after: String) { taskChanges(after: $after) { ${alias}: sequence cursor task { owner { name } } } }`;
  const start = { origin: gateway.origin, token: as };
  const { release } = holdExecution(gateway.auth);
  const [one, other] = await Promise.all(['a', 'b'].map((alias) => streamGraphqlWs({ ...start, query: query(alias) })));
  await gateway.untilSubscriptions(2);
  const commit = () => gateway.commit(USER.replace(/1$/, '5'), { title: '😀'.repeat(400 * KIB) });
  const [first] = Array.from({ length: 8 }, commit);
  await eventually(async () =>
    expect(await gateway.figure('taskmesh_realtime_queue_bytes')).toBeGreaterThan(12_800 * KIB),
  );
  expect([one?.ended, other?.ended]).toEqual([undefined, undefined]);
  Array.from({ length: 3 }, commit);
  for (const stream of [one, other]) await eventually(() => expect(stream?.ended).toEqual({ code: 1013 }));
  await eventually(async () => expect(await gateway.figure('taskmesh_realtime_queue_bytes')).toBe(0));
  release();
  const resumed = await streamGraphqlWs({ ...start, query: query('a'), variables: { after: first?.cursor } });
  await eventually(() => expect(resumed.events).toHaveLength(10));
});

it('messages of waiting operations are limited together, and small ones are still served', async () => {
  const { release } = holdExecution(gateway.tasks);
  const sockets = await Promise.all(Array.from({ length: 12 }, () => openSocket()));
  const query = 'query ($more: String) { taskStatistics { total } tasks(filter: { category: $more }) { totalCount } }';
  for (const { socket } of sockets)
    for (let index = 0; index < 60; index++) socket.send(subscribe(`${index}`, query, { more: 'x'.repeat(60 * KIB) }));
  await eventually(() => expect(refusalsOf(sockets).length).toBeGreaterThan(0));
  expect(JSON.stringify(refusalsOf(sockets)[0])).toContain('SERVICE_UNAVAILABLE');
  const other = await openSocket(await gateway.auth.token(USER.replace(/1$/, '2')));
  other.socket.send(subscribe('1', '{ __typename }'));
  await eventually(() => expect(other.messages).toContainEqual({ id: '1', type: 'complete' }));
  release();
});

it('variables in the URLs of waiting operations are limited together, by their memory', async () => {
  const { release } = holdExecution(gateway.tasks);
  const variables = JSON.stringify({ more: Array(6_500).fill(1) });
  const url = `${gateway.origin}/graphql?query={taskStatistics{total}}&variables=${variables}`;
  const statuses: number[] = [];
  const sent = Array.from({ length: 60 }, async () => {
    statuses.push((await fetch(url, { headers: { authorization: `Bearer ${token}` } })).status);
  });
  await eventually(() => expect(statuses).toContain(503));
  release();
  await Promise.all(sent);
  expect(new Set(statuses)).toEqual(new Set([200, 503]));
});

const BOB = 'a0000000-0000-4000-8000-000000000002';
const listOf = (alias: string) =>
  `subscription { taskChanges { task { ${alias}: owner { tasks(first: 1000) { edges { node { title } } } } } } }`;

it("the total cost of an account's subscriptions is limited over all sockets; equal ones count once, and those of others not at all", async () => {
  const { origin } = gateway;
  const stream = (query: string, as = token) => streamGraphqlWs({ origin, token: as, query });
  const streams = await Promise.all([0, 1, 2, 3, 0].map((n) => stream(listOf(`a${n}`))));
  const ofBob = await stream(listOf('a4'), await gateway.auth.token(BOB));
  const { errors } = await stream(listOf('a4'));
  await eventually(() => expect(errors).toMatchObject([{ extensions: { code: 'RATE_LIMITED' } }]));
  const planned = jest.spyOn(QueryPlanner.prototype, 'buildQueryPlan');
  expect([(await overSse(listOf('unplanned'))).status, planned.mock.calls]).toEqual([429, []]);
  planned.mockRestore();
  gateway.commit(USER, { title: 'new' });
  for (const { events } of streams) await eventually(() => expect(events).toHaveLength(1));
  gateway.commit(BOB, { title: 'new' });
  await eventually(() => expect(ofBob.events).toHaveLength(1));
  const [first, other] = streams;
  first?.close(); // an equal one still runs
  await gateway.untilSubscriptions(5);
  expect((await overSse(listOf('a4'))).status).toBe(429);
  other?.close();
  await gateway.untilSubscriptions(4);
  const accepted = await overSse(listOf('a4'));
  expect(accepted.status).toBe(200);
  await accepted.body?.cancel();
});

it('a document that came in a URL does not keep the rest of it', () => {
  const urlOf = (at: number) => `/graphql?x=${'x'.repeat(16 * KIB)}&query={ a${at}: __typename }`;
  const before = liveBytes();
  const kept = Array.from({ length: 500 }, (_, at) => readParameters(urlOf(at), new Set(['query'])));
  expect((liveBytes() - before) / kept.length).toBeLessThan(2 * KIB);
});

/** Collects the requests of all such events from now on. */
function watchRequests(event: 'request' | 'upgrade') {
  const requests: WeakRef<IncomingMessage>[] = [];
  const { emit } = Server.prototype;
  Server.prototype.emit = function (this: Server, name: string, ...args: unknown[]) {
    if (name === event) requests.push(new WeakRef(args[0] as IncomingMessage));
    return Reflect.apply(emit, this, [name, ...args]) as boolean;
  };
  return { requests, stop: () => void (Server.prototype.emit = emit) };
}

it('an idle connection does not keep its last request', async () => {
  const { requests, stop } = watchRequests('request');
  const socket = await openRaw(gateway.origin, rawRequest('GET /livez'));
  expect(await statusOf(socket)).toBe(200);
  stop();
  expect(requests).toHaveLength(1);
  await eventually(() => {
    collectGarbage();
    expect(requests[0]?.deref()).toBeUndefined();
  });
  expect(socket.readyState).toBe('open');
});

it('a stream does not keep a body that was sent with GET', async () => {
  const { requests, stop } = watchRequests('request');
  const target = `/graphql?query=${encodeURIComponent('subscription { taskChanges { sequence } }')}`;
  const headers = ['Accept: text/event-stream', `Authorization: Bearer ${token}`];
  const socket = await openRaw(
    gateway.origin,
    rawRequest(`GET ${target}`, headers, 'x'.repeat(200 * KIB)).slice(0, -1),
  );
  expect(await statusOf(socket)).toBe(200);
  stop();
  await eventually(() => expect(requests[0]?.deref()).toMatchObject({ readableLength: 0, readableFlowing: true }));
  await gateway.untilSubscriptions(1);
});

it.each([
  { protocol: 'graphql-ws', open: streamGraphqlWs },
  { protocol: 'channel', open: streamChannel },
])('an open socket does not keep the request that opened it: $protocol', async ({ open }) => {
  const { requests, stop } = watchRequests('upgrade');
  await open({ origin: gateway.origin, token, query: 'subscription { taskChanges { sequence } }' });
  stop();
  expect(requests).toHaveLength(1);
  await eventually(() => {
    collectGarbage();
    expect(requests[0]?.deref()).toBeUndefined();
  });
});
