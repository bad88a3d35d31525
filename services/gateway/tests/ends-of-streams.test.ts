import { unavailable } from '@taskmesh/contracts';
import { eventually } from '@taskmesh/testing';
import { setTimeout as delay } from 'node:timers/promises';
import { startTestGateway, type TestGateway, useGateway } from './fakes/gateway.ts';
import { connectGraphqlWs, GRAPHQL_PROTOCOLS, streamBy, streamGraphqlWs, type TestStream } from './fakes/streams.ts';

const QUERY = 'subscription ($after: String) { taskChanges(after: $after) { sequence task { owner { name } } } }';

/** The user and session of the current test. */
let [user, sid] = ['', ''];
let users = 0;

const gateway = useGateway();
beforeEach(async () => {
  await gateway.untilSubscriptions(0);
  user = `a0000000-0000-4000-8000-${String(++users).padStart(12, '0')}`;
  sid = user.replace('a', 'c');
});
afterAll(() => gateway.untilSubscriptions(0));

const now = performance.now.bind(performance);
/** Until `jest.restoreAllMocks`. */
const setClockAhead = (byMs: () => number) =>
  void jest.spyOn(performance, 'now').mockImplementation(() => now() + byMs());

const request = async (query = QUERY) => ({
  ...{ origin: gateway.origin, query },
  token: await gateway.auth.token(user, { claims: { sid } }),
});
/** A stream over each protocol that runs documents. */
const openAll = async (after?: string): Promise<TestStream[]> => {
  const start = { ...(await request()), variables: { after } };
  return Promise.all(GRAPHQL_PROTOCOLS.map((protocol) => streamBy(protocol, start)));
};
const askForEvents = async ({ origin, auth }: TestGateway = gateway, account = user, more = {}) => {
  const headers = { accept: 'text/event-stream', authorization: `Bearer ${await auth.token(account)}`, ...more };
  return fetch(`${origin}/graphql?query=${encodeURIComponent(QUERY)}`, { headers });
};
const endedAsUnavailable = () =>
  Promise.all(
    GRAPHQL_PROTOCOLS.map((protocol) =>
      gateway.figure(`taskmesh_realtime_connections_ended_total{protocol="${protocol}",reason="unavailable"}`),
    ),
  );
/** Streams that have delivered one event. */
const openStanding = async () => {
  const streams = await openAll();
  await gateway.untilSubscriptions(streams.length);
  const { cursor } = gateway.commit(user);
  for (const { events } of streams) await eventually(() => expect(events).toHaveLength(1));
  return { streams, cursor };
};
/** How the streams end. Fails if another event arrives before that. */
const endings = async (streams: TestStream[]) => {
  const before = streams.map(({ events }) => events.length);
  for (const stream of streams) await eventually(() => expect(stream.ended).toBeDefined());
  expect(streams.map(({ events }) => events.length)).toEqual(before);
  return streams.map(({ ended, errors }) => ({
    ...ended,
    errors: errors.map(({ extensions }) => extensions?.['code']),
  }));
};
const failed = (code: string) => GRAPHQL_PROTOCOLS.map(() => ({ errors: [code] }));

describe('a stream that cannot begin because the tasks service stays unavailable', () => {
  let aheadMs = 0;
  let asked = 0;
  let held: Promise<void> | undefined;
  beforeEach(() => {
    aheadMs = 0;
    asked = 0;
    held = undefined;
    setClockAhead(() => aheadMs);
    jest.spyOn(gateway.tasks.changes, 'heads').mockImplementation(async () => {
      asked++;
      await held;
      aheadMs += 6_000;
      throw unavailable();
    });
  });
  afterEach(() => void jest.restoreAllMocks());

  it('closes the socket over graphql-ws, because clients do not reconnect after an error', async () => {
    expect(await endings([await streamGraphqlWs(await request())])).toEqual([{ code: 1013, errors: [] }]);
    await gateway.untilSubscriptions(0);
  });

  it('does not close the socket over graphql-ws if its client has cancelled it', async () => {
    const { promise, resolve: goOn } = Promise.withResolvers<void>();
    held = promise;
    const socket = await streamGraphqlWs(await request('{ __typename }'));
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

  it('does not delay the end of a socket whose token expires', async () => {
    held = new Promise(() => undefined);
    const exp = Math.floor(Date.now() / 1_000) + 1;
    const client = await connectGraphqlWs(gateway.origin, await gateway.auth.token(user, { claims: { exp } }));
    client.subscribe('starting', QUERY);
    await eventually(() => expect(client.closed).toBe(4403), { timeoutMs: 5_000 });
  });

  it('is a 503 over server-sent events', async () => {
    const response = await askForEvents();
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '1']);
    await response.body?.cancel();
  });
});

it('closes the socket over graphql-ws, too, if a subscription is not admitted in time', async () => {
  const setTimer = setTimeout;
  let aheadMs = 0;
  setClockAhead(() => (aheadMs += 1_000)); // so that others wait
  const soon = (run: () => void, ms?: number) => setTimer(run, ms === 5_000 ? 0 : ms);
  jest.spyOn(globalThis, 'setTimeout').mockImplementation(soon as typeof setTimeout);
  const client = await connectGraphqlWs(gateway.origin, await gateway.auth.token(user));
  const documents = ['{ first: __typename }', '# a comment\n{ second: __typename }', `# not known yet\n${QUERY}`];
  client.send(...documents.map((query) => ({ id: query, type: 'subscribe', payload: { query } })));
  await eventually(() => expect(client.closed).toBe(1013));
  jest.restoreAllMocks();
  const types = documents.map((query) => client.of(query).map(({ type }) => type));
  expect(types).toEqual([['next', 'complete'], ['error'], []]);
});

it.each([
  { why: 'a stream cannot begin', code: 1013, query: QUERY, lifetimeS: 600 },
  { why: 'the token expires', code: 4403, query: '{ __typename }', lifetimeS: 1 },
])('closes a socket because $why when a slow mutation has its result', async ({ code, query, lifetimeS }) => {
  let aheadMs = 0;
  setClockAhead(() => aheadMs);
  const slow = await startTestGateway({
    wrap: (connections) => ({
      ...connections,
      tasks: {
        ...connections.tasks,
        async heads() {
          aheadMs += 6_000;
          throw unavailable();
        },
      },
      async request(...args) {
        if (args[2].query.startsWith('mutation')) await delay(1_500); // longer than other sockets wait
        return connections.request(...args);
      },
    }),
  });
  const exp = Math.floor(Date.now() / 1_000) + lifetimeS;
  const client = await connectGraphqlWs(slow.origin, await slow.auth.token(user, { claims: { exp } }));
  const documents = ['mutation { createTask(input: { title: "once" }) { title } }', query];
  client.send(...documents.map((text) => ({ id: text, type: 'subscribe', payload: { query: text } })));
  await eventually(() => expect(client.closed).toBe(code));
  jest.restoreAllMocks();
  expect(client.of(documents[0] ?? '').map(({ type }) => type)).toEqual(['next', 'complete']);
});

it('gives a new stream over SSE the place of the oldest, once that is a minute old', async () => {
  const oldest = await askForEvents();
  const others = await Promise.all(Array.from({ length: 19 }, () => askForEvents()));
  const refused = await askForEvents();
  expect(refused.status).toBe(429);
  setClockAhead(() => 60_000);
  const newest = await askForEvents();
  jest.restoreAllMocks();
  expect(newest.status).toBe(200);
  await expect(oldest.text()).rejects.toThrow();
  await Promise.all([refused, newest, ...others].map(({ body }) => body?.cancel()));
});

it('keeps the oldest stream over SSE if the network of the new one has no room', async () => {
  const limits = { REALTIME_MAX_SOCKETS_PER_USER: '1', REALTIME_MAX_SOCKETS_PER_IP: '1' };
  const other = await startTestGateway({ env: { TRUSTED_PROXIES: '127.0.0.1', ...limits } });
  const ask = (account: string, last: number) => askForEvents(other, account, { 'x-forwarded-for': `192.0.2.${last}` });
  const streams = [await ask(user, 1), await ask(user.replace('a', 'b'), 2)];
  setClockAhead(() => 60_000);
  const refused = await ask(user, 2);
  jest.restoreAllMocks();
  expect(refused.status).toBe(429);
  expect(await other.subscriptions()).toBe(2);
  await Promise.all([refused, ...streams].map(({ body }) => body?.cancel()));
});

describe('streams over graphql-ws, SSE and multipart', () => {
  it('report the end of their session', async () => {
    const { streams } = await openStanding();
    gateway.auth.end(sid);
    expect(await endings(streams)).toEqual([{ code: 4403, errors: [] }, ...failed('UNAUTHENTICATED').slice(1)]);
  });

  it('report an unusable cursor, also after a restore of the store', async () => {
    expect(await endings(await openAll('nonsense'))).toEqual(failed('CURSOR_EXPIRED'));
    const { streams } = await openStanding();
    gateway.tasks.changes.restore();
    expect(await endings(streams)).toEqual(failed('CURSOR_EXPIRED'));
  });

  it('break off before an event that needs an unavailable service, and resume with it when the service is back', async () => {
    const { streams, cursor } = await openStanding();
    const before = await endedAsUnavailable();
    const { execute } = gateway.auth.subgraph;
    let asked = 0;
    gateway.auth.subgraph.execute = async () => {
      asked++;
      throw unavailable();
    };
    gateway.commit(user);
    gateway.commit(user);
    await eventually(() => expect(asked).toBeGreaterThan(0));
    for (const { ended } of streams) expect(ended).toBeUndefined();
    setClockAhead(() => 31_000);
    const torn = { isTorn: true, errors: [] }; // clients reconnect with their cursors
    expect(await endings(streams)).toEqual([{ code: 1013, errors: [] }, torn, torn]);
    jest.restoreAllMocks();
    await gateway.untilSubscriptions(0);
    await eventually(async () => expect(await endedAsUnavailable()).toEqual(before.map((count) => count + 1)));

    gateway.auth.subgraph.execute = execute;
    const owner = { name: `Name of ${user}` };
    const missed = [2, 3].map((sequence) => ({ data: { taskChanges: { sequence, task: { owner } } } }));
    for (const { events } of await openAll(cursor)) await eventually(() => expect(events).toEqual(missed));
  });
});
